// What every position reader must do, whatever it reads; each reader's test hands in its record.
import { describe, expect, it } from "vitest";
import { Fault } from "../../../src/lib/fault.ts";
import type { Hex } from "../../../src/lib/hex.ts";
import type {
  ChainConfig,
  Holding,
  PositionReader,
  PositionResult,
  ProtocolPosition,
} from "../../../src/portfolio/types.ts";
import { type ChainRecord, openRecordedChain, type RecordedCall } from "../chain/recorded-chain.ts";

export type ReaderCase = {
  readonly reader: PositionReader;
  readonly chain: ChainConfig;
  readonly wallet: Hex;
  readonly holdings: readonly Holding[];
  /** What the contracts answered for this wallet, and for calls that are not among them. */
  readonly calls: readonly RecordedCall[];
  readonly otherwise?: Hex;
  readonly expected: readonly ProtocolPosition[];
  /** What they answer for a wallet that never touched the protocol, where that is not a revert. */
  readonly emptyCalls?: readonly RecordedCall[];
  /** "absence" for a reader that tells by a missing answer that a contract is none of its kind. */
  readonly silence?: "absence";
  readonly roundsMax: number;
  /** Calls that a node counts; a bundle is one. */
  readonly requestsMax: number;
};

const STRANGER: Hex = `0x${"5e".repeat(20)}`;
const UNKNOWN_CHAIN_ID = 999_999_999;

const GARBAGE: Readonly<Record<string, Hex>> = {
  short: "0x1234",
  "half a word": `0x${"01".repeat(16)}`,
  long: `0x${"7f".repeat(32 * 40)}`,
  huge: `0x${"ff".repeat(32)}`,
};

export function describePositionReader(given: ReaderCase): void {
  const { reader, wallet, holdings, chain } = given;
  const signal = new AbortController().signal;
  const record: ChainRecord = {
    chain,
    calls: given.calls,
    ...(given.otherwise ? { otherwise: given.otherwise } : {}),
  };
  const ask = (at = openRecordedChain(record), of = wallet, held = holdings): Promise<PositionResult> =>
    reader.read({ at, wallet: of, holdings: held }, signal);

  describe("as every position reader", () => {
    it("finds exactly what was recorded, without a warning", async () => {
      expect(await ask()).toEqual({ positions: given.expected, warnings: [] });
    });

    it.each([null, "0x"] as const)(
      "finds the same where Multicall3 answers %s",
      async (insteadOfMulticall) => {
        const at = openRecordedChain({ ...record, insteadOfMulticall });
        expect(await ask(at)).toEqual({ positions: given.expected, warnings: [] });
      },
    );

    it("names itself in each position, and holds positive amounts only", async () => {
      for (const { protocol, assets } of (await ask()).positions) {
        expect(protocol).toBe(reader.protocol);
        expect(assets.length).toBeGreaterThan(0);
        expect(assets.every(({ rawBalance }) => typeof rawBalance === "bigint" && rawBalance > 0n)).toBe(
          true,
        );
      }
    });

    it("needs few round trips and few requests", async () => {
      const at = openRecordedChain(record);
      await ask(at);
      expect(at.rounds.length).toBeLessThanOrEqual(given.roundsMax);
      expect(at.requests.flat().length).toBeLessThanOrEqual(given.requestsMax);
      expect(at.rounds.every((round) => round.length > 0)).toBe(true);
    });

    it("finds nothing for an empty wallet, in one round trip at most", async () => {
      const at = openRecordedChain({ ...record, calls: given.emptyCalls ?? [] });
      expect(await ask(at, STRANGER, [])).toEqual({ positions: [], warnings: [] });
      expect(at.rounds.length).toBeLessThanOrEqual(1);
    });

    it("finds nothing on an unknown chain, and asks nothing there", async () => {
      const unknown = { ...chain, chainId: UNKNOWN_CHAIN_ID, tokens: new Map() };
      const at = openRecordedChain({ ...record, chain: unknown });
      expect(await ask(at)).toEqual({ positions: [], warnings: [] });
      expect(at.rounds).toEqual([]);
    });

    it("rejects when the node fails, in whichever round trip", async () => {
      const full = openRecordedChain(record);
      await ask(full);
      for (const failing of full.rounds.keys()) {
        const at = openRecordedChain(record);
        const broken = {
          ...at,
          read: (...args: Parameters<typeof at.read>) =>
            at.rounds.length === failing
              ? Promise.reject(new Fault("NODE_UNAVAILABLE", "The node went away."))
              : at.read(...args),
        };
        await expect(reader.read({ at: broken, wallet, holdings }, signal)).rejects.toThrow(
          "The node went away.",
        );
      }
    });

    it("stops when it is told to", async () => {
      const at = openRecordedChain(record);
      await expect(reader.read({ at, wallet, holdings }, AbortSignal.abort())).rejects.toThrow();
    });

    it.each(Object.entries(GARBAGE))(
      "finds nothing and says so when all answers are %s",
      async (_, garbage) => {
        const { positions, warnings } = await ask(openRecordedChain({ ...record, spoil: () => garbage }));
        expect(positions).toEqual([]);
        expect(warnings.length).toBeGreaterThan(0);
      },
    );

    it.each(Object.entries({ ...GARBAGE, nothing: "0x", "a revert": null } as const))(
      "makes no amount up when one answer is %s",
      async (_, garbage) => {
        const truth = amountsOf(given.expected);
        const silent = garbage === null || garbage === "0x";
        const excused = silent && given.silence === "absence";
        const asked = openRecordedChain(record);
        await ask(asked);
        for (const one of asked.rounds.flat()) {
          const spoil: ChainRecord["spoil"] = (call, answer) =>
            call.to === one.to && call.data === one.data ? garbage : answer;
          const { positions, warnings } = await ask(openRecordedChain({ ...record, spoil }));
          const found = amountsOf(positions);
          expect(truth).toEqual(expect.arrayContaining(found));
          if (found.length < truth.length && !excused) expect(warnings.length).toBeGreaterThan(0);
        }
      },
    );
  });
}

/** Names may get lost with a broken answer; what is owned must not change. */
function amountsOf(positions: readonly ProtocolPosition[]): string[] {
  return positions.map(({ kind, contract, receiptTokens: replaces, assets }) =>
    [kind, contract, ...replaces, ...assets.map((asset) => `${asset.contract} ${asset.rawBalance}`)].join(
      " ",
    ),
  );
}
