// Proves members of a record that only events have: the event in the receipts of its block, up to the receipts root.
import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { attestationRegistryAbi } from "@sextant/contracts/generated/attestation-registry";
import { attestorRegistryAbi } from "@sextant/contracts/generated/attestor-registry";
import { commerceRegistryAbi } from "@sextant/contracts/generated/commerce-registry";
import { intentBookAbi } from "@sextant/contracts/generated/intent-book";
import { solverRegistryAbi } from "@sextant/contracts/generated/solver-registry";
import type { Abi, Log } from "viem";
import type { PinnedRpc } from "../../chain/rpc/types.ts";
import { createEventCodec, type EventCodec, findAbiEvent } from "../../lib/abi/codec.ts";
import { MalformedAbiError } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import { isJsonObject } from "../../lib/json.ts";
import type { RecordLog } from "../../schema/reads/record-proofs.ts";
import { type ProvenClaim, withoutProof } from "./prove-storage.ts";
import type { ProvenReceipt, ProvenReceipts, RecordEventOrigin } from "./proven-receipts.ts";
import { type RecordBody, type RecordDeclaration, type RecordEvent, valueAt } from "./record-fields.ts";

const ABIS: Readonly<Record<string, Abi>> = {
  AgentRegistry: agentRegistryAbi,
  AttestationRegistry: attestationRegistryAbi,
  AttestorRegistry: attestorRegistryAbi,
  CommerceRegistry: commerceRegistryAbi,
  IntentBook: intentBookAbi,
  SolverRegistry: solverRegistryAbi,
};

type LogQuery = {
  readonly declaration: RecordDeclaration;
  readonly record: RecordBody;
  readonly contract: Hex;
  readonly origin: RecordEventOrigin;
};

type ProvenLogs = { readonly logs: readonly RecordLog[]; readonly claims: readonly ProvenClaim[] };

/** Claims of the members that events show; each says why if the receipts do not show it. */
export async function proveLogs(
  node: PinnedRpc,
  query: LogQuery,
  receipts: ProvenReceipts,
  signal: AbortSignal,
): Promise<ProvenLogs> {
  const logs: RecordLog[] = [];
  const claims: ProvenClaim[] = [];
  for (const each of listEvents(query)) {
    const found = await receipts.find(node, each, signal);
    const proven = typeof found === "string" ? found : proveEvent(query, each.event, found);
    claims.push(...claimEvent(query, each.event, proven, logs.length));
    if (typeof proven !== "string") logs.push(proven.log);
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
    const block = Number(at.block_number);
    const blockHash = block === origin.block ? origin.blockHash : null;
    return [{ event, block, blockHash, txHash: String(at.tx_hash) }];
  });
}

type ProvenEvent = {
  readonly log: RecordLog;
  readonly args: Readonly<Record<string, unknown>>;
  readonly timestamp: number;
};

function proveEvent(
  { declaration, record, contract }: LogQuery,
  { event }: RecordEvent,
  { block, header, timestamp, nodes, transaction, logs }: ProvenReceipt,
): ProvenEvent | "no_log" {
  const codec = createEventCodec(findAbiEvent(ABIS[declaration.contract] ?? [], event));
  const id = String(record[declaration.id]);
  for (const [log, entry] of (logs as readonly Log[]).entries()) {
    if (entry.address.toLowerCase() !== contract) continue;
    const args = decode(codec, entry);
    if (args === null || formatValue(Object.values(args)[0]) !== id) continue;
    const found = { event, block, header, nodes, transaction, log };
    return { log: found, args, timestamp };
  }
  return "no_log";
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
  proven: ProvenEvent | "no_log" | "too_long",
  index: number,
): readonly ProvenClaim[] {
  return Object.entries(fields).flatMap(([name, source]): ProvenClaim[] => {
    const value = valueAt(record, name);
    const path = `/${name}`;
    if (value === undefined) return [];
    if (typeof proven === "string") return [withoutProof(path, proven)];
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
