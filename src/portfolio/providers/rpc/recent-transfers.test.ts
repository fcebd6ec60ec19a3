// The searched block range: shrinks for strict nodes and widens for inactive wallets, within limits.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { localChainConfig } from "../../../../tests/support/portfolio/portfolio-stage.ts";
import type { TransferFilter } from "../../../chain/logs/transfers.ts";
import { Fault } from "../../../lib/fault.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { PinnedChain, TransferLog } from "../../types.ts";
import { readRecentTransfers } from "./recent-transfers.ts";

const WALLET: Hex = `0x${"11".repeat(20)}`;
const { signal } = new AbortController();

function transferIn(blockNumber: number): TransferLog {
  const transactionHash: Hex = `0x${blockNumber.toString(16).padStart(64, "0")}`;
  return {
    contract: WALLET,
    from: WALLET,
    to: WALLET,
    transactionHash,
    blockNumber,
    blockTimestamp: null,
    logIndex: 0,
  };
}

/** A chain with transfers in the given blocks, whose node limits the range of a search. */
function chainOf(
  head: number,
  options: { readonly blocksMax?: number; readonly transfers?: readonly number[] } = {},
) {
  const searched: TransferFilter[] = [];
  const at: PinnedChain = {
    chain: { ...localChainConfig([]), blockTimeMs: 2_000 },
    block: { number: head, hash: `0x${"22".repeat(32)}`, timestamp: 1 },
    transfers: async (filter) => {
      searched.push(filter);
      if (filter.toBlock - filter.fromBlock + 1 > (options.blocksMax ?? Number.POSITIVE_INFINITY)) {
        throw new Fault("LOGS_TOO_LARGE", "too many blocks");
      }
      return (options.transfers ?? [])
        .filter((block) => block >= filter.fromBlock && block <= filter.toBlock)
        .map(transferIn);
    },
    read: async () => [],
    callWithOverride: async () => null,
    nativeBalance: async () => 0n,
    timestamps: async () => new Map(),
  };
  return { at, searched };
}

describe("the window", () => {
  it("ends at the pinned block and widens twice for an inactive wallet", async () => {
    const { at, searched } = chainOf(1_000_000);
    expect(await readRecentTransfers(at, WALLET, "to", signal)).toEqual({ logs: [], fromBlock: 790_001 });
    expect(searched.map(({ fromBlock, toBlock }) => [fromBlock, toBlock])).toEqual([
      [990_001, 1_000_000],
      [950_001, 990_000],
      [790_001, 950_000],
    ]);
  });

  it("does not widen once there is enough activity, nor below block 0", async () => {
    const busy = Array.from({ length: 25 }, (_, i) => 1_000_000 - i);
    const { at, searched } = chainOf(1_000_000, { transfers: busy });
    expect((await readRecentTransfers(at, WALLET, "to", signal)).logs).toHaveLength(25);
    expect(searched).toHaveLength(1);
    const young = chainOf(300);
    expect((await readRecentTransfers(young.at, WALLET, "to", signal)).fromBlock).toBe(0);
    expect(young.searched).toHaveLength(1);
  });

  it("keeps the newest blocks when the node rejects older ones", async () => {
    const { at, searched } = chainOf(1_000_000, { blocksMax: 10_000, transfers: [999_999, 1_000] });
    const found = await readRecentTransfers(at, WALLET, "to", signal);
    expect(found).toEqual({ logs: [transferIn(999_999)], fromBlock: 990_001 });
    expect(searched).toHaveLength(2);
  });

  it("shrinks for a strict node and gives up after four attempts", async () => {
    const strict = chainOf(1_000_000, { blocksMax: 50, transfers: [1_000_000] });
    const found = await readRecentTransfers(strict.at, WALLET, "to", signal);
    expect(found).toEqual({ logs: [transferIn(1_000_000)], fromBlock: 999_982 });
    const closed = chainOf(1_000_000, { blocksMax: 0 });
    await expect(readRecentTransfers(closed.at, WALLET, "to", signal)).rejects.toMatchObject({
      code: "LOGS_TOO_LARGE",
    });
    expect(closed.searched).toHaveLength(5);
  });

  it("stays within bounds for any node and chain", async () => {
    const arbitrary = {
      head: fc.nat(100_000),
      blocksMax: fc.nat(200_000),
      transfers: fc.array(fc.nat(100_000)),
    };
    await fc.assert(
      fc.asyncProperty(fc.record(arbitrary), async ({ head, blocksMax, transfers }) => {
        const { at, searched } = chainOf(head, { blocksMax, transfers });
        const found = await readRecentTransfers(at, WALLET, "from", signal).catch(() => null);
        expect(searched.length).toBeLessThanOrEqual(7);
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
    const { at } = chainOf(1_000_000, { transfers: [999_999] });
    const hang = (_: TransferFilter, abort: AbortSignal) =>
      new Promise<never>((_resolve, reject) => abort.addEventListener("abort", () => reject(abort.reason)));
    await expect(
      readRecentTransfers({ ...at, transfers: hang }, WALLET, "to", signal, 20),
    ).rejects.toMatchObject({
      name: "TimeoutError",
    });
    const first: PinnedChain["transfers"] = (filter, abort) =>
      filter.toBlock === 1_000_000 ? at.transfers(filter, abort) : hang(filter, abort);
    expect(await readRecentTransfers({ ...at, transfers: first }, WALLET, "to", signal, 20)).toEqual({
      logs: [transferIn(999_999)],
      fromBlock: 990_001,
    });
  });

  it("rejects with the reason of an aborted signal", async () => {
    const { at } = chainOf(1_000);
    const reason = new Error("aborted");
    const failing = { ...at, transfers: async () => Promise.reject(reason) };
    await expect(readRecentTransfers(failing, WALLET, "to", AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
