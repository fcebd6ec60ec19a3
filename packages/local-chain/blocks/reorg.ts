// Reorgs: replaces the last blocks by others on the same parent, with all, some or none of their transactions.
import {
  formatTransaction,
  type Hex,
  isAddressEqual,
  keccak256,
  type RpcTransaction,
  recoverTransactionAddress,
  serializeTransaction,
  stringToHex,
  type TransactionSerialized,
} from "viem";
import type { EdrProvider } from "../edr-provider.ts";
import { JsonRpcError } from "../rpc/json-rpc-error.ts";
import type { Subscriptions } from "../rpc/subscriptions.ts";
import type { BlockHistory } from "./block-history.ts";
import type { BlockProducer } from "./block-producer.ts";

/**
 * Rebuilds the signed bytes of a transaction from its RPC record, so that a fork can include it again. Rejects one that
 * its sender never signed (an impersonated account): no fork could include it.
 */
async function rawTransaction(record: RpcTransaction): Promise<Hex> {
  const { input, r, s, v, yParity, ...fields } = formatTransaction(record);
  const raw = serializeTransaction({ ...fields, data: input } as Parameters<typeof serializeTransaction>[0], {
    r,
    s,
    v,
    yParity: yParity ?? Number(v),
  });
  const message = `Transaction ${record.hash} carries no signature of its sender and cannot be included again`;
  const signer = await recoverTransactionAddress({
    serializedTransaction: raw as TransactionSerialized,
  }).catch((cause: unknown) => {
    throw new Error(message, { cause });
  });
  if (!isAddressEqual(signer, record.from)) throw new Error(message);
  return raw;
}

export type ReorgOptions = {
  /** How many blocks replace the removed ones; as many as were removed by default, 0 only takes them away. */
  readonly blocks?: number;
  /** The transactions of the removed blocks that are sent again, in their old order, before the first new block. */
  readonly replay?: "none" | "all" | ((transaction: RpcTransaction) => boolean);
};

export type ReorgBlock = { readonly number: bigint; readonly hash: Hex };

export type Reorg = {
  /** The last block both branches share. */
  readonly parent: ReorgBlock;
  readonly removed: readonly ReorgBlock[];
  readonly added: readonly ReorgBlock[];
  /**
   * Transactions of the removed blocks that the new branch accepted: mined again, or pending if the blocks are full.
   */
  readonly replayed: readonly Hex[];
  /** Transactions that are gone: not replayed, or no longer valid on the new branch. */
  readonly dropped: readonly Hex[];
};

type ReorgContext = {
  readonly edr: EdrProvider;
  readonly history: BlockHistory;
  readonly producer: BlockProducer;
  readonly subscriptions: Subscriptions;
};

type Block = {
  readonly number: Hex;
  readonly hash: Hex;
  readonly timestamp: Hex;
  readonly transactions: readonly RpcTransaction[];
};

export async function reorganizeChain(
  { edr, history, producer, subscriptions }: ReorgContext,
  depth: number,
  salt: number,
  { blocks = depth, replay = "none" }: ReorgOptions,
): Promise<Reorg> {
  const head = history.head;
  const parentNumber = head - BigInt(depth);
  const parent = await readBlock(edr, parentNumber);
  const removed = await readBlocks(edr, parentNumber + 1n, head);
  const isReplayed = typeof replay === "function" ? replay : () => replay === "all";
  const transactions = removed.flatMap((block) => block.transactions);
  // Reject what cannot be replayed here, before anything is undone.
  const again = await Promise.all(
    transactions.filter((transaction) => isReplayed(transaction)).map(toSigned),
  );
  const pending = await Promise.all((await readPending(edr)).map(toSigned));

  await subscriptions.retractLogs(parentNumber + 1n, head);
  const clock = await readClockOffset(edr);
  await history.revertTo(parentNumber);
  await (blocks > 0 ? setClock(edr, clock, parent) : restoreClock(edr, clock));
  // The snapshot restored an old mempool, in which mined transactions are still pending.
  for (const { hash } of await readPending(edr)) await edr.request("hardhat_dropTransaction", [hash]);
  // Same parent, same second, same transactions would give the same hash.
  await edr.request("hardhat_setPrevRandao", [keccak256(stringToHex(`branch ${salt}`))]);
  await history.snapshotHead();

  const accepted = new Set<Hex>();
  await producer.withoutAutomine(async () => {
    for (const transaction of again) if (await resend(edr, transaction)) accepted.add(transaction.hash);
    await producer.mine(blocks);
    // Transactions pending before the reorg stay pending.
    for (const transaction of pending) await resend(edr, transaction);
  });

  return {
    parent: toRef(parent),
    removed: removed.map(toRef),
    added: (await readBlocks(edr, parentNumber + 1n, history.head)).map(toRef),
    replayed: transactions.map(({ hash }) => hash).filter((hash) => accepted.has(hash)),
    dropped: transactions.map(({ hash }) => hash).filter((hash) => !accepted.has(hash)),
  };
}

type Signed = { readonly hash: Hex; readonly raw: Hex };

async function toSigned(transaction: RpcTransaction): Promise<Signed> {
  return { hash: transaction.hash, raw: await rawTransaction(transaction) };
}

/** False if the branch rejects it, as when the sender's money came from a dropped transaction. */
async function resend(edr: EdrProvider, { raw }: Signed): Promise<boolean> {
  try {
    await edr.request("eth_sendRawTransaction", [raw]);
    return true;
  } catch (error) {
    if (error instanceof JsonRpcError) return false;
    throw error;
  }
}

/** Seconds between chain time and the wall clock; increasing by nothing is EDR's way to read it. */
async function readClockOffset(edr: EdrProvider): Promise<bigint> {
  return BigInt(JSON.parse(await edr.request("evm_increaseTime", [0])));
}

/** Returning to a snapshot turns the clock back too; a reorg does not. */
async function restoreClock(edr: EdrProvider, offset: bigint): Promise<void> {
  const lag = offset - (await readClockOffset(edr));
  if (lag > 0n) await edr.request("evm_increaseTime", [`0x${lag.toString(16)}`]);
}

/**
 * A snapshot may also restore a clock that is a second ahead and cannot be turned back: every reorg would take the
 * chain further into the future. Setting the time of the next block moves the clock.
 */
async function setClock(edr: EdrProvider, offset: bigint, parent: Block): Promise<void> {
  const wanted = BigInt(Math.floor(Date.now() / 1000)) + offset;
  const earliest = BigInt(parent.timestamp);
  const next = wanted > earliest ? wanted : earliest;
  await edr.request("evm_setNextBlockTimestamp", [`0x${next.toString(16)}`]);
}

async function readPending(edr: EdrProvider): Promise<readonly RpcTransaction[]> {
  return JSON.parse(await edr.request("eth_pendingTransactions", []));
}

async function readBlock(edr: EdrProvider, number: bigint): Promise<Block> {
  return JSON.parse(await edr.request("eth_getBlockByNumber", [`0x${number.toString(16)}`, true]));
}

async function readBlocks(edr: EdrProvider, from: bigint, to: bigint): Promise<readonly Block[]> {
  const blocks: Block[] = [];
  for (let number = from; number <= to; number += 1n) blocks.push(await readBlock(edr, number));
  return blocks;
}

function toRef({ number, hash }: Block): ReorgBlock {
  return { number: BigInt(number), hash };
}
