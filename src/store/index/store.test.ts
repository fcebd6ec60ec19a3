// The store takes every block once, remembers which blocks it has, and forgets only what can not be undone.
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  openSampleIndex,
  type SampleIndex,
  writeBatch,
} from "../../../tests/reference-model/store/sample-index.ts";
import { createSampleFold, type SampleChange } from "../../../tests/reference-model/store/sample-tables.ts";
import type { FoldedBatch } from "./store.ts";

let index: SampleIndex;

beforeAll(async () => {
  index = await openSampleIndex();
});
afterEach(() => index.reset());
afterAll(() => index.close());

const TALLIES = 3;
const count: SampleChange = { table: TALLIES, verb: "add", key: 1, value: 1, looks: false };

async function newest(): Promise<{ number: number; hash: `0x${string}`; timestamp: number }> {
  const [block] = await index.store.readBlocksDescending(Number.MAX_SAFE_INTEGER, 1);
  if (!block) throw new Error("there is no block");
  return block;
}

describe("the same block twice", () => {
  it("is refused and changes nothing", async () => {
    await index.write([[count], [count]], 5);
    const before = [await index.digest(), await index.store.readCheckpoint()];
    const tip = await newest();
    const again = { tip, blocks: [{ ...tip, logCount: 1 }], logs: [], finalized: 0 };
    await expect(writeBatch(index.store, again, createSampleFold())).rejects.toThrow(
      "blocks from 2 are to be written, but the index is at 2 already",
    );
    expect([await index.digest(), await index.store.readCheckpoint()]).toEqual(before);
  });

  it("is refused inside a batch that also brings new blocks", async () => {
    await index.write([[count], [count]], 5);
    const old = await newest();
    const tip = { ...old, number: 3 };
    const blocks = [old, tip].map((block) => ({ ...block, logCount: 0 }));
    await expect(
      writeBatch(index.store, { tip, blocks, logs: [], finalized: 0 }, createSampleFold()),
    ).rejects.toThrow("already");
    expect(await index.store.readCheckpoint()).toMatchObject({ block: { number: 2 } });
  });

  it("is refused for empty final blocks, of which only the tip is told", async () => {
    await index.write([[count], [count]], 0);
    const tip = await newest();
    await expect(
      writeBatch(index.store, { tip, blocks: [], logs: [], finalized: 2 }, createSampleFold()),
    ).rejects.toThrow("blocks from 2 are to be written");
  });

  it("is welcome again after a rollback", async () => {
    await index.write([[count], [count]], 5);
    await index.rollback(1);
    await index.write([[count]], 5);
    expect(await index.store.readCheckpoint()).toMatchObject({ block: { number: 2 }, finalized: 0 });
    const { rows } = await index.database.query("select times from tallies where valid_to is null");
    expect(rows).toEqual([{ times: "2" }]);
  });
});

describe("a fold that fails", () => {
  it("leaves neither rows nor logs nor a position behind", async () => {
    await index.write([[count]], 5);
    const before = [await index.digest(), await index.store.readCheckpoint(), await newest()];
    const tip = { ...(await newest()), number: 2 };
    const batch = { tip, blocks: [{ ...tip, logCount: 0 }], logs: [], finalized: 0 };
    const failing = writeBatch(index.store, batch, async () => {
      throw new Error("this event makes no sense");
    });
    await expect(failing).rejects.toThrow("this event makes no sense");
    expect([await index.digest(), await index.store.readCheckpoint(), await newest()]).toEqual(before);
  });
});

describe("the position", () => {
  it("never takes back what was final", async () => {
    await index.write([[], [], []], 1);
    expect(await index.store.readCheckpoint()).toMatchObject({ block: { number: 3 }, finalized: 2 });
    await index.write([[]], 4);
    expect(await index.store.readCheckpoint()).toMatchObject({ block: { number: 4 }, finalized: 2 });
  });

  it("does not call final what is not there yet", async () => {
    await index.write([[], []], -50);
    expect(await index.store.readCheckpoint()).toMatchObject({ block: { number: 2 }, finalized: 2 });
  });
});

describe("blocks", () => {
  it("are remembered where they have logs or can be undone, newest first", async () => {
    await index.write([[count], [], [], [count], []], 1);
    const numbers = async () =>
      (await index.store.readBlocksDescending(100, 100)).map(({ number }) => number);
    expect(await numbers()).toEqual([5, 4, 1]);
    await index.write([[], []], 4);
    expect(await numbers()).toEqual([7, 6, 5, 4, 1]);
    expect((await index.store.readBlocksDescending(6, 2)).map(({ number }) => number)).toEqual([6, 5]);
    await index.rollback(4);
    expect(await numbers()).toEqual([4, 1]);
  });

  it("keep their hashes until they are replaced", async () => {
    await index.write([[], []], 5);
    const [second, first] = await index.store.readBlocksDescending(2, 2);
    await index.rollback(1);
    await index.write([[]], 5);
    const [replaced, kept] = await index.store.readBlocksDescending(2, 2);
    expect(kept).toEqual(first);
    expect(replaced?.hash).not.toBe(second?.hash);
    expect(await index.store.readCheckpoint()).toMatchObject({ block: replaced });
  });
});

describe("a batch folded upon another", () => {
  it("does not hold on to the one before it", async () => {
    await index.write([[count]], 5);
    const block = await newest();
    const foldNext = (number: number, after: FoldedBatch | null) => {
      const tip = { ...block, number };
      const batch = { tip, blocks: [{ ...tip, logCount: 0 }], logs: [], finalized: 0 };
      return index.store.fold(batch, createSampleFold(), after);
    };
    let first: FoldedBatch | null = await foldNext(2, null);
    const held = new WeakRef(first);
    const second = await foldNext(3, first);
    first = null;
    await collectGarbage();
    expect(held.deref()).toBeUndefined();
    expect(second.write).toBeTypeOf("function");
  });
});

async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  // What a WeakRef has shown lives until the turn is over.
  for (let round = 0; round < 3; round += 1) {
    await nextTurn();
    collect();
  }
}
