// Remembered transfers: whatever was searched before, a search returns what the chain has, and asks only for what is new.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openFailingChain } from "../../tests/support/chain/recorded-chain.ts";
import {
  makeChainConfig,
  numberedContract,
  TEST_WALLET,
} from "../../tests/support/portfolio/portfolio-parts.ts";
import { runsOf } from "../../tests/support/test-depth.ts";
import { readWithMemory } from "./log-memory.ts";
import type { ChainConfig, TransferLog } from "./types.ts";

const { signal } = new AbortController();
/** A block is final when ten more have been made. */
const FINAL_BLOCKS = 10;
const openChain = (): ChainConfig => ({
  ...makeChainConfig("base", 8453),
  blockTimeMs: 3_600_000 / FINAL_BLOCKS,
});

const logAt = (blockNumber: number, logIndex = 0): TransferLog => ({
  ...{ contract: numberedContract(1), from: TEST_WALLET, to: TEST_WALLET },
  ...{ transactionHash: "0x", blockNumber, blockTimestamp: null, logIndex, amount: 1n },
});

type Range = { readonly fromBlock: number; readonly toBlock: number };

/** A node whose logs may change, and the ranges that it was asked for. */
function openSearch(chain: ChainConfig, logsOf: () => readonly TransferLog[]) {
  const asked: Range[] = [];
  let nowMs = 0;
  return {
    asked,
    wait: (ms: number) => {
      nowMs += ms;
    },
    read: (
      head: number,
      range: Range,
      options: { readonly asOf?: boolean; readonly side?: "from" | "to" } = {},
    ) => {
      const { asOf = false, side = "to" } = options;
      const block = { number: head, hash: "0xab", timestamp: 1_700_000_000 } as const;
      const at = { ...openFailingChain({ chain, calls: [] }), block, asOf };
      const readRange = async (part: Range) => {
        asked.push(part);
        return logsOf().filter(({ blockNumber: at }) => at >= part.fromBlock && at <= part.toBlock);
      };
      return readWithMemory(at, { wallet: TEST_WALLET, kind: side, readRange }, () => nowMs)(range, signal);
    },
  };
}

describe("remembered transfers", () => {
  it("searches only blocks that are new or not final, and returns all that earlier ones have", async () => {
    const logs = [logAt(3), logAt(50), logAt(50, 1), logAt(95)];
    const search = openSearch(openChain(), () => logs);
    expect(await search.read(100, { fromBlock: 1, toBlock: 100 })).toEqual(logs);
    logs.push(logAt(101));
    expect(await search.read(101, { fromBlock: 2, toBlock: 101 })).toEqual(logs);
    expect(search.asked).toEqual([
      { fromBlock: 1, toBlock: 100 },
      { fromBlock: 91, toBlock: 101 },
    ]);
  });

  it("remembers each side by itself, and nothing for a request as of a block", async () => {
    const search = openSearch(openChain(), () => []);
    const range = { fromBlock: 1, toBlock: 80 };
    await search.read(100, range);
    await search.read(100, range, { side: "from" });
    await search.read(100, range, { asOf: true });
    await search.read(100, range);
    expect(search.asked).toEqual([range, range, range]);
  });

  it("searches again after ten minutes, and where a node is behind what is remembered", async () => {
    const search = openSearch(openChain(), () => []);
    const range = { fromBlock: 1, toBlock: 80 };
    await search.read(100, range);
    await search.read(85, range);
    search.wait(600_000);
    await search.read(100, range);
    expect(search.asked).toEqual([range, range, range]);
  });

  it("searches again after ten minutes what a search that took longer than them had remembered", async () => {
    let tookMs = 0;
    const search = openSearch(openChain(), () => {
      search.wait(tookMs);
      return [];
    });
    await search.read(100, { fromBlock: 1, toBlock: 80 });
    search.wait(599_000);
    tookMs = 2_000;
    await search.read(100, { fromBlock: 1, toBlock: 85 });
    search.wait(300_000);
    await search.read(100, { fromBlock: 1, toBlock: 80 });
    expect(search.asked).toEqual([
      { fromBlock: 1, toBlock: 80 },
      { fromBlock: 81, toBlock: 85 },
      { fromBlock: 1, toBlock: 80 },
    ]);
  });

  it("remembers nothing of a search that fails", async () => {
    const chain = openChain();
    const failing = openSearch(chain, () => {
      throw new Error("no logs");
    });
    const range = { fromBlock: 1, toBlock: 80 };
    await expect(failing.read(100, range)).rejects.toThrow("no logs");
    const search = openSearch(chain, () => [logAt(5)]);
    expect(await search.read(100, range)).toEqual([logAt(5)]);
  });

  it("ends the search of one part when that of the other fails", async () => {
    const chain = openChain();
    await openSearch(chain, () => []).read(200, { fromBlock: 50, toBlock: 100 });
    const block = { number: 200, hash: "0xab", timestamp: 1_700_000_000 } as const;
    const at = { ...openFailingChain({ chain, calls: [] }), block, asOf: false };
    const stopped: Range[] = [];
    const readRange = (part: Range, stop: AbortSignal) =>
      new Promise<never>((_, reject) => {
        if (part.fromBlock < 50) reject(new Error("too many blocks"));
        stop.addEventListener("abort", () => stopped.push(part));
      });
    const read = readWithMemory(at, { wallet: TEST_WALLET, kind: "to", readRange }, () => 0);
    await expect(read({ fromBlock: 1, toBlock: 150 }, signal)).rejects.toThrow("too many blocks");
    expect(stopped).toContainEqual({ fromBlock: 101, toBlock: 150 });
  });

  it("returns the same as a search of everything, whatever was searched before", async () => {
    const step = fc.record({
      mined: fc.nat({ max: 30 }),
      from: fc.nat({ max: 200 }),
      length: fc.nat({ max: 80 }),
    });
    const positions = fc.uniqueArray(fc.nat({ max: 300 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(positions, fc.array(step, { maxLength: 12 }), async (blocks, steps) => {
        let head = 40;
        const logs = blocks.toSorted((a, b) => a - b).map((block) => logAt(block));
        const known = () => logs.filter(({ blockNumber }) => blockNumber <= head);
        const search = openSearch(openChain(), known);
        for (const { mined, from, length } of steps) {
          head += mined;
          const range = { fromBlock: Math.min(from, head), toBlock: Math.min(head, from + length) };
          const expected = known().filter(
            ({ blockNumber: at }) => at >= range.fromBlock && at <= range.toBlock,
          );
          expect(await search.read(head, range)).toEqual(expected);
        }
      }),
      { numRuns: runsOf(300) },
    );
  });
});
