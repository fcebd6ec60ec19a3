// Proves members of a record that only events have: the event in the receipts of its block, up to the receipts root.
import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { attestationRegistryAbi } from "@sextant/contracts/generated/attestation-registry";
import { attestorRegistryAbi } from "@sextant/contracts/generated/attestor-registry";
import { commerceRegistryAbi } from "@sextant/contracts/generated/commerce-registry";
import { intentBookAbi } from "@sextant/contracts/generated/intent-book";
import { solverRegistryAbi } from "@sextant/contracts/generated/solver-registry";
import type { Abi, Log } from "viem";
import { wholeHeaderCall } from "../../chain/headers.ts";
import { encodeCheckedHeader } from "../../chain/proofs/header.ts";
import { encodeReceipts, type ListItemProof, proveListItem } from "../../chain/proofs/receipt-trie.ts";
import { readQuantity, toQuantity } from "../../chain/rpc/hex-values.ts";
import { type PinnedRpc, rawCall } from "../../chain/rpc/types.ts";
import { createEventCodec, type EventCodec, findAbiEvent } from "../../lib/abi/codec.ts";
import { MalformedAbiError } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import type { RecordLog } from "../../schema/reads/record-proofs.ts";
import { type ProvenClaim, withoutProof } from "./prove-storage.ts";
import { type RecordBody, type RecordDeclaration, type RecordEvent, valueAt } from "./record-fields.ts";

const ABIS: Readonly<Record<string, Abi>> = {
  AgentRegistry: agentRegistryAbi,
  AttestationRegistry: attestationRegistryAbi,
  AttestorRegistry: attestorRegistryAbi,
  CommerceRegistry: commerceRegistryAbi,
  IntentBook: intentBookAbi,
  SolverRegistry: solverRegistryAbi,
};

/** The transaction of the event that created a record; the block's hash is null if the record does not name it. */
export type RecordEventOrigin = {
  readonly block: number;
  readonly blockHash: Hex | null;
  readonly txHash: string;
};

type LogQuery = {
  readonly declaration: RecordDeclaration;
  readonly record: RecordBody;
  readonly contract: Hex;
  readonly origin: RecordEventOrigin;
};

type ProvenLogs = { readonly logs: readonly RecordLog[]; readonly claims: readonly ProvenClaim[] };

// A block of a large chain has a few hundred, whose trie takes half a second of processor time. Without
// eth_getBlockReceipts each receipt is a call.
const TRANSACTIONS_MAX = 500;
const SINGLE_RECEIPTS_MAX = 300;
// A receipt has all logs of its transaction. Beyond this, an event is not worth its proof.
const CHARS_MAX = 256 * 1024;

/** Claims of the members that events show; each says why if the receipts do not show it. */
export async function proveLogs(node: PinnedRpc, query: LogQuery, signal: AbortSignal): Promise<ProvenLogs> {
  const wanted = listEvents(query);
  const blocks = new Map<number, Promise<ProvableBlock | null>>();
  const logs: RecordLog[] = [];
  const claims: ProvenClaim[] = [];
  for (const each of wanted) {
    const block = blocks.get(each.block) ?? readBlock(node, each, signal);
    blocks.set(each.block, block);
    const found = await block;
    const proven = found === null ? null : await proveEvent(query, each, found);
    claims.push(...claimEvent(query, each.event, proven, logs.length));
    if (proven !== null) logs.push(proven.log);
  }
  return { logs, claims };
}

type WantedEvent = RecordEventOrigin & { readonly event: RecordEvent };

function listEvents({ declaration, record, origin }: LogQuery): readonly WantedEvent[] {
  return declaration.events.flatMap((event): WantedEvent[] => {
    if (!Object.keys(event.fields).some((name) => valueAt(record, name) !== undefined)) return [];
    if (event.within === undefined) return [{ event, ...origin }];
    const at = record[event.within];
    if (!isJsonObject(at)) return [];
    return [{ event, block: Number(at.block_number), blockHash: null, txHash: String(at.tx_hash) }];
  });
}

type ProvableBlock = {
  readonly block: RecordLog["block"];
  readonly header: Hex;
  readonly timestamp: bigint;
  readonly receipts: readonly JsonObject[];
  readonly encoded: readonly Hex[];
  readonly receiptsRoot: Hex;
  /** Keyed by transaction: events of one receipt share its proof. */
  readonly proofs: Map<number, Promise<ListItemProof>>;
};

/** Null if the node does not have the block of the index, its receipts, or sends others than the block's. */
async function readBlock(
  node: PinnedRpc,
  { block: number, blockHash }: WantedEvent,
  signal: AbortSignal,
): Promise<ProvableBlock | null> {
  const [header, whole] = await node.batch(
    [wholeHeaderCall(blockHash ?? number), rawCall("eth_getBlockReceipts", [toQuantity(number)])],
    { signal },
  );
  if ("error" in header) return null;
  const hash = header.ok.hash as Hex;
  const checked = encodeCheckedHeader(header.ok, blockHash ?? hash);
  const { transactions } = header.ok;
  if (checked === null || !Array.isArray(transactions) || transactions.length > TRANSACTIONS_MAX) return null;
  const receipts =
    "ok" in whole && Array.isArray(whole.ok) ? whole.ok : await readReceipts(node, transactions, signal);
  if (receipts?.length !== transactions.length) return null;
  const encoded = await encodeReceipts(receipts);
  if (encoded === null) return null;
  const seconds = readQuantity(header.ok.timestamp, "the block time");
  return {
    block: { number: String(number), hash, timestamp: new Date(seconds * 1_000).toISOString() },
    header: checked.rlp,
    timestamp: BigInt(seconds),
    receipts: receipts as readonly JsonObject[],
    encoded,
    receiptsRoot: checked.receiptsRoot,
    proofs: new Map(),
  };
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

type ProvenEvent = {
  readonly log: RecordLog;
  readonly args: Readonly<Record<string, unknown>>;
  readonly timestamp: bigint;
};

async function proveEvent(
  { declaration, record, contract }: LogQuery,
  { event: { event }, txHash }: WantedEvent,
  { block, header, timestamp, receipts, encoded, receiptsRoot, proofs }: ProvableBlock,
): Promise<ProvenEvent | null> {
  const transaction = receipts.findIndex(({ transactionHash }) => transactionHash === txHash);
  const listed = receipts[transaction]?.logs;
  if (!Array.isArray(listed)) return null;
  const proof = proofs.get(transaction) ?? proveListItem(encoded, transaction);
  proofs.set(transaction, proof);
  const { root, nodes } = await proof;
  if (root !== receiptsRoot || nodes.reduce((sum, node) => sum + node.length, 0) > CHARS_MAX) return null;
  const codec = createEventCodec(findAbiEvent(ABIS[declaration.contract] ?? [], event));
  const id = String(record[declaration.id]);
  for (const [log, entry] of (listed as readonly Log[]).entries()) {
    if (entry.address.toLowerCase() !== contract) continue;
    const args = decode(codec, entry);
    if (args === null || formatValue(Object.values(args)[0]) !== id) continue;
    const found = { event, block, header, nodes, transaction, log };
    return { log: found, args, timestamp };
  }
  return null;
}

/** The arguments; null for a log of another event. */
function decode({ topic0, decode }: EventCodec, { data, topics }: Log): Record<string, unknown> | null {
  if (topics[0] !== topic0) return null;
  try {
    return decode(topics, data);
  } catch (error) {
    // Another version of the contract may index other arguments.
    if (error instanceof MalformedAbiError) return null;
    throw error;
  }
}

function claimEvent(
  { record }: LogQuery,
  { fields }: RecordEvent,
  proven: ProvenEvent | null,
  index: number,
): readonly ProvenClaim[] {
  return Object.entries(fields).flatMap(([name, source]): ProvenClaim[] => {
    const value = valueAt(record, name);
    const path = `/${name}`;
    if (value === undefined) return [];
    if (proven === null) return [withoutProof(path, "no_log")];
    const shown = readSource(proven, source);
    if (shown === value) return [{ claim: { path, kind: "log", log: index }, path: [] }];
    return [{ claim: { path, kind: "mismatch", proven: shown }, path: [] }];
  });
}

function readSource({ log, args, timestamp }: ProvenEvent, source: string): string {
  if (source === "block.number") return log.block.number;
  if (source === "block.hash") return log.block.hash;
  return source === "block.timestamp" ? timestamp.toString() : formatValue(args[source]);
}

/** As the index writes it. */
function formatValue(value: unknown): string {
  return String(value).toLowerCase();
}
