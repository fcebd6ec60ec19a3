// The searched blocks: paged backwards, in ranges that fit strict nodes and grow for generous ones, within a budget.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { localChainConfig } from "../../tests/support/portfolio/portfolio-stage.ts";
import type { TransferFilter } from "../chain/logs/get-logs.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import { type SearchBudget, searchRecentLogs } from "./recent-logs.ts";
import type { ChainConfig, PinnedChain, TransferLog } from "./types.ts";

const WALLET: Hex = `0x${"11".repeat(20)}`;
const { signal } = new AbortController();

function readTransfers(at: PinnedChain, stop: AbortSignal = signal, budget?: SearchBudget) {
  const readRange = (range: Pick<TransferFilter, "fromBlock" | "toBlock">, abort: AbortSignal) =>
    at.transfers({ wallet: WALLET, side: "to", ...range }, abort);
  return searchRecentLogs(at, readRange, stop, budget);
}

const MONTH = 1_296_000;
const HEAD = 10_000_000;

function transferIn(blockNumber: number): TransferLog {
  const transactionHash: Hex = `0x${blockNumber.toString(16).padStart(64, "0")}`;
  return {
    ...{ contract: WALLET, from: WALLET, to: WALLET, transactionHash, blockNumber },
    ...{ blockTimestamp: null, logIndex: 0, amount: 1n },
  };
}

type Node = {
  readonly blocksMax?: number;
  /** Most logs of one result. */
  readonly logsMax?: number;
  readonly transfers?: readonly number[];
  readonly chain?: ChainConfig;
  readonly timestamp?: number;
};

/** A chain with transfers in the given blocks, two seconds each, whose node limits the range of a search. */
function chainOf(head: number, node: Node = {}) {
  const searched: TransferFilter[] = [];
  const { blocksMax = Number.POSITIVE_INFINITY, logsMax = blocksMax, transfers = [], timestamp = 1 } = node;
  const at: PinnedChain = {
    chain: node.chain ?? { ...localChainConfig([]), blockTimeMs: 2_000 },
    block: { number: head, hash: `0x${"22".repeat(32)}`, timestamp },
    transfers: async (filter) => {
      searched.push(filter);
      if (filter.toBlock - filter.fromBlock + 1 > blocksMax) {
        throw new Fault("LOGS_TOO_LARGE", "too many blocks");
      }
      const found = transfers.filter((block) => block >= filter.fromBlock && block <= filter.toBlock);
      if (found.length > logsMax) throw new Fault("LOGS_TOO_LARGE", "more than the allowed results");
      return found.map(transferIn);
    },
    logs: async () => [],
    read: async () => [],
    code: async () => "0x",
    storage: async () => 0n,
    baseFee: async () => 1n,
    callWithOverride: async () => null,
    callAsAccount: async () => null,
    nativeBalance: async () => 0n,
    timestamps: async () => new Map(),
    senders: async () => new Map(),
  };
  return { at, searched, sizes: () => searched.map(({ fromBlock, toBlock }) => toBlock - fromBlock + 1) };
}

describe("a node without a limit", () => {
  it("searches a node without a limit for a month, in growing ranges up to the pinned block", async () => {
    const { at, searched, sizes } = chainOf(HEAD);
    expect(await readTransfers(at)).toEqual({
      logs: [],
      fromBlock: HEAD - MONTH + 1,
    });
    expect(searched[0]).toMatchObject({ fromBlock: HEAD - 9_999, toBlock: HEAD });
    expect(sizes()).toEqual([10_000, 80_000, 640_000, 566_000]);
  });

  it("searches as far for a wallet that receives a lot, and never below block 0", async () => {
    const busy = Array.from({ length: 500 }, (_, i) => HEAD - i);
    const { at } = chainOf(HEAD, { transfers: busy });
    const found = await readTransfers(at);
    expect(found.fromBlock).toBe(HEAD - MONTH + 1);
    expect(found.logs).toHaveLength(500);
    const young = chainOf(300);
    expect((await readTransfers(young.at)).fromBlock).toBe(0);
    expect(young.searched).toHaveLength(1);
  });
});

describe("a chain that was searched before", () => {
  it("searches a known chain in fewer requests, the newest blocks first", async () => {
    const first = chainOf(HEAD);
    await readTransfers(first.at);
    const second = chainOf(HEAD, { chain: first.at.chain });
    const found = await readTransfers(second.at);
    expect(found.fromBlock).toBe(HEAD - MONTH + 1);
    expect(second.sizes()).toEqual([10_000, MONTH - 10_000]);
  });

  it("does not search again in a range that used up the time", async () => {
    const { at, searched, sizes } = chainOf(HEAD);
    const slow: PinnedChain["transfers"] = (filter, abort) =>
      filter.toBlock - filter.fromBlock < 100_000
        ? at.transfers(filter, abort)
        : new Promise((_, reject) => abort.addEventListener("abort", () => reject(abort.reason)));
    const read = () => readTransfers({ ...at, transfers: slow }, signal, { timeMs: 50, requests: 16 });
    expect((await read()).fromBlock).toBe(HEAD - 90_000 + 1);
    searched.length = 0;
    // The first is small, all others have the size that returned in time.
    expect((await read()).fromBlock).toBe(HEAD - 10_000 - 15 * 80_000 + 1);
    expect(new Set(sizes().slice(1))).toEqual(new Set([80_000]));
    expect(sizes()).toHaveLength(16);
  });
});

describe("a wallet with more transfers than a node returns at once", () => {
  const busy = Array.from({ length: 12_000 }, (_, i) => HEAD - i);

  it("a wallet with many transfers does not shorten the search for others", async () => {
    const first = chainOf(HEAD, { transfers: busy, logsMax: 2_000 });
    const { fromBlock, logs } = await readTransfers(first.at);
    expect(logs).toHaveLength(HEAD - fromBlock + 1);
    expect(logs.length).toBeGreaterThan(5_000);
    const quiet = chainOf(HEAD, { chain: first.at.chain, logsMax: 2_000 });
    expect((await readTransfers(quiet.at)).fromBlock).toBe(HEAD - MONTH + 1);
  });

  it("stops at ten thousand transfers, with a page more at most", async () => {
    const { at, sizes } = chainOf(HEAD, { transfers: busy });
    expect((await readTransfers(at)).logs).toHaveLength(10_000);
    const sparse = Array.from({ length: 24_000 }, (_, i) => HEAD - 10 * i);
    const other = chainOf(HEAD, { transfers: sparse });
    const { logs } = await readTransfers(other.at);
    expect(logs.length).toBeGreaterThanOrEqual(10_000);
    expect(logs.length).toBeLessThanOrEqual(20_000);
    expect(sizes()).toEqual([10_000]);
  });

  it("searches begin smaller after a range that never returned, and may grow again", async () => {
    const { at, sizes } = chainOf(HEAD);
    const hang: PinnedChain["transfers"] = (_, abort) =>
      new Promise((_resolve, reject) => abort.addEventListener("abort", () => reject(abort.reason)));
    const budget = { timeMs: 20, requests: 16 };
    await expect(readTransfers({ ...at, transfers: hang }, signal, budget)).rejects.toMatchObject({
      name: "TimeoutError",
    });
    expect((await readTransfers(at)).fromBlock).toBe(HEAD - MONTH + 1);
    expect(sizes()[0]).toBe(2_500);
  });
});

describe("a strict node", () => {
  it.each([
    [10_000, 140_000],
    [5_000, 72_500],
    [1_000, 8_125],
    [10, 90],
  ])("searches a node that allows %i blocks at once for %i blocks", async (blocksMax, covered) => {
    const { at, searched } = chainOf(HEAD, {
      blocksMax,
      transfers: [HEAD, HEAD - covered + 1, HEAD - covered],
    });
    const found = await readTransfers(at);
    expect(found.fromBlock).toBe(HEAD - covered + 1);
    expect(found.logs).toEqual([transferIn(HEAD - covered + 1), transferIn(HEAD)]);
    expect(searched.length).toBeLessThanOrEqual(16);
  });

  it("does not repeat a rejected range on a node within ten minutes", async () => {
    const first = chainOf(HEAD, { blocksMax: 10_000 });
    await readTransfers(first.at);
    const { chain } = first.at;
    const second = chainOf(HEAD, { blocksMax: 10_000, chain, timestamp: 600 });
    expect(await readTransfers(second.at)).toMatchObject({
      fromBlock: HEAD - 160_000 + 1,
    });
    expect(new Set(second.sizes())).toEqual(new Set([10_000]));
    const later = chainOf(HEAD, { chain, timestamp: 601 });
    await readTransfers(later.at);
    expect(later.sizes()).toEqual([10_000, 80_000, 640_000, 566_000]);
  });

  it("fails on a node that rejects a single block", async () => {
    const closed = chainOf(HEAD, { blocksMax: 0 });
    await expect(readTransfers(closed.at)).rejects.toMatchObject({
      code: "LOGS_TOO_LARGE",
    });
    expect(closed.sizes()).toEqual([10_000, 2_500, 625, 156, 39, 9, 2, 1]);
  });
});

describe("the search", () => {
  it("returns every transfer of the blocks that it says it covered, for any node and budget", async () => {
    const arbitrary = {
      head: fc.nat(100_000),
      blocksMax: fc.nat(200_000),
      requests: fc.integer({ min: 1, max: 20 }),
      transfers: fc.array(fc.nat(100_000)),
    };
    await fc.assert(
      fc.asyncProperty(fc.record(arbitrary), async ({ head, blocksMax, requests, transfers }) => {
        const { at, searched } = chainOf(head, { blocksMax, transfers });
        const budget = { timeMs: 10_000, requests };
        const found = await readTransfers(at, signal, budget).catch(() => null);
        expect(searched.length).toBeLessThanOrEqual(requests);
        for (const { fromBlock, toBlock } of searched) {
          expect(fromBlock).toBeGreaterThanOrEqual(0);
          expect(toBlock).toBeGreaterThanOrEqual(fromBlock);
          expect(toBlock).toBeLessThanOrEqual(head);
        }
        if (found === null) return;
        const expected = transfers.filter((block) => block <= head && block >= found.fromBlock);
        expect(found.logs.map(({ blockNumber }) => blockNumber).sort()).toEqual(expected.sort());
      }),
    );
  });

  it("returns what it found before the deadline, and rejects when it found nothing", async () => {
    const { at } = chainOf(HEAD, { transfers: [HEAD - 1] });
    const budget = { timeMs: 20, requests: 16 };
    const hang = (_: TransferFilter, abort: AbortSignal) =>
      new Promise<never>((_resolve, reject) => abort.addEventListener("abort", () => reject(abort.reason)));
    await expect(
      readTransfers({ ...chainOf(HEAD).at, transfers: hang }, signal, budget),
    ).rejects.toMatchObject({ name: "TimeoutError" });
    const first: PinnedChain["transfers"] = (filter, abort) =>
      filter.toBlock === HEAD ? at.transfers(filter, abort) : hang(filter, abort);
    expect(await readTransfers({ ...at, transfers: first }, signal, budget)).toEqual({
      logs: [transferIn(HEAD - 1)],
      fromBlock: HEAD - 9_999,
    });
  });

  it("keeps the newest blocks when a node has pruned older ones", async () => {
    const { at } = chainOf(HEAD, { transfers: [HEAD - 1, 5] });
    const pruned: PinnedChain["transfers"] = (filter, abort) =>
      filter.fromBlock < HEAD - 20_000
        ? Promise.reject(new Fault("NODE_REFUSED", "pruned"))
        : at.transfers(filter, abort);
    expect(await readTransfers({ ...at, transfers: pruned })).toEqual({
      logs: [transferIn(HEAD - 1)],
      fromBlock: HEAD - 9_999,
    });
  });

  it("rejects with the reason of an aborted signal", async () => {
    const { at } = chainOf(1_000);
    const reason = new Error("aborted");
    const failing = { ...at, transfers: async () => Promise.reject(reason) };
    await expect(readTransfers(failing, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
