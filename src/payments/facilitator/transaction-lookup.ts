// The status of our transactions and of authorizations, as the node has them now.
import {
  hexToBigInt,
  numberToHex,
  type PublicClient,
  slice,
  TransactionNotFoundError,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  WaitForTransactionReceiptTimeoutError,
} from "viem";
import { type NodeLog, parseLog } from "../../chain/logs/log.ts";
import { addressToTopic } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import { depositIntoChannel } from "../channels/channel-calls.ts";
import type { PaymentKey } from "../ledger/row.ts";
import { authorizationState } from "../settlement/onchain.ts";
import { AUTHORIZATION_CANCELED_TOPIC, AUTHORIZATION_USED_TOPIC } from "../settlement/onchain-blocks.ts";
import { readFunction } from "./broadcast/viem-client.ts";
import { balanceOf } from "./payer-checks.ts";

export type TransactionStatus =
  | { readonly kind: "succeeded" }
  | { readonly kind: "reverted"; readonly gasUsed: bigint; readonly blockNumber: bigint }
  /** In the mempool, without a nonce gap before it. */
  | { readonly kind: "pending" }
  /** Unknown to the node, or behind a nonce gap: it must be sent again to be mined. */
  | { readonly kind: "missing" };

// The position of validBefore in a call of transferWithAuthorization(from, to, value, validAfter, validBefore, …):
// after the selector and four words. In a deposit into a channel it is the second word of the last argument: after the
// selector, ten words of arguments, the length and one word.
const VALID_BEFORE_AT = 132;
const VALID_BEFORE_OF_DEPOSIT_AT = 388;
// Nodes without an archive have the state of 128 blocks.
const STATE_BLOCKS = 64n;
// A transfer is simulated seconds before it is mined; every vendor accepts this range.
const RANGE_BLOCKS = 1_000n;
// A revert may be looked up long after it was mined; the use of the authorization that caused it is close to it.
const RANGES_MAX = 10;

export class TransactionLookup {
  readonly #client: PublicClient;
  readonly #confirmationMs: number;

  constructor(client: PublicClient, confirmationMs: number) {
    this.#client = client;
    this.#confirmationMs = confirmationMs;
  }

  /** Whether the node has it, mined or pending. */
  async hasTransaction(hash: Hex): Promise<boolean> {
    return (await this.#findTransaction(hash)) !== null;
  }

  #findTransaction(hash: Hex) {
    return this.#client.getTransaction({ hash }).catch((error: unknown) => {
      if (error instanceof TransactionNotFoundError) return null;
      throw error;
    });
  }

  async readStatus(hash: Hex, payment: PaymentKey): Promise<TransactionStatus> {
    try {
      return statusIn(await this.#client.getTransactionReceipt({ hash }), payment);
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError)) throw error;
      return { kind: (await this.#isNextInLine(hash)) ? "pending" : "missing" };
    }
  }

  /** "pending" if it was not mined in time. */
  async waitUntilMined(hash: Hex, payment: PaymentKey): Promise<TransactionStatus> {
    const options = { hash, timeout: this.#confirmationMs, checkReplacement: false };
    try {
      return statusIn(await this.#client.waitForTransactionReceipt(options), payment);
    } catch (error) {
      if (!(error instanceof WaitForTransactionReceiptTimeoutError)) throw error;
      return { kind: "pending" };
    }
  }

  async #isNextInLine(hash: Hex): Promise<boolean> {
    const found = await this.#findTransaction(hash);
    if (found === null) return false;
    // Reads the transaction's own sender: the key may have been another one when it was sent.
    const { blockNumber, nonce, from: address } = found;
    if (blockNumber !== null) return true;
    return nonce < (await this.#client.getTransactionCount({ address, blockTag: "pending" }));
  }

  readBalance({ asset, payer }: Pick<PaymentKey, "asset" | "payer">): Promise<bigint> {
    return readFunction(this.#client, balanceOf, { to: asset, args: [payer] });
  }

  /** Whether a mined transaction was pending until its authorization had expired. */
  async hasExpiredInMempool(hash: Hex, blockNumber: bigint): Promise<boolean> {
    const [{ input, maxFeePerGas }, block, parent] = await Promise.all([
      this.#client.getTransaction({ hash }),
      this.#client.getBlock({ blockNumber }),
      this.#client.getBlock({ blockNumber: blockNumber - 1n }),
    ]);
    const isDeposit = input.startsWith(depositIntoChannel.selector);
    const at = isDeposit ? VALID_BEFORE_OF_DEPOSIT_AT : VALID_BEFORE_AT;
    const validBefore = hexToBigInt(slice(input, at, at + 32));
    if (block.timestamp < validBefore) return false;
    // Mined in the block after it was sent, it was not pending: it was signed to expire before that block.
    const wasPricedOut = (parent.baseFeePerGas ?? 0n) > (maxFeePerGas ?? 0n);
    return wasPricedOut || parent.timestamp >= validBefore;
  }

  /** Whether the authorization was carried out, by us or anyone else, around a block or later. */
  async wasAuthorizationUsed({ asset, payer, nonce }: PaymentKey, blockNumber: bigint): Promise<boolean> {
    const client = this.#client;
    const head = await client.getBlockNumber();
    // At the block of the revert itself, which a node that is behind does not have. Long afterwards nodes have dropped
    // its state, and none is behind it.
    const at = head > blockNumber + STATE_BLOCKS ? {} : { blockNumber };
    const call = { to: asset, args: [payer, nonce] as const, ...at };
    if (!(await readFunction(client, authorizationState, call))) return false;
    let fromBlock = blockNumber >= RANGE_BLOCKS ? blockNumber - RANGE_BLOCKS + 1n : 0n;
    for (let ranges = 0; ranges < RANGES_MAX && fromBlock <= head; ranges += 1) {
      const lastBlock = fromBlock + RANGE_BLOCKS - 1n;
      const range = { fromBlock, toBlock: lastBlock < head ? lastBlock : head };
      const readLogs = (topic0: Hex) =>
        readAuthorizationLogs(client, asset, [topic0, addressToTopic(payer), nonce], range);
      const [uses, cancellations] = await Promise.all([
        readLogs(AUTHORIZATION_USED_TOPIC),
        readLogs(AUTHORIZATION_CANCELED_TOPIC),
      ]);
      if (uses.length + cancellations.length > 0) return uses.length > 0;
      fromBlock += RANGE_BLOCKS;
    }
    // A node that omits the log must not get a payer blocked.
    throw new Error("the use of an authorization is not in the logs");
  }
}

function statusIn(receipt: TransactionReceipt, payment: PaymentKey): TransactionStatus {
  const { status, gasUsed, blockNumber, logs } = receipt;
  if (status === "reverted") return { kind: "reverted", gasUsed, blockNumber };
  const isUse = ({ address, topics }: TransactionReceipt["logs"][number]) =>
    address.toLowerCase() === payment.asset && topics[2] === payment.nonce;
  if (!logs.some(isUse)) {
    throw new Error(`transaction ${receipt.transactionHash} used another authorization`);
  }
  return { kind: "succeeded" };
}

/** A log that was not requested does not count. */
async function readAuthorizationLogs(
  client: PublicClient,
  asset: Hex,
  topics: readonly [Hex, Hex, Hex],
  range: { readonly fromBlock: bigint; readonly toBlock: bigint },
): Promise<readonly NodeLog[]> {
  const filter = {
    address: asset,
    topics: [...topics],
    fromBlock: numberToHex(range.fromBlock),
    toBlock: numberToHex(range.toBlock),
  };
  const logs: unknown = await client.request({ method: "eth_getLogs", params: [filter] });
  if (!Array.isArray(logs)) throw new Error("the logs are not a list");
  const isRequested = (log: NodeLog) =>
    log.address === asset && topics.every((topic, index) => log.topics[index] === topic);
  return logs.map(parseLog).filter(isRequested);
}
