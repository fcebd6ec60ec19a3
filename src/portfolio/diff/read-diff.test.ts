// Both ends of a difference: in order, and read by the same sources, whatever a node or a vendor knows.
import { describe, expect, it } from "vitest";
import { createFastClock } from "../../../tests/support/fast-clock.ts";
import {
  makeChainAccess,
  makeChainAccesses,
  makeChainConfig,
  makeChainData,
  makeHolding,
  makeListedToken,
  makeSnapshot,
  TEST_WALLET,
} from "../../../tests/support/portfolio/portfolio-parts.ts";
import type { SnapshotReader } from "../snapshot.ts";
import type { PortfolioChain } from "../types.ts";
import { extractFigures, type StoredSnapshot } from "./figures.ts";
import type { DiffRequest } from "./query.ts";
import { readDiff } from "./read-diff.ts";

const base = makeChainConfig("base", 8453);
const holdings = [makeHolding(makeListedToken(1, "FOUND", 6), 5n)];
// Pinned by a chain of these tests.
const NEWEST = 7;
const ID = "ab".repeat(32);

/** As of a block, the vendor that knows the token is left out. */
function snapshotAt(number: number, asOf: boolean) {
  const block = { number, hash: `0x${"ab".repeat(32)}`, timestamp: 1_700_000_000 } as const;
  return makeSnapshot(makeChainData(base, { block, holdings: asOf ? [] : holdings }));
}

function storedAt(number: number, asOf: boolean): StoredSnapshot {
  const snapshot = snapshotAt(number, asOf);
  return { figures: extractFigures(snapshot), blocks: snapshot.blocks, asOf };
}

type Scene = {
  readonly from?: DiffRequest["from"];
  readonly to?: number;
  readonly stored?: StoredSnapshot;
  /** The blocks that reads of the present are of, one after the other. */
  readonly present?: readonly number[];
  readonly more?: Partial<DiffRequest>;
  /** Chains that reads lack. */
  readonly failedChains?: readonly string[];
  readonly chains?: ReadonlyMap<string, PortfolioChain>;
};

async function read(scene: Scene) {
  const { from = ID, to, stored = storedAt(5, false), present = [NEWEST], more, failedChains } = scene;
  const { chains = makeChainAccesses(base) } = scene;
  const clock = createFastClock();
  const rest = [...present];
  const snapshots: SnapshotReader = {
    async read({ blocks }) {
      const number = blocks === undefined ? (rest.shift() ?? 0) : (blocks.get("base") ?? 0);
      return { ...snapshotAt(number, blocks !== undefined), ...(failedChains && { failedChains }) };
    },
  };
  const storedSnapshots = {
    store: async () => null,
    markSold: async () => {},
    load: async () => stored,
    knownChainCount: () => undefined,
  };
  const services = { snapshots, storedSnapshots, chains, clock };
  const slugs = typeof from === "string" ? null : ["base"];
  const end = to === undefined ? null : new Map([["base", to]]);
  const request = { wallet: TEST_WALLET, slugs, from, to: end, ...more };
  return { clock, diff: await readDiff(services, request, AbortSignal.timeout(5_000), 20) };
}

const hangUntilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

const numbers = (blocks: readonly { readonly number: number }[]) => blocks.map(({ number }) => number);

describe("a difference from a stored snapshot", () => {
  it("finds no difference from a stored snapshot to now while nothing changes", async () => {
    const { diff } = await read({});
    expect(diff.tokens).toEqual([]);
    expect(numbers(diff.from.blocks)).toEqual([5]);
    expect(numbers(diff.to.blocks)).toEqual([NEWEST]);
    expect(diff.from.warnings).toEqual(["The warnings of the stored snapshot are not repeated here."]);
  });

  it("warns that a stored snapshot and a block may have different sources", async () => {
    const { diff } = await read({ to: 7 });
    expect(diff.from.warnings).toContain(
      "The stored snapshot may have balances and prices of vendors, which know no past block: what only they know seems to be gone.",
    );
  });

  it.each([undefined, 9])("compares a snapshot as of blocks with a second side as of blocks", async (to) => {
    const { diff } = await read({ stored: storedAt(5, true), ...(to && { to }) });
    expect(diff.tokens).toEqual([]);
    expect(numbers(diff.to.blocks)).toEqual([to ?? NEWEST]);
    expect(diff.from.warnings).toEqual(["The warnings of the stored snapshot are not repeated here."]);
  });

  it("rejects a difference back in time with an error that names both blocks", async () => {
    for (const asOf of [true, false]) {
      await expect(read({ stored: storedAt(5, asOf), to: 4 })).rejects.toMatchObject({
        code: "INPUT_INVALID",
        message: "from must not be later than to: base from 5 to 4.",
      });
    }
  });

  it("waits a while for a node that is behind the stored snapshot", async () => {
    const { diff, clock } = await read({ present: [4, 4, 5] });
    expect(numbers(diff.to.blocks)).toEqual([5]);
    expect(clock.sleptMs).toEqual([2_000, 2_000]);
    await expect(read({ present: [4, 4, 4, 4, 5] })).rejects.toMatchObject({
      code: "PROVIDER_FAILED",
      message: "The nodes of base are at block 4, before block 5 of the stored snapshot.",
    });
  });

  it("begins the warnings of its end with what the request gave reason for", async () => {
    const { diff } = await read({ more: { warning: "The address is mistyped." } });
    expect(diff.to.warnings[0]).toBe("The address is mistyped.");
  });

  it("is not sold if no chain can be read at both ends", async () => {
    await expect(read({ more: { partial: true }, failedChains: ["base"] })).rejects.toMatchObject({
      code: "PROVIDER_FAILED",
      message: "No chain could be read at both ends.",
    });
  });

  it("leaves out a chain of the stored snapshot that is no longer served, if that is allowed", async () => {
    const stored = storedAt(5, true);
    const alsoOn = <T>(each: T) => [each, { ...each, chain: "polygon" }];
    const figures = { ...stored.figures, chains: stored.figures.chains.flatMap(alsoOn) };
    const both = { ...stored, figures, blocks: stored.blocks.flatMap(alsoOn) };
    const { diff } = await read({ stored: both, more: { partial: true } });
    expect([diff.failedChains, numbers(diff.to.blocks)]).toEqual([["polygon"], [NEWEST]]);
    await expect(read({ stored: both })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: "Chain polygon is not served.",
    });
  });

  it("compares a stored snapshot without blocks with now", async () => {
    const { diff } = await read({ stored: { ...storedAt(5, false), blocks: [] } });
    expect(diff.from.blocks).toEqual([]);
    expect(diff.tokens).toEqual([]);
  });
});

describe("a difference from a block", () => {
  it.each([
    [NEWEST - 2, NEWEST],
    [NEWEST, NEWEST],
    // The node that names its newest block is behind the one that has the start.
    [NEWEST + 2, NEWEST + 2],
  ])("a difference from block %i ends at the newest block, and never before its start", async (from, end) => {
    const { diff } = await read({ from: new Map([["base", from]]) });
    expect(numbers(diff.from.blocks)).toEqual([from]);
    expect(numbers(diff.to.blocks)).toEqual([end]);
  });

  it("does not wait for the newest block of a chain that hangs, and leaves it out if that is allowed", async () => {
    const hanging = { ...makeChainAccess(makeChainConfig("ethereum", 1)), pin: hangUntilAborted };
    const chains = new Map([...makeChainAccesses(base), ["ethereum", hanging]]);
    const from = new Map([
      ["base", 5],
      ["ethereum", 3],
    ]);
    const more = { slugs: ["base", "ethereum"] };
    const { diff } = await read({ from, chains, more: { ...more, partial: true } });
    expect([diff.failedChains, numbers(diff.to.blocks)]).toEqual([["ethereum"], [NEWEST]]);
    await expect(read({ from, chains, more })).rejects.toMatchObject({
      code: "PROVIDER_FAILED",
      message: "The newest block of Ethereum could not be read.",
    });
  });
});
