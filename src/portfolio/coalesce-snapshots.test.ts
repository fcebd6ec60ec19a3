// Sharing: one read for all who ask the same within a block, and nobody harmed by those who leave or fail.
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createFastClock } from "../../tests/support/fast-clock.ts";
import {
  bookOf,
  contractOf,
  type Deferred,
  deferred,
  partsOf,
  portsOf,
  WALLET,
} from "../../tests/support/portfolio/portfolio-parts.ts";
import { shareSnapshots } from "./coalesce-snapshots.ts";
import type { SnapshotQuestion } from "./snapshot.ts";
import type { PortfolioSnapshot } from "./snapshot-types.ts";
import { valueSnapshot } from "./valuation/value-snapshot.ts";

const base = bookOf("base", 8453, [], { blockTimeMs: 2_000 });
const ethereum = bookOf("ethereum", 1, [], { blockTimeMs: 12_000 });
const onBase: SnapshotQuestion = { wallet: WALLET, slugs: ["base"] };
const never = new AbortController().signal;

/** A taker whose reads end when the test says so. */
function shared(keptMax?: number) {
  const clock = createFastClock();
  const reads: (Deferred<PortfolioSnapshot> & {
    question: SnapshotQuestion;
    signal: AbortSignal;
  })[] = [];
  const taker = shareSnapshots(
    {
      take: (question, signal) => {
        const read = { ...deferred<PortfolioSnapshot>(), question, signal };
        reads.push(read);
        return read.promise;
      },
    },
    { chains: portsOf(base, ethereum), clock, ...(keptMax === undefined ? {} : { keptMax }) },
  );
  const finish = (index: number) => reads[index]?.resolve(snapshot(`read ${index}`));
  /** Asks, answers at once, and tells which read the answer came from. */
  const ask = async (question: SnapshotQuestion) => {
    const answer = taker.take(question, never);
    await Promise.resolve();
    for (const index of reads.keys()) finish(index);
    return (await answer).provider;
  };
  return { taker, clock, reads, finish, ask };
}

function snapshot(provider: string): PortfolioSnapshot {
  return valueSnapshot({ wallet: WALLET, takenAtMs: 0, provider, chains: [partsOf(base)] });
}

describe("sharing", () => {
  it("joins those who ask while a read runs", async () => {
    const { taker, reads, finish } = shared();
    const answers = [taker.take(onBase, never), taker.take({ ...onBase }, never), taker.take(onBase, never)];
    finish(0);
    const [first, ...others] = await Promise.all(answers);
    expect(reads).toHaveLength(1);
    for (const other of others) expect(other).toBe(first);
  });

  it("reads anew for another wallet, other chains or another order of them", async () => {
    const { ask, reads } = shared();
    const wallet = contractOf(5);
    await ask({ wallet, slugs: ["base", "ethereum"] });
    await ask({ wallet: WALLET, slugs: ["base", "ethereum"] });
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
    const question = { wallet: WALLET, slugs };
    expect(await ask(question)).toBe("read 0");
    await clock.sleep(freshMs - 1);
    expect(await ask(question)).toBe("read 0");
    await clock.sleep(1);
    expect(await ask(question)).toBe("read 1");
  });

  it("counts that time from the start of the read: a slow one is not handed out again", async () => {
    const { taker, ask, clock, finish } = shared();
    const slow = taker.take(onBase, never);
    await clock.sleep(2_000);
    finish(0);
    expect((await slow).provider).toBe("read 0");
    expect(await ask(onBase)).toBe("read 1");
  });

  it("keeps only so many, the newest", async () => {
    const { ask, reads } = shared(2);
    const asked = [1, 2, 3].map((number) => ({ wallet: contractOf(number), slugs: ["base"] }));
    for (const question of asked) await ask(question);
    for (const question of asked.slice(1)) await ask(question);
    expect(reads).toHaveLength(3);
    for (const question of asked.slice(0, 1)) await ask(question);
    expect(reads).toHaveLength(4);
  });

  it("tells a failure to all who wait for it and keeps none of it", async () => {
    const { taker, reads, ask } = shared();
    const answers = [taker.take(onBase, never), taker.take(onBase, never)];
    reads[0]?.reject(new Error("down"));
    for (const answer of answers) await expect(answer).rejects.toThrow("down");
    expect(await ask(onBase)).toBe("read 1");
  });

  it("lets one leave without harm to the others", async () => {
    const { taker, reads, finish } = shared();
    const leaver = new AbortController();
    const left = taker.take(onBase, leaver.signal);
    const stayed = taker.take(onBase, never);
    leaver.abort(new Error("left"));
    await expect(left).rejects.toThrow("left");
    expect(reads[0]?.signal.aborted).toBe(false);
    finish(0);
    expect((await stayed).provider).toBe("read 0");
  });

  it("stops a read that everybody has left, and starts another for who comes then", async () => {
    const { taker, reads, finish } = shared();
    const leavers = [new AbortController(), new AbortController()];
    const answers = leavers.map(({ signal }) => taker.take(onBase, signal));
    for (const leaver of leavers) leaver.abort(new Error("left"));
    for (const answer of answers) await expect(answer).rejects.toThrow("left");
    expect(reads[0]?.signal.aborted).toBe(true);
    const late = taker.take(onBase, never);
    // What the abandoned read says in the end must not take the place of its successor.
    reads[0]?.reject(new Error("aborted"));
    await nextTurn();
    const later = taker.take(onBase, never);
    finish(1);
    expect([(await late).provider, (await later).provider]).toEqual(["read 1", "read 1"]);
    expect(reads).toHaveLength(2);
  });

  it("does not begin for who has left already", async () => {
    const { taker, reads } = shared();
    await expect(taker.take(onBase, AbortSignal.abort(new Error("left")))).rejects.toThrow("left");
    expect(reads).toHaveLength(0);
  });
});
