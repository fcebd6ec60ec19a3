// Block production and chain time, either controlled by the simulator or left to the chain.

import type { RpcRequestFunction } from "@sextant/contracts/deploy/rpc-request";
import { awaitReceipt, type TransactionReceipt } from "@sextant/contracts/deploy/transaction";
import type { Hex } from "viem";

export type Timeline = {
  /** Seconds; the next block is not earlier. */
  now(): Promise<bigint>;
  /** Sends signed transactions in order and resolves once all are in blocks. */
  include(transactions: AsyncIterable<Hex>): Promise<readonly TransactionReceipt[]>;
  /** Present only if the simulator mines. */
  readonly control?: {
    /** Mines blocks without transactions. */
    idle(blocks: number): Promise<void>;
    /** Delays the next block's timestamp. */
    skip(seconds: bigint): void;
  };
  /** Restores the chain's mining mode. */
  end(): Promise<void>;
};

/** Far more blocks than one batch fills: a transaction not included by then never will be. */
const BLOCKS_PER_BATCH_MAX = 20;

/** The block time of the networks that the protocol targets. */
const SECONDS_PER_BLOCK = 2n;

/**
 * Takes over mining on an in-process chain: blocks, their transactions and timestamps never depend on the wall clock.
 * `start` is the timestamp of the first block, after that of the head.
 */
export async function scriptedTimeline(request: RpcRequestFunction, start: bigint): Promise<Timeline> {
  const head = (await request("eth_getBlockByNumber", ["latest", false])) as { timestamp: Hex };
  if (start <= BigInt(head.timestamp)) {
    throw new RangeError(
      `The timeline starts at ${start}, but the chain is already at ${BigInt(head.timestamp)}`,
    );
  }
  const wasAutomatic = (await request("hardhat_getAutomine")) === true;
  await request("evm_setAutomine", [false]);

  let next = start;
  const mine = async (): Promise<void> => {
    await request("evm_mine", [`0x${next.toString(16)}`]);
    next += SECONDS_PER_BLOCK;
  };
  return {
    now: async () => next,
    include: async (transactions) => {
      const hashes = await submitPipelined(request, transactions);
      let receipts: (TransactionReceipt | null)[] = [];
      for (let blocks = 0; blocks < BLOCKS_PER_BATCH_MAX; blocks += 1) {
        await mine();
        receipts = (await Promise.all(
          hashes.map((hash) => request("eth_getTransactionReceipt", [hash])),
        )) as (TransactionReceipt | null)[];
        if (receipts.every((receipt) => receipt !== null)) return receipts;
      }
      throw new Error(
        `Transaction ${hashes[receipts.indexOf(null)]} fits into none of ${BLOCKS_PER_BATCH_MAX} blocks`,
      );
    },
    control: {
      idle: async (blocks) => {
        for (let mined = 0; mined < blocks; mined += 1) await mine();
      },
      skip: (seconds) => {
        next += seconds;
      },
    },
    end: async () => {
      if (wasAutomatic) await request("evm_setAutomine", [true]);
    },
  };
}

/** Leaves mining to the chain: instant, on an interval, together with transactions of others. */
export function chainTimeline(request: RpcRequestFunction): Timeline {
  return {
    now: async () => {
      const pending = (await request("eth_getBlockByNumber", ["pending", false])) as { timestamp: Hex };
      return BigInt(pending.timestamp);
    },
    include: async (transactions) => {
      const hashes = await submitOneByOne(request, transactions);
      return Promise.all(hashes.map((hash) => awaitReceipt(request, hash)));
    },
    end: async () => undefined,
  };
}

/** In process, requests arrive in order: sign the next transaction while the chain handles this one. */
async function submitPipelined(
  request: RpcRequestFunction,
  transactions: AsyncIterable<Hex>,
): Promise<Hex[]> {
  const hashes: Promise<Hex>[] = [];
  for await (const transaction of transactions) {
    const hash = request("eth_sendRawTransaction", [transaction]) as Promise<Hex>;
    // Awaited below with the others; until then a rejection must not count as unhandled.
    hash.catch(() => undefined);
    hashes.push(hash);
  }
  return Promise.all(hashes);
}

/** Over HTTP, requests sent together may arrive in any order. */
async function submitOneByOne(request: RpcRequestFunction, transactions: AsyncIterable<Hex>): Promise<Hex[]> {
  const hashes: Hex[] = [];
  for await (const transaction of transactions) {
    hashes.push((await request("eth_sendRawTransaction", [transaction])) as Hex);
  }
  return hashes;
}
