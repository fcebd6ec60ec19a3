// Receipts of transactions, each proven to be in the block that the index names, and kept: a proof of a block does not change.
import { readBlockTime, wholeHeaderCall } from "../../chain/headers.ts";
import { encodeCheckedHeader } from "../../chain/proofs/header.ts";
import { encodeReceipts, proveListItem } from "../../chain/proofs/receipt-trie.ts";
import { toQuantity } from "../../chain/rpc/hex-values.ts";
import { type PinnedRpc, rawCall } from "../../chain/rpc/types.ts";
import type { Hex } from "../../lib/hex.ts";
import type { JsonObject } from "../../lib/json.ts";
import { LruMap } from "../../lib/lru-map.ts";
import type { RecordLog } from "../../schema/reads/record-proofs.ts";

/** The transaction of an event; the block's hash is null if the record does not name it. */
export type RecordEventOrigin = {
  readonly block: number;
  readonly blockHash: Hex | null;
  readonly txHash: string;
};

export type ProvenReceipt = Pick<RecordLog, "block" | "header" | "nodes" | "transaction"> & {
  /** In seconds. */
  readonly timestamp: number;
  /** As the node sent them. */
  readonly logs: readonly unknown[];
};

/** `too_long` for a block with more than anyone should get for a free request. */
type FoundReceipt = ProvenReceipt | "no_log" | "too_long";

// Without eth_getBlockReceipts each receipt is a call.
const TRANSACTIONS_MAX = 500;
const SINGLE_RECEIPTS_MAX = 300;
// A receipt has all logs of its transaction. Beyond this, an event is not worth its proof.
const CHARS_MAX = 256 * 1024;
// Together at most 16 million characters, and as much again for the logs.
const KEPT_MAX = 64;

export class ProvenReceipts {
  readonly #kept = new LruMap<string, FoundReceipt>(KEPT_MAX);

  async find(node: PinnedRpc, origin: RecordEventOrigin, signal: AbortSignal): Promise<FoundReceipt> {
    const { block, txHash } = origin;
    // A record names the block of its fill by number: what is kept is found by the hash that the node has there.
    const blockHash = origin.blockHash ?? (await readBlockHash(node, block, signal));
    if (blockHash === null) return "no_log";
    const key = `${blockHash}:${txHash}`;
    const found = this.#kept.get(key) ?? (await readReceipt(node, { block, blockHash, txHash }, signal));
    // Another node, or the same one later, may have what this one lacks.
    if (found !== "no_log") this.#kept.set(key, found);
    return found;
  }
}

async function readBlockHash(node: PinnedRpc, block: number, signal: AbortSignal): Promise<Hex | null> {
  const [header] = await node.batch([wholeHeaderCall(block)], { signal });
  const hash = "ok" in header ? header.ok.hash : null;
  return typeof hash === "string" ? (hash as Hex) : null;
}

/** `no_log` if the node does not have the block of the index, its receipts, or sends others than the block's. */
async function readReceipt(
  node: PinnedRpc,
  { block: number, blockHash: hash, txHash }: RecordEventOrigin & { readonly blockHash: Hex },
  signal: AbortSignal,
): Promise<FoundReceipt> {
  const [header, whole] = await node.batch(
    [wholeHeaderCall(hash), rawCall("eth_getBlockReceipts", [toQuantity(number)])],
    { signal },
  );
  if ("error" in header) return "no_log";
  const checked = encodeCheckedHeader(header.ok, hash);
  const { transactions } = header.ok;
  if (checked === null || !Array.isArray(transactions)) return "no_log";
  if (transactions.length > TRANSACTIONS_MAX) return "too_long";
  const receipts =
    "ok" in whole && Array.isArray(whole.ok) ? whole.ok : await readReceipts(node, transactions, signal);
  if (receipts?.length !== transactions.length) return "no_log";
  const proven = await proveReceipt(receipts, txHash, checked.receiptsRoot);
  if (typeof proven === "string") return proven;
  const timestamp = readBlockTime(header.ok.timestamp);
  const block = { number: String(number), hash, timestamp: new Date(timestamp * 1_000).toISOString() };
  return { ...proven, block, header: checked.rlp, timestamp };
}

async function proveReceipt(
  receipts: readonly unknown[],
  txHash: string,
  receiptsRoot: Hex,
): Promise<Pick<ProvenReceipt, "transaction" | "nodes" | "logs"> | "no_log" | "too_long"> {
  const encoded = await encodeReceipts(receipts);
  if (encoded === "too_long") return "too_long";
  const whole = receipts as readonly JsonObject[];
  const transaction = whole.findIndex(({ transactionHash }) => transactionHash === txHash);
  const logs = whole[transaction]?.logs;
  if (encoded === null || !Array.isArray(logs)) return "no_log";
  const { root, nodes } = await proveListItem(encoded, transaction);
  if (root !== receiptsRoot) return "no_log";
  const isLong = nodes.reduce((sum, each) => sum + each.length, 0) > CHARS_MAX;
  return isLong ? "too_long" : { transaction, nodes, logs };
}

async function readReceipts(
  node: PinnedRpc,
  transactions: readonly unknown[],
  signal: AbortSignal,
): Promise<readonly unknown[] | null> {
  if (transactions.length > SINGLE_RECEIPTS_MAX) return null;
  const results = await node.batch(
    transactions.map((hash) => rawCall("eth_getTransactionReceipt", [hash])),
    { signal },
  );
  return results.some((result) => "error" in result)
    ? null
    : results.map((result) => ("ok" in result ? result.ok : null));
}
