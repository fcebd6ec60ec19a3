// Named groups: the results of single calls in the same shape, whatever fails, with as few requests as possible.
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import fc from "fast-check";
import { encodeFunctionResult } from "viem";
import { describe, expect, it } from "vitest";
import { fixedReturnCode } from "../../../tests/support/chain/fixed-return-contract.ts";
import { openRecordedChain } from "../../../tests/support/chain/recorded-chain.ts";
import { makeChainConfig } from "../../../tests/support/portfolio/portfolio-parts.ts";
import {
  rejectStateOverrides,
  startPortfolioStage,
} from "../../../tests/support/portfolio/portfolio-stage.ts";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { MULTICALL3 } from "../../chain/aggregate3.ts";
import { decodeWord } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import type { PinnedChain } from "../types.ts";
import { ask, type ReadRoutine, readEach, readGroups, runRoutines } from "./read-groups.ts";
import { defineRead, type ReadGroup, Reads } from "./reads.ts";

const { signal } = new AbortController();
const chain = makeChainConfig("ethereum", 1);
const A: Hex = "0x00000000000000000000000000000000000000aa";
const B: Hex = "0x00000000000000000000000000000000000000bb";
const recordedOne = { to: A, function: "one() view returns (uint256)", args: [], result: 1n };
const recordedTwo = { to: B, function: "two() view returns (uint256)", args: [], result: 2n };
const one = defineRead("function one()", decodeWord);
const two = defineRead("function two()", decodeWord);
const word = (value: number): Hex => `0x${value.toString(16).padStart(64, "0")}`;

describe("readGroups", () => {
  const group = { one: one(A), limited: two(B, [], 50_000), none: null, list: [two(A), two(B)] } as const;
  const results = { one: 1n, limited: 2n, none: null, list: [null, 2n] };

  it("sends trusted calls as one multicall and calls with a gas limit alone, with results by name", async () => {
    const at = openRecordedChain({ chain, calls: [recordedOne, recordedTwo] });
    expect(await readGroups(at, signal, group)).toEqual(results);
    expect(at.requests.map((sent) => sent.map(({ to }) => to))).toEqual([[MULTICALL3, B]]);
    expect(at.requests.flat().every(({ gasMax }) => gasMax !== undefined)).toBe(true);
  });

  const short = encodeFunctionResult({
    abi: multicall3Abi,
    functionName: "aggregate3",
    result: [{ success: true, returnData: word(9) }],
  });

  it.each([null, "0x", "0x1234", word(32), `0x${"ff".repeat(320)}`, short] as const)(
    "sends single calls when Multicall3 returns %s",
    async (insteadOfMulticall) => {
      const at = openRecordedChain({ chain, calls: [recordedOne, recordedTwo], insteadOfMulticall });
      expect(await readGroups(at, signal, group)).toEqual(results);
      expect(at.requests.map(({ length }) => length)).toEqual([2, 3]);
    },
  );

  it("limits the calls of a multicall, and sends equal calls once", async () => {
    const at = openRecordedChain({ chain, calls: [recordedOne] });
    const numbered = defineRead("function numbered(uint256)", decodeWord);
    const many = [...Array(401).keys()].map((index) => numbered(A, [index]));
    const read = await readGroups(at, signal, [...many, ...many, one(A), one(A)]);
    expect(read.slice(-2)).toEqual([1n, 1n]);
    expect(at.requests.map(({ length }) => length)).toEqual([3]);
    expect(at.rounds.map(({ length }) => length)).toEqual([402]);
  });

  it("sends no request without calls", async () => {
    const at = openRecordedChain({ chain, calls: [] });
    expect(await readGroups(at, signal, { none: null, empty: [] })).toEqual({ none: null, empty: [] });
    expect(at.requests).toEqual([]);
  });
});

describe("readEach", () => {
  it("returns each result with its item", async () => {
    const at = openRecordedChain({ chain, calls: [recordedOne] });
    expect(await readEach(at, signal, [A, B], (to) => one(to))).toEqual([
      [A, 1n],
      [B, null],
    ]);
  });
});

describe("runRoutines", () => {
  function* readSteps(targets: readonly Hex[]): ReadRoutine<readonly (bigint | null)[]> {
    const found: (bigint | null)[] = [];
    for (const to of targets) found.push(yield* ask(one(to)));
    return found;
  }

  it("takes as many round trips as the longest routine has steps, with outcomes in order", async () => {
    const at = openRecordedChain({ chain, calls: [recordedOne] });
    const routines = [readSteps([A, B, A]), readSteps([]), readSteps([B])];
    expect(await runRoutines(at, routines, signal)).toEqual([[1n, null, 1n], [], [null]]);
    expect(at.requests).toHaveLength(3);
  });
});

describe("named groups on a real EVM", async () => {
  const [honest, burning, missing] = [0xc0de01, 0xc0de02, 0xc0de03].map(
    (number): Hex => `0x${number.toString(16).padStart(40, "0")}`,
  ) as [Hex, Hex, Hex];
  const stage = await startPortfolioStage({
    [honest]: fixedReturnCode({ "seven()": word(7), "short()": "0x1234" }),
    // Jumps to its own start until the gas is gone.
    [burning]: "0x5b600056",
  });
  const pinned = await Promise.all(
    [undefined, rejectStateOverrides].map(async (plan) => stage.port(await stage.node(plan)).pin(signal)),
  );

  const view = (name: string) =>
    defineRead(`function ${name}()`, (data) => ({ data, word: decodeWord(data) }));
  const [seven, short, reverting] = [view("seven"), view("short"), view("nothingOfTheKind")];
  const leaf = fc.oneof(
    fc.tuple(
      fc.constantFrom(seven, short, reverting),
      fc.constantFrom(honest, missing),
      // Alone, in a capped bundle or in a multicall.
      fc.constantFrom(undefined, 100_000, 600_000),
    ),
    fc.tuple(fc.constant(seven), fc.constant(burning), fc.constantFrom(50_000, 600_000)),
  );
  const reads = leaf.map(([declare, to, gasMax]): ReadGroup => declare(to, [], gasMax));
  const groups = fc.letrec<{ group: ReadGroup }>((tie) => ({
    group: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      reads,
      fc.constant(null),
      fc.array(tie("group"), { maxLength: 6 }),
      fc.dictionary(fc.constantFrom("supplied", "debts", "price", "0"), tie("group"), { maxKeys: 4 }),
    ),
  })).group;

  async function readSingly(at: PinnedChain, group: ReadGroup): Promise<unknown> {
    if (group === null) return null;
    if (group instanceof Reads) {
      const results = await Promise.all(
        group.calls.map(async (call) => (await at.read([call], signal))[0] ?? null),
      );
      return group.decode(results);
    }
    if (Array.isArray(group)) return Promise.all(group.map((each) => readSingly(at, each)));
    const entries = Object.entries(group).map(async ([name, each]) => [name, await readSingly(at, each)]);
    return Object.fromEntries(await Promise.all(entries));
  }

  it.each([
    ["with state overrides", pinned[0]],
    ["without state overrides", pinned[1]],
  ] as const)("returns exactly what single calls return, with failures anywhere, %s", async (_, at) => {
    if (at === undefined) throw new Error("the chain is pinned");
    await fc.assert(
      fc.asyncProperty(groups, async (group) => {
        const readAny = readGroups as (...args: readonly unknown[]) => Promise<unknown>;
        expect(await readAny(at, signal, group)).toEqual(await readSingly(at, group));
      }),
      { numRuns: runsOf(200) },
    );
  });
});
