// Reads within the load: their cost, their order, and what is rejected when too much waits.
import { expect, it } from "vitest";
import { limitReads, ReadLoad } from "./read-load.ts";
import type { SnapshotReader } from "./snapshot.ts";
import type { PortfolioChain } from "./types.ts";

/** Costs 10 for the chain and 10 for its tokens. */
const chain = { chain: { tokens: new Map(Array.from({ length: 1_000 }, (_, id) => [id, id])) } };
const SLUGS = ["base", "ethereum", "arbitrum", "optimism", "polygon"];
const CHAINS = new Map(SLUGS.map((slug) => [slug, chain as unknown as PortfolioChain]));
const { signal } = new AbortController();

function openReads(limits: { readonly runningMax: number; readonly waitingMax: number }) {
  const load = new ReadLoad(CHAINS, limits);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const read = (chains: number, stop = signal) =>
    load.run(SLUGS.slice(0, chains), stop, () => {
      begun.push(chains);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  return { load, begun, ends, read };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it("runs as many reads at once as their cost allows, and the others in their order", async () => {
  const { begun, ends, read } = openReads({ runningMax: 100, waitingMax: 1_000 });
  void read(3);
  void read(2);
  // A small one does not overtake the large one before it.
  void read(5);
  void read(1);
  await turn();
  expect(begun).toEqual([3, 2]);
  ends[0]?.();
  await turn();
  expect(begun).toEqual([3, 2]);
  ends[1]?.();
  await turn();
  expect(begun).toEqual([3, 2, 5]);
  ends[2]?.();
  await turn();
  expect(begun).toEqual([3, 2, 5, 1]);
});

it("runs a read that costs more than all may, but alone", async () => {
  const { begun, ends, read } = openReads({ runningMax: 50, waitingMax: 1_000 });
  void read(5);
  void read(1);
  await turn();
  expect(begun).toEqual([5]);
  ends[0]?.();
  await turn();
  expect(begun).toEqual([5, 1]);
});

it("rejects what would wait beyond the limit", async () => {
  const { ends, read } = openReads({ runningMax: 100, waitingMax: 100 });
  const reads = [read(5), read(4)];
  await turn();
  await expect(read(2)).rejects.toMatchObject({ code: "OVERLOADED" });
  reads.push(read(1));
  await expect(read(1)).rejects.toMatchObject({ code: "OVERLOADED" });
  for (let each = 0; each < reads.length; each += 1) {
    ends[each]?.();
    await turn();
  }
  await Promise.all(reads);
});

it("rejects a read that has waited too long, but none that has begun", async () => {
  const load = new ReadLoad(CHAINS, { runningMax: 20, waitingMax: 1_000, waitMsMax: 20 });
  let end = () => {};
  const first = load.run(["base"], signal, () => new Promise<void>((resolve) => (end = resolve)));
  await expect(load.run(["base"], signal, async () => {})).rejects.toMatchObject({ code: "OVERLOADED" });
  end();
  await first;
});

it("begins a read that costs more than all may, whatever lists were read before", async () => {
  const sizes = [1_234, 777, 15, 20_000];
  const lists = new Map(
    sizes.map((size, slug) => {
      const tokens = new Map(Array.from({ length: size }, (_, id) => [id, id]));
      return [String(slug), { chain: { tokens } } as unknown as PortfolioChain];
    }),
  );
  const load = new ReadLoad(lists, { runningMax: 50, waitingMax: 1_000 });
  for (const slugs of [["0", "1"], ["2"], ["1", "2"]]) await load.run(slugs, signal, async () => {});
  await Promise.all([["0"], ["2"], ["1"]].map((slugs) => load.run(slugs, signal, turn)));
  expect(await load.run(["3"], AbortSignal.timeout(1_000), async () => "begun")).toBe("begun");
});

it("leaves room to other clients, and gives it back", async () => {
  const load = new ReadLoad(CHAINS);
  let end = () => {};
  const busy = load.runFor("one", 70, () => new Promise<void>((resolve) => (end = resolve)));
  await expect(load.runFor("one", 10, async () => "read")).rejects.toMatchObject({ code: "OVERLOADED" });
  expect(await load.runFor("other", 10, async () => "read")).toBe("read");
  end();
  await busy;
  expect(await load.runFor("one", 10, async () => "read")).toBe("read");
});

it("lets a request that has given up leave the queue, and those behind it move up", async () => {
  const { begun, ends, read } = openReads({ runningMax: 60, waitingMax: 1_000 });
  void read(2);
  const gone = new AbortController();
  const large = read(5, gone.signal);
  void read(1);
  await turn();
  expect(begun).toEqual([2]);
  gone.abort(new Error("gone"));
  await expect(large).rejects.toThrow("gone");
  await turn();
  expect(begun).toEqual([2, 1]);
  for (const end of ends) end();
});

it("gives the room of a failed read back", async () => {
  const load = new ReadLoad(CHAINS, { runningMax: 20, waitingMax: 1_000 });
  const failing = { read: () => Promise.reject(new Error("no node")) } as unknown as SnapshotReader;
  const reader = limitReads(failing, load);
  const query = { wallet: "0x", slugs: ["base"] } as const;
  for (let each = 0; each < 3; each += 1) await expect(reader.read(query, signal)).rejects.toThrow("no node");
});
