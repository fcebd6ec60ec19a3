// Sharing: one read for all who ask the same within a block, and nobody harmed by those who leave or fail.
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createFastClock } from "../../tests/support/fast-clock.ts";
import {
  createDeferred,
  type Deferred,
  makeChainAccesses,
  makeChainConfig,
  makeChainParts,
  numberedContract,
  TEST_WALLET,
} from "../../tests/support/portfolio/portfolio-parts.ts";
import { coalesceSnapshots } from "./coalesce-snapshots.ts";
import type { SnapshotQuery } from "./snapshot.ts";
import type { PortfolioSnapshot } from "./snapshot-types.ts";
import { valueSnapshot } from "./valuation/value-snapshot.ts";

const base = makeChainConfig("base", 8453, [], { blockTimeMs: 2_000 });
const ethereum = makeChainConfig("ethereum", 1, [], { blockTimeMs: 12_000 });
const onBase: SnapshotQuery = { wallet: TEST_WALLET, slugs: ["base"] };
const never = new AbortController().signal;

/** A taker whose reads end when the test says so. */
function shared(keptMax?: number) {
  const clock = createFastClock();
  const reads: (Deferred<PortfolioSnapshot> & {
    question: SnapshotQuery;
    signal: AbortSignal;
  })[] = [];
  const taker = coalesceSnapshots(
    {
      read: (question, signal) => {
        const read = { ...createDeferred<PortfolioSnapshot>(), question, signal };
        reads.push(read);
        return read.promise;
      },
    },
    {
      chains: makeChainAccesses(base, ethereum),
      clock,
      ...(keptMax === undefined ? {} : { cacheEntriesMax: keptMax }),
    },
  );
  const finish = (index: number) => reads[index]?.resolve(snapshot(`read ${index}`));
  /** Asks, answers at once, and tells which read the answer came from. */
  const ask = async (question: SnapshotQuery) => {
    const answer = taker.read(question, never);
    await Promise.resolve();
    for (const index of reads.keys()) finish(index);
    return (await answer).provider;
  };
  return { taker, clock, reads, finish, ask };
}

function snapshot(provider: string): PortfolioSnapshot {
  return valueSnapshot({ wallet: TEST_WALLET, takenAtMs: 0, provider, chains: [makeChainParts(base)] });
}

describe("sharing", () => {
  it("joins those who ask while a read runs", async () => {
    const { taker, reads, finish } = shared();
    const answers = [taker.read(onBase, never), taker.read({ ...onBase }, never), taker.read(onBase, never)];
    finish(0);
    const [first, ...others] = await Promise.all(answers);
    expect(reads).toHaveLength(1);
    for (const other of others) expect(other).toBe(first);
  });

  it("reads anew for another wallet, other chains or another order of them", async () => {
    const { ask, reads } = shared();
    const wallet = numberedContract(5);
    await ask({ wallet, slugs: ["base", "ethereum"] });
    await ask({ wallet: TEST_WALLET, slugs: ["base", "ethereum"] });
    await ask({ wallet, slugs: ["ethereum", "base"] });
    await ask({ wallet, slugs: ["base"] });
    expect(reads).toHaveLength(4);
  });

  it.each([
    [["base"], 2_000],
    [["ethereum", "base"], 2_000],
    [["ethereum"], 5_000],
  ])("hands a read of %j out again for %i ms", async (slugs, freshMs) => {
    const { ask, clock } = shared();
    const question = { wallet: TEST_WALLET, slugs };
    expect(await ask(question)).toBe("read 0");
    await clock.sleep(freshMs - 1);
    expect(await ask(question)).toBe("read 0");
    await clock.sleep(1);
    expect(await ask(question)).toBe("read 1");
  });

  it("counts that time from the start of the read: a slow one is not handed out again", async () => {
    const { taker, ask, clock, finish } = shared();
    const slow = taker.read(onBase, never);
    await clock.sleep(2_000);
    finish(0);
    expect((await slow).provider).toBe("read 0");
    expect(await ask(onBase)).toBe("read 1");
  });

  it("keeps only so many, the newest", async () => {
    const { ask, reads } = shared(2);
    const asked = [1, 2, 3].map((number) => ({ wallet: numberedContract(number), slugs: ["base"] }));
    for (const question of asked) await ask(question);
    for (const question of asked.slice(1)) await ask(question);
    expect(reads).toHaveLength(3);
    for (const question of asked.slice(0, 1)) await ask(question);
    expect(reads).toHaveLength(4);
  });

  it("tells a failure to all who wait for it and keeps none of it", async () => {
    const { taker, reads, ask } = shared();
    const answers = [taker.read(onBase, never), taker.read(onBase, never)];
    reads[0]?.reject(new Error("down"));
    for (const answer of answers) await expect(answer).rejects.toThrow("down");
    expect(await ask(onBase)).toBe("read 1");
  });

  it("lets one leave without harm to the others", async () => {
    const { taker, reads, finish } = shared();
    const leaver = new AbortController();
    const left = taker.read(onBase, leaver.signal);
    const stayed = taker.read(onBase, never);
    leaver.abort(new Error("left"));
    await expect(left).rejects.toThrow("left");
    expect(reads[0]?.signal.aborted).toBe(false);
    finish(0);
    expect((await stayed).provider).toBe("read 0");
  });

  it("stops a read that everybody has left, and starts another for who comes then", async () => {
    const { taker, reads, finish } = shared();
    const leavers = [new AbortController(), new AbortController()];
    const answers = leavers.map(({ signal }) => taker.read(onBase, signal));
    for (const leaver of leavers) leaver.abort(new Error("left"));
    for (const answer of answers) await expect(answer).rejects.toThrow("left");
    expect(reads[0]?.signal.aborted).toBe(true);
    const late = taker.read(onBase, never);
    // What the abandoned read says in the end must not take the place of its successor.
    reads[0]?.reject(new Error("aborted"));
    await nextTurn();
    const later = taker.read(onBase, never);
    finish(1);
    expect([(await late).provider, (await later).provider]).toEqual(["read 1", "read 1"]);
    expect(reads).toHaveLength(2);
  });

  it("does not begin for who has left already", async () => {
    const { taker, reads } = shared();
    await expect(taker.read(onBase, AbortSignal.abort(new Error("left")))).rejects.toThrow("left");
    expect(reads).toHaveLength(0);
  });
});
