// Coalescing: equal requests share one read within a block, and a caller that aborts does not affect the others.
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createFastClock } from "../../tests/support/fast-clock.ts";
import {
  createDeferred,
  type Deferred,
  makeChainAccesses,
  makeChainConfig,
  makeChainData,
  numberedContract,
  TEST_WALLET,
} from "../../tests/support/portfolio/portfolio-parts.ts";
import type { PortfolioSnapshot } from "../schema/portfolio/snapshot.ts";
import { SnapshotCoalescer } from "./coalesce-snapshots.ts";
import type { SnapshotQuery } from "./snapshot.ts";
import { valueSnapshot } from "./valuation/value-snapshot.ts";

const base = makeChainConfig("base", 8453, [], { blockTimeMs: 2_000 });
const ethereum = makeChainConfig("ethereum", 1, [], { blockTimeMs: 12_000 });
const onBase: SnapshotQuery = { wallet: TEST_WALLET, slugs: ["base"] };
const never = new AbortController().signal;

/** A coalescing reader over reads that the test settles. */
function startCoalescing(cacheEntriesMax?: number) {
  const clock = createFastClock();
  const reads: (Deferred<PortfolioSnapshot> & {
    query: SnapshotQuery;
    signal: AbortSignal;
  })[] = [];
  const reader = new SnapshotCoalescer(
    {
      read: (query, signal) => {
        const read = { ...createDeferred<PortfolioSnapshot>(), query, signal };
        reads.push(read);
        return read.promise;
      },
    },
    {
      chains: makeChainAccesses(base, ethereum),
      clock,
      ...(cacheEntriesMax === undefined ? {} : { cacheEntriesMax }),
    },
  );
  const finish = (index: number) => reads[index]?.resolve(snapshot(`read ${index}`));
  /** Sends a request, finishes its read at once, and returns the name of the read that served it. */
  const request = async (query: SnapshotQuery) => {
    const response = reader.read(query, never);
    await Promise.resolve();
    for (const index of reads.keys()) finish(index);
    return (await response).provider;
  };
  return { reader, clock, reads, finish, request };
}

function snapshot(provider: string): PortfolioSnapshot {
  return valueSnapshot({ wallet: TEST_WALLET, takenAtMs: 0, provider, chains: [makeChainData(base)] });
}

describe("SnapshotCoalescer", () => {
  it("tells blocks apart, and keeps what is final for a minute", async () => {
    const { request, clock } = startCoalescing();
    const asOf = (block: number): SnapshotQuery => ({ ...onBase, blocks: new Map([["base", block]]) });
    expect(await request(asOf(1))).toBe("read 0");
    expect(await request(asOf(2))).toBe("read 1");
    expect(await request(onBase)).toBe("read 2");
    // The block of these snapshots is of 1970.
    await clock.sleep(59_000);
    expect(await request(asOf(1))).toBe("read 0");
    expect(await request(onBase)).toBe("read 3");
    await clock.sleep(2_000);
    expect(await request(asOf(1))).toBe("read 4");
  });

  it("shares a running read among equal requests", async () => {
    const { reader, reads, finish } = startCoalescing();
    const responses = [
      reader.read(onBase, never),
      reader.read({ ...onBase }, never),
      reader.read(onBase, never),
    ];
    finish(0);
    const [first, ...others] = await Promise.all(responses);
    expect(reads).toHaveLength(1);
    for (const other of others) expect(other).toBe(first);
  });

  it("starts a new read for another wallet, other chains or another order of chains", async () => {
    const { request, reads } = startCoalescing();
    const wallet = numberedContract(5);
    await request({ wallet, slugs: ["base", "ethereum"] });
    await request({ wallet: TEST_WALLET, slugs: ["base", "ethereum"] });
    await request({ wallet, slugs: ["ethereum", "base"] });
    await request({ wallet, slugs: ["base"] });
    expect(reads).toHaveLength(4);
  });

  it.each([
    [["base"], 2_000],
    [["ethereum", "base"], 2_000],
    [["ethereum"], 5_000],
  ])("caches a read of %j for %i ms", async (slugs, freshMs) => {
    const { request, clock } = startCoalescing();
    const query = { wallet: TEST_WALLET, slugs };
    expect(await request(query)).toBe("read 0");
    await clock.sleep(freshMs - 1);
    expect(await request(query)).toBe("read 0");
    await clock.sleep(1);
    expect(await request(query)).toBe("read 1");
  });

  it("counts the cache time from the start of the read, so that a slow read is not cached", async () => {
    const { reader, request, clock, finish } = startCoalescing();
    const slow = reader.read(onBase, never);
    await clock.sleep(2_000);
    finish(0);
    expect((await slow).provider).toBe("read 0");
    expect(await request(onBase)).toBe("read 1");
  });

  it("evicts the oldest entry when the cache is full", async () => {
    const { request, reads } = startCoalescing(2);
    const queries = [1, 2, 3].map((number) => ({ wallet: numberedContract(number), slugs: ["base"] }));
    for (const query of queries) await request(query);
    for (const query of queries.slice(1)) await request(query);
    expect(reads).toHaveLength(3);
    for (const query of queries.slice(0, 1)) await request(query);
    expect(reads).toHaveLength(4);
  });

  it("rejects every waiter of a failed read and does not cache the failure", async () => {
    const { reader, reads, request } = startCoalescing();
    const responses = [reader.read(onBase, never), reader.read(onBase, never)];
    reads[0]?.reject(new Error("down"));
    for (const response of responses) await expect(response).rejects.toThrow("down");
    expect(await request(onBase)).toBe("read 1");
  });

  it("keeps the read running when one of several callers aborts", async () => {
    const { reader, reads, finish } = startCoalescing();
    const controller = new AbortController();
    const aborted = reader.read(onBase, controller.signal);
    const waiting = reader.read(onBase, never);
    controller.abort(new Error("disconnected"));
    await expect(aborted).rejects.toThrow("disconnected");
    expect(reads[0]?.signal.aborted).toBe(false);
    finish(0);
    expect((await waiting).provider).toBe("read 0");
  });

  it("aborts a read when every caller has aborted, and starts a new one for the next caller", async () => {
    const { reader, reads, finish } = startCoalescing();
    const controllers = [new AbortController(), new AbortController()];
    const responses = controllers.map(({ signal }) => reader.read(onBase, signal));
    for (const controller of controllers) controller.abort(new Error("disconnected"));
    for (const response of responses) await expect(response).rejects.toThrow("disconnected");
    expect(reads[0]?.signal.aborted).toBe(true);
    const late = reader.read(onBase, never);
    // The outcome of the aborted read must not replace its successor.
    reads[0]?.reject(new Error("aborted"));
    await nextTurn();
    const later = reader.read(onBase, never);
    finish(1);
    expect([(await late).provider, (await later).provider]).toEqual(["read 1", "read 1"]);
    expect(reads).toHaveLength(2);
  });

  it("starts no read for a caller that has already aborted", async () => {
    const { reader, reads } = startCoalescing();
    await expect(reader.read(onBase, AbortSignal.abort(new Error("disconnected")))).rejects.toThrow(
      "disconnected",
    );
    expect(reads).toHaveLength(0);
  });
});
