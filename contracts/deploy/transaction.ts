// Signed transactions with a nonce of our choosing, and the receipts they end in.
import { setTimeout as sleep } from "node:timers/promises";
import type { Address, Hex, PrivateKeyAccount } from "viem";
import type { RpcRequestFunction } from "./rpc-request.ts";

export type TransactionCall = {
  /** Left out to create a contract. */
  readonly to?: Address;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly gas?: bigint;
};

export type CallFees = { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint };

export type ReceiptLog = {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
};

/** The part of an RPC receipt that is used here, as the node words it. */
export type TransactionReceipt = {
  readonly transactionHash: Hex;
  readonly status: Hex;
  readonly blockNumber: Hex;
  readonly contractAddress: Address | null;
  readonly logs: readonly ReceiptLog[];
};

/** Cheap for a local chain, also for one with slow blocks. */
const RECEIPT_POLL_MS = 50;

/** Sixty blocks of a two-second chain: a transaction not included by then will not be. */
const RECEIPT_WAIT_MS_MAX = 120_000;

/** Lets the base fee double before the transaction is included. */
export async function currentFees(request: RpcRequestFunction): Promise<CallFees> {
  const [tip, head] = await Promise.all([
    request("eth_maxPriorityFeePerGas") as Promise<Hex>,
    request("eth_getBlockByNumber", ["latest", false]) as Promise<{ baseFeePerGas: Hex }>,
  ]);
  const maxPriorityFeePerGas = BigInt(tip);
  return { maxFeePerGas: 2n * BigInt(head.baseFeePerGas) + maxPriorityFeePerGas, maxPriorityFeePerGas };
}

/** The nonce after everything the node knows of, mined or not. */
export async function nextNonce(request: RpcRequestFunction, address: Address): Promise<number> {
  return Number((await request("eth_getTransactionCount", [address, "pending"])) as Hex);
}

export function signCall(
  account: PrivateKeyAccount,
  call: TransactionCall & { readonly gas: bigint },
  envelope: CallFees & { readonly chainId: number; readonly nonce: number },
): Promise<Hex> {
  return account.signTransaction({ type: "eip1559", ...envelope, ...call });
}

/** Waits until the transaction is in a block. */
export async function awaitReceipt(request: RpcRequestFunction, hash: Hex): Promise<TransactionReceipt> {
  const giveUpAt = performance.now() + RECEIPT_WAIT_MS_MAX;
  for (;;) {
    const receipt = (await request("eth_getTransactionReceipt", [hash])) as TransactionReceipt | null;
    if (receipt !== null) return receipt;
    if (performance.now() > giveUpAt) {
      throw new Error(`Transaction ${hash} was not mined within ${RECEIPT_WAIT_MS_MAX / 1000} seconds`);
    }
    await sleep(RECEIPT_POLL_MS);
  }
}
