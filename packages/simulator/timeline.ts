// Who makes the blocks of a scenario, and what time it is in them.

import type { RpcRequestFunction } from "@sextant/contracts/deploy/rpc-request";
import { awaitReceipt, type TransactionReceipt } from "@sextant/contracts/deploy/transaction";
import type { Hex } from "viem";

export type Timeline = {
  /** A time the next block is not before, in seconds. */
  now(): Promise<bigint>;
  /** Takes signed transactions in the order they come and resolves once all are in blocks. */
  include(transactions: AsyncIterable<Hex>): Promise<readonly TransactionReceipt[]>;
  /** Only where blocks are ours to make. */
  readonly control?: {
    /** Mines blocks without transactions. */
    idle(blocks: number): Promise<void>;
    /** Lets time pass before the next block. */
    skip(seconds: bigint): void;
  };
  /** Leaves the chain as it was found. */
  end(): Promise<void>;
};

export type ScriptedOptions = {
  /** Timestamp of the first block, after that of the head. */
  readonly start: bigint;
  readonly secondsPerBlock?: bigint;
};

/** Far more blocks than one batch ever fills: whoever is not included by then never will be. */
const BLOCKS_PER_BATCH_MAX = 20;

/** The rhythm of the networks the protocol lives on. */
const SECONDS_PER_BLOCK = 2n;

/** Takes over mining on a chain asked in process: every block, its transactions and its timestamp follow from what is asked, never from the wall clock. */
export async function scriptedTimeline(
  request: RpcRequestFunction,
  options: ScriptedOptions,
): Promise<Timeline> {
  const { secondsPerBlock = SECONDS_PER_BLOCK } = options;
  const head = (await request("eth_getBlockByNumber", ["latest", false])) as { timestamp: Hex };
  if (options.start <= BigInt(head.timestamp)) {
    throw new RangeError(
      `The script starts at ${options.start}, but the chain is already at ${BigInt(head.timestamp)}`,
    );
  }
  const wasAutomatic = (await request("hardhat_getAutomine")) === true;
  await request("evm_setAutomine", [false]);

  let next = options.start;
  const mine = async (): Promise<void> => {
    await request("evm_mine", [`0x${next.toString(16)}`]);
    next += secondsPerBlock;
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

/** Lives with the chain as it is: at once, on an interval, beside other people's transactions. */
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

/** In process the order of asking is the order of arrival: the next is signed while the chain looks at this one. */
async function submitPipelined(
  request: RpcRequestFunction,
  transactions: AsyncIterable<Hex>,
): Promise<Hex[]> {
  const answers: Promise<Hex>[] = [];
  for await (const transaction of transactions) {
    const answer = request("eth_sendRawTransaction", [transaction]) as Promise<Hex>;
    // Looked at below, together with the others; until then a refusal must not count as unhandled.
    answer.catch(() => undefined);
    answers.push(answer);
  }
  return Promise.all(answers);
}

/** Over HTTP, requests sent together may arrive in any order. */
async function submitOneByOne(request: RpcRequestFunction, transactions: AsyncIterable<Hex>): Promise<Hex[]> {
  const hashes: Hex[] = [];
  for await (const transaction of transactions) {
    hashes.push((await request("eth_sendRawTransaction", [transaction])) as Hex);
  }
  return hashes;
}
