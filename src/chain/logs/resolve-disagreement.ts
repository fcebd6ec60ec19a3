// Two nodes show different logs of a block: finds the wrong one, or reports that nothing shows which it is.
import { Fault } from "../../lib/fault.ts";
import type { BlockHeader } from "../../schema/chain-log.ts";
import { readHeader } from "../headers.ts";
import { RpcError } from "../rpc/errors.ts";
import { type PinnedRpc, type Rpc, type RpcCallOptions, unwrapResults } from "../rpc/types.ts";
import { type BlockLogQuery, blockLogsCall, readReceiptLogs } from "./get-logs.ts";
import { areSameLogs, mergeLogs, type NodeLog } from "./log.ts";

/** A node, and the logs of the block that it has shown. */
export type ProviderLogs = { readonly provider: number; readonly logs: readonly NodeLog[] };

export type ProviderBlockLogs = ProviderLogs & { readonly header: BlockHeader };

// More providers than this change no result that matters, and a disagreement should not cost a request to each of many.
const PROVIDERS_MAX = 5;
// A node that fails once gets a second chance.
const ATTEMPTS_MAX = 2;

const CANDIDATES = [0, 1] as const;

/**
 * The candidate that is wrong, 0 or 1. Each reason is stronger than the next one:
 * 1. A node that shows other logs when it is queried by the block's hash contradicts itself.
 * 2. Among all configured nodes, more agree with one candidate than with the other.
 * 3. A node whose receipts show other logs than its log index contradicts itself.
 * Throws NODES_DISAGREE if none applies: no log is indexed on the claim of one node against another.
 */
export async function findWrongProvider(
  rpc: Rpc,
  at: number | BlockHeader,
  candidates: readonly [ProviderLogs, ProviderLogs],
  query: BlockLogQuery,
  options: RpcCallOptions,
): Promise<0 | 1> {
  const providers = candidates.map(({ provider }) => provider);
  const readings = await readBlockLogsPerProvider(rpc, at, query, options, providers);
  const own = providers.map((provider) => readings.find((each) => each.provider === provider));
  for (const candidate of CANDIDATES) {
    const reading = own[candidate];
    if (reading && !areSameLogs(reading.logs, candidates[candidate].logs)) return candidate;
  }
  const others = readings.filter(({ provider }) => !providers.includes(provider));
  const votesFor = (candidate: 0 | 1) =>
    others.filter(({ logs }) => areSameLogs(logs, candidates[candidate].logs)).length;
  if (votesFor(0) !== votesFor(1)) return votesFor(0) < votesFor(1) ? 0 : 1;
  for (const candidate of CANDIDATES) {
    const reading = own[candidate];
    if (reading && (await contradictsReceipts(rpc, reading, query, options))) return candidate;
  }
  throw disagreement(rpc, typeof at === "number" ? at : at.number, candidates);
}

/**
 * The logs that each node shows for the block, by the hash of the header or the node's own; nodes that do not respond
 * are left out.
 */
export async function readBlockLogsPerProvider(
  rpc: Rpc,
  at: number | BlockHeader,
  query: BlockLogQuery,
  options: RpcCallOptions,
  needed: readonly number[] = [],
): Promise<ProviderBlockLogs[]> {
  const others = rpc.providers().map((_, index) => index);
  const requested = [...new Set([...needed, ...others])].slice(0, PROVIDERS_MAX);
  const readings = await Promise.all(
    requested.map((provider) =>
      rpc
        .pinned((node) => readBlockLogsFrom(node, at, query, options), pin(provider, options))
        .catch(ignoreRpcError),
    ),
  );
  return readings.filter((reading) => reading !== null);
}

const pin = (only: number, options: RpcCallOptions) => ({ ...options, only, attemptsMax: ATTEMPTS_MAX });

async function readBlockLogsFrom(
  node: PinnedRpc,
  at: number | BlockHeader,
  { filters, bloom }: BlockLogQuery,
  options: RpcCallOptions,
): Promise<ProviderBlockLogs> {
  const header = typeof at === "number" ? await readHeader(node, at, options) : at;
  const calls = filters.map((filter) => blockLogsCall(header, filter, bloom));
  const lists = unwrapResults(await node.batch(calls, options));
  return { provider: node.providerIndex, header, logs: mergeLogs(lists) };
}

function ignoreRpcError(error: unknown): null {
  if (error instanceof RpcError) return null;
  throw error;
}

/** Whether the node's receipts show other logs than its log index. */
export async function contradictsReceipts(
  rpc: Rpc,
  { provider, header, logs }: ProviderBlockLogs,
  query: BlockLogQuery,
  options: RpcCallOptions,
): Promise<boolean> {
  const logsByBlock = await rpc
    .pinned((node) => readReceiptLogs(node, [header], query, options), pin(provider, options))
    .catch(ignoreRpcError);
  const inReceipts = logsByBlock?.get(header.number);
  return inReceipts !== undefined && !areSameLogs(inReceipts, logs);
}

function disagreement(rpc: Rpc, block: number, candidates: readonly ProviderLogs[]): Fault {
  const hosts = candidates.map(({ provider }) => rpc.providers()[provider]?.host ?? "unknown").join(" and ");
  return new Fault(
    "NODES_DISAGREE",
    `The nodes at ${hosts} show different logs of block ${block}, and nothing shows which is wrong; nothing was ` +
      "indexed. Add a third node to RPC_URL, or remove the wrong one.",
  );
}
