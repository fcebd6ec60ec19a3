// Waiting for a block: one query for all, limits in total and per client, and nothing is left behind.
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { assertBlockReached } from "../schema/reads/read.ts";
import { BlockWaiters, type BlockWaitersOptions } from "./block-waiters.ts";

/** An index whose head the test moves; `announce` is the notification of a change. */
function startIndex(options: Partial<BlockWaitersOptions> = {}) {
  let head: bigint | null = 7n;
  let queries = 0;
  const waiters = new BlockWaiters({
    readHead: async () => {
      queries += 1;
      return head;
    },
    waitMsMax: 2_000,
    // Notifications alone, unless a test is about the poll.
    pollMs: 60_000,
    ...options,
  });
  return {
    waiters,
    queries: () => queries,
    move: (number: bigint | null) => {
      head = number;
    },
    read: (
      minBlock: bigint | null,
      { client = "192.0.2.1", signal = new AbortController().signal, attempt = async () => head } = {},
    ) =>
      waiters.run({ minBlock, client, signal }, async () => {
        const found = await attempt();
        if (found !== null) assertBlockReached(minBlock, found);
        return found;
      }),
  };
}

describe("a read that asks for a block", () => {
  it("reads at once if the index has the block, or if none is asked for", async () => {
    const { read, queries } = startIndex();
    expect(await read(null)).toBe(7n);
    expect(queries()).toBe(0);
    expect(await read(7n)).toBe(7n);
    expect(await read(3n)).toBe(7n);
    expect(queries()).toBe(1);
  });

  it("queries the head once per notification for a hundred waiting reads", async () => {
    const { read, move, waiters, queries } = startIndex({ waitersPerClientMax: 100 });
    await read(7n);
    const reads = Array.from({ length: 100 }, () => read(9n));
    await pause(5);
    const before = queries();
    move(8n);
    waiters.onChange();
    await pause(5);
    move(9n);
    waiters.onChange();
    expect(await Promise.all(reads)).toEqual(Array.from({ length: 100 }, () => 9n));
    expect(queries() - before).toBe(2);
    waiters.onChange();
    expect(queries() - before).toBe(2);
  });

  it("wakes a read by the head that any other read sees", async () => {
    const { read, move, waiters } = startIndex();
    const waiting = read(8n);
    await pause(5);
    move(8n);
    waiters.observeHead(8n);
    expect(await waiting).toBe(8n);
  });

  it("wakes a read by polling if no notification arrives", async () => {
    const { read, move } = startIndex({ pollMs: 5 });
    const waiting = read(8n);
    await pause(20);
    move(8n);
    expect(await waiting).toBe(8n);
  });

  it("rejects a read with the index's block when the time is up", async () => {
    const { read } = startIndex({ waitMsMax: 30 });
    await expect(read(2n ** 63n - 1n)).rejects.toMatchObject({
      code: "BLOCK_NOT_INDEXED",
      status: 503,
      retryAfterSeconds: 1,
      headers: { "x-block-number": "7" },
      message:
        "The index is at block 7 and has not reached block 9223372036854775807; try again in a moment.",
    });
  });

  it("ends a wait within the time limit of the request", async () => {
    const { read } = startIndex({ waitMsMax: 60_000, requestMsMax: 60 });
    await expect(read(8n)).rejects.toMatchObject({ code: "BLOCK_NOT_INDEXED" });
  });

  it("waits again if what was read is older than the known head", async () => {
    const { read, move, waiters, queries } = startIndex();
    move(9n);
    const heads = [7n, 7n, 9n];
    expect(await read(8n, { attempt: async () => heads.shift() ?? null })).toBe(9n);
    expect(heads).toEqual([]);
    expect(queries()).toBe(3);
    // A rollback: the index was at 9 and is at 7 again, on another fork.
    move(7n);
    const waiting = read(8n);
    await pause(5);
    move(8n);
    waiters.onChange();
    expect(await waiting).toBe(8n);
  });

  it("leaves it to the read to say that nothing is indexed, or that the database is away", async () => {
    const empty = startIndex();
    empty.move(null);
    expect(await empty.read(8n)).toBeNull();
    const broken = startIndex({ readHead: () => Promise.reject(new Error("away")) });
    const attempt = () => Promise.reject(new Error("the read says it"));
    await expect(broken.read(8n, { attempt })).rejects.toThrow("the read says it");
  });
});

describe("waiting is limited", () => {
  it("sends one query per poll while the head cannot be read", async () => {
    let queries = 0;
    let attempts = 0;
    const { read } = startIndex({
      readHead: async () => {
        queries += 1;
        throw new Error("too many connections");
      },
      waitMsMax: 300,
      pollMs: 50,
    });
    const attempt = async () => {
      attempts += 1;
      return 7n;
    };
    await expect(read(8n, { attempt })).rejects.toMatchObject({ code: "BLOCK_NOT_INDEXED" });
    expect(queries).toBeLessThanOrEqual(8);
    expect(attempts).toBeLessThanOrEqual(8);
  });

  it("limits waiting reads per client and in total, and rejects others at once", async () => {
    const { read, waiters, move } = startIndex({ waitersMax: 5, waitersPerClientMax: 3 });
    const startedMs = performance.now();
    const one = Array.from({ length: 3 }, () => read(8n, { client: "192.0.2.1" }));
    await expect(read(8n, { client: "192.0.2.1" })).rejects.toMatchObject({ code: "BLOCK_NOT_INDEXED" });
    const two = Array.from({ length: 2 }, () => read(8n, { client: "192.0.2.2" }));
    await expect(read(8n, { client: "192.0.2.2" })).rejects.toThrow(/^Too many requests wait/);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
    move(8n);
    waiters.onChange();
    expect(await Promise.all([...one, ...two])).toEqual([8n, 8n, 8n, 8n, 8n]);
    // The slots are free again.
    move(9n);
    waiters.observeHead(9n);
    expect(await read(9n, { client: "192.0.2.2" })).toBe(9n);
  });

  it("stops waiting for a client that has left", async () => {
    const { read, queries, waiters } = startIndex({ waitersPerClientMax: 1 });
    const gone = new AbortController();
    const left = read(8n, { signal: gone.signal });
    gone.abort();
    await expect(left).rejects.toMatchObject({ code: "BLOCK_NOT_INDEXED" });
    const before = queries();
    waiters.onChange();
    expect(queries()).toBe(before);
    await expect(read(8n, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "BLOCK_NOT_INDEXED",
    });
  });

  it("ends all waits when the process shuts down", async () => {
    const { read, waiters } = startIndex();
    const waiting = expect(read(8n)).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
    waiters.close();
    await waiting;
    await expect(read(9n)).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
    expect(await read(7n)).toBe(7n);
  });
});
