// The suite that every position reader passes; each reader's test provides its record.
import { describe, expect, it } from "vitest";
import { Fault } from "../../../src/lib/fault.ts";
import type { Hex } from "../../../src/lib/hex.ts";
import type {
  ChainConfig,
  Holding,
  PinnedBlock,
  PositionReader,
  PositionResult,
  ProtocolPosition,
  TransferLog,
} from "../../../src/portfolio/types.ts";
import { type ChainRecord, openRecordedChain, type RecordedCalls } from "../chain/recorded-chain.ts";

type ReaderCase = {
  readonly reader: PositionReader;
  /** The protocols of its positions, for a reader of a protocol and its forks. */
  readonly protocols?: readonly string[];
  readonly chain: ChainConfig;
  readonly wallet: Hex;
  readonly holdings: readonly Holding[];
  /** Recent transfers from and to the wallet, if the reader needs them. */
  readonly transfers?: readonly TransferLog[];
  /** Recorded results for this wallet, and the result of all other calls. */
  readonly calls: RecordedCalls;
  readonly otherwise?: Hex;
  /** Results of our own code, if the reader runs some. */
  readonly runCode?: ChainRecord["runCode"];
  readonly expected: readonly ProtocolPosition[];
  /** Tokens that a factory proves; absent for a reader that knows no factory. */
  readonly provenTokens?: ReadonlySet<Hex>;
  /** Results for a wallet that never used the protocol, unless they are reverts. */
  readonly emptyCalls?: RecordedCalls;
  /** "absence" for a reader that takes an empty result as a sign that the contract is of another kind. */
  readonly emptyResult?: "absence";
  readonly roundsMax: number;
  /** Calls that a node counts; a multicall is one. */
  readonly requestsMax: number;
  /** The block to read at, if results depend on the time. */
  readonly block?: PinnedBlock;
};

const OTHER_WALLET: Hex = `0x${"5e".repeat(20)}`;
const UNKNOWN_CHAIN_ID = 999_999_999;

const GARBAGE: Readonly<Record<string, Hex>> = {
  short: "0x1234",
  "half a word": `0x${"01".repeat(16)}`,
  long: `0x${"7f".repeat(32 * 40)}`,
  huge: `0x${"ff".repeat(32)}`,
};

export function describePositionReader(testCase: ReaderCase): void {
  const { reader, wallet, holdings, chain, transfers = [] } = testCase;
  const signal = new AbortController().signal;
  const record: ChainRecord = {
    chain,
    calls: testCase.calls,
    ...(testCase.otherwise ? { otherwise: testCase.otherwise } : {}),
    ...(testCase.runCode ? { runCode: testCase.runCode } : {}),
    ...(testCase.block ? { block: testCase.block } : {}),
  };
  const read = (at = openRecordedChain(record), of = wallet, held = holdings): Promise<PositionResult> =>
    reader.read({ at, wallet: of, holdings: held, transfers }, signal);

  const { expected: positions, provenTokens } = testCase;
  const expectedResult = { positions, warnings: [], ...(provenTokens ? { provenTokens } : {}) };

  describe("like every position reader", () => {
    it("finds exactly the recorded positions, without a warning", async () => {
      expect(await read()).toEqual(expectedResult);
    });

    it.each([null, "0x"] as const)(
      "finds the same when Multicall3 returns %s",
      async (insteadOfMulticall) => {
        const at = openRecordedChain({ ...record, insteadOfMulticall });
        expect(await read(at)).toEqual(expectedResult);
      },
    );

    it("sets its protocol in each position and returns positive amounts only", async () => {
      for (const { protocol, assets } of (await read()).positions) {
        expect(testCase.protocols ?? [reader.protocol]).toContain(protocol);
        expect(assets.length).toBeGreaterThan(0);
        expect(assets.every(({ rawBalance }) => typeof rawBalance === "bigint" && rawBalance > 0n)).toBe(
          true,
        );
      }
    });

    it("says that it reads debts when it does, so that its failure makes totals unknown", () => {
      const hasDebt = testCase.expected.some(({ kind }) => kind === "borrowed");
      expect(!hasDebt || reader.readsDebt).toBe(true);
    });

    it("needs few round trips and few requests", async () => {
      const at = openRecordedChain(record);
      await read(at);
      expect(at.rounds.length).toBeLessThanOrEqual(testCase.roundsMax);
      expect(at.requests.flat().length).toBeLessThanOrEqual(testCase.requestsMax);
      expect(at.rounds.every((round) => round.length > 0)).toBe(true);
    });

    it("finds nothing for an empty wallet, in one round trip at most", async () => {
      const at = openRecordedChain({ ...record, calls: testCase.emptyCalls ?? [] });
      expect(await read(at, OTHER_WALLET, [])).toEqual({ positions: [], warnings: [] });
      expect(at.rounds.length).toBeLessThanOrEqual(1);
    });

    it("finds nothing on an unknown chain, without a request", async () => {
      const unknown = { ...chain, chainId: UNKNOWN_CHAIN_ID, tokens: new Map() };
      const at = openRecordedChain({ ...record, chain: unknown });
      expect(await read(at)).toEqual({ positions: [], warnings: [] });
      expect(at.rounds).toEqual([]);
    });

    it("rejects when the node fails, in whichever round trip", async () => {
      const full = openRecordedChain(record);
      await read(full);
      for (const failing of full.rounds.keys()) {
        const at = openRecordedChain(record);
        const broken = {
          ...at,
          read: (...args: Parameters<typeof at.read>) =>
            at.rounds.length === failing
              ? Promise.reject(new Fault("NODE_UNAVAILABLE", "The node went away."))
              : at.read(...args),
        };
        await expect(reader.read({ at: broken, wallet, holdings, transfers }, signal)).rejects.toThrow(
          "The node went away.",
        );
      }
    });

    it("rejects when its signal is aborted", async () => {
      const at = openRecordedChain(record);
      await expect(reader.read({ at, wallet, holdings, transfers }, AbortSignal.abort())).rejects.toThrow();
    });

    it.each(Object.entries(GARBAGE))(
      "finds nothing and warns when all results are %s",
      async (_, garbage) => {
        const result = await read(openRecordedChain({ ...record, spoil: () => garbage }));
        expect(result.positions).toEqual([]);
        expect(result.warnings.length).toBeGreaterThan(0);
        expect(result.hasUnreadDebt).toBe(reader.readsDebt);
      },
    );

    it.each(Object.entries({ ...GARBAGE, nothing: "0x", "a revert": null } as const))(
      "invents no amount when one result is %s",
      async (_, garbage) => {
        const expected = amountsOf(testCase.expected);
        const isEmpty = garbage === null || garbage === "0x";
        const excused = isEmpty && testCase.emptyResult === "absence";
        const complete = openRecordedChain(record);
        await read(complete);
        for (const target of complete.rounds.flat()) {
          const spoil: ChainRecord["spoil"] = (call, result) =>
            call.to === target.to && call.data === target.data ? garbage : result;
          const { positions, warnings } = await read(openRecordedChain({ ...record, spoil }));
          const found = amountsOf(positions);
          expect(expected).toEqual(expect.arrayContaining(found));
          if (found.length < expected.length && !excused) expect(warnings.length).toBeGreaterThan(0);
        }
      },
    );
  });
}

/** Without names: a broken result may lose those, but must not change amounts. */
function amountsOf(positions: readonly ProtocolPosition[]): string[] {
  return positions.map(({ kind, contract, receiptTokens, assets }) =>
    [
      kind,
      contract,
      ...receiptTokens,
      ...assets.map((asset) => `${asset.contract} ${asset.rawBalance}`),
    ].join(" "),
  );
}
