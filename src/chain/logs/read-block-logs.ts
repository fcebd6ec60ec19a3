// The logs of one block near the head, read by its hash and checked against its bloom, receipts and a second node.
import { Fault } from "../../lib/fault.ts";
import type { BlockHeader, ChainLog } from "../../schema/chain-log.ts";
import type { BloomCoverage } from "../chains/chain-info.ts";
import { type Rpc, type RpcCall, type RpcCallOptions, unwrapResults } from "../rpc/types.ts";
import {
  estimateBloomFalsePositiveRate,
  findSuspiciousHeaders,
  hasUnreportedBloomMatch,
  type LogFilter,
  type PreparedLogFilter,
  prepareLogFilters,
} from "./filter.ts";
import { blockLogsCall, readReceiptLogs } from "./get-logs.ts";
import { areSameLogs, mergeLogs, type NodeLog } from "./log.ts";
import { findWrongProvider, type ProviderLogs } from "./resolve-disagreement.ts";

// The caller follows the head meanwhile: a second node that lags or hangs is not waited for. The indexer's audit
// compares the block once it is final.
const SECOND_MS_MAX = 1_000;

/**
 * A bloom does not show that one of two logs of one contract and event is missing, and a nearly full one shows nothing.
 * So a block with logs is read from a second node too. A block without logs was proven empty by its bloom, or read again
 * from another provider already.
 */
export async function readCrossCheckedBlockLogs(
  rpc: Rpc,
  header: BlockHeader,
  filters: readonly LogFilter[],
  options: ReadBlockLogsOptions & { readonly secondMsMax?: number } = {},
): Promise<ChainLog[]> {
  const { logs, provider } = await readBlockLogsWithProvider(rpc, header, filters, options);
  if (provider === null || logs.length === 0 || rpc.providers().length < 2) return logs;
  const query = { filters: prepareLogFilters(filters), bloom: options.bloom ?? "complete" } as const;
  const calls = query.filters.map((filter) => blockLogsCall(header, filter, query.bloom));
  const second = await readFromAnother(rpc, provider, calls, options);
  options.signal?.throwIfAborted();
  if (second === null || areSameLogs(logs, second.logs)) return logs;
  const wrong = await findWrongProvider(rpc, header, [{ provider, logs }, second], query, options);
  if (wrong === 1) return logs;
  return second.logs.map((log) => ({ ...log, blockTimestamp: header.timestamp }));
}

/** The logs of another provider than the first; null if none responds in time. */
async function readFromAnother(
  rpc: Rpc,
  first: number,
  calls: readonly RpcCall<NodeLog[]>[],
  options: RpcCallOptions & { readonly secondMsMax?: number },
): Promise<ProviderLogs | null> {
  const timeout = new AbortController();
  const giveUp = () => timeout.abort(new Fault("TIMED_OUT", "The second node did not respond in time."));
  const timer = setTimeout(giveUp, options.secondMsMax ?? SECOND_MS_MAX);
  // Added and removed by hand: AbortSignal.any would tie every block to a long-lived signal.
  options.signal?.addEventListener("abort", giveUp, { once: true });
  const { signal } = timeout;
  try {
    return await rpc.pinned(
      async (node): Promise<ProviderLogs | null> => {
        // With no other provider available the client falls back to the first one.
        if (node.providerIndex === first) return null;
        return {
          provider: node.providerIndex,
          logs: mergeLogs(unwrapResults(await node.batch(calls, { signal }))),
        };
      },
      { avoid: [first], attemptsMax: 1, signal },
    );
  } catch (error) {
    // Nodes that fail, lag or are late are faults; anything else is a defect.
    if (error instanceof Fault) return null;
    throw error;
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", giveUp);
  }
}

type ReadBlockLogsOptions = RpcCallOptions & { readonly bloom?: BloomCoverage };

// Responses that must agree before "no logs" is trusted although the bloom says "maybe". A nearly full bloom says so
// about everything: then one cross-check is all that is sensible for every block of a busy chain.
const EMPTY_RESPONSES = 3;
const EMPTY_RESPONSES_FULL_BLOOM = 2;
const FULL_BLOOM_RATE = 1 / 16;

/**
 * The logs, and the provider that gave all of them; null if several did. Why the result can be trusted:
 * - The query names the block by hash, so a node on another branch, or one that lags, has to report an unknown block
 *   (then another provider is tried first). Every log must carry that hash and number.
 * - What is not in the bloom is not in the block: a log that the bloom does not contain makes the response wrong, and
 *   the absence of logs that the bloom does not contain is proven.
 * - A balancer may still forward to a node that responds with `[]` for a block it does not have. So the absence of logs
 *   that the bloom may contain is suspicious: it is read again, from another provider if there is one. A response
 *   with logs wins, because hash and bloom prove it; if all responses agree on the absence, the bloom's "maybe" was an
 *   ordinary false positive.
 * - If all these responses came from one provider, because it is the only one or the others are down or behind, they
 *   count once. Then its receipts are read: a node that has lost a log from its log index still has it there.
 */
export async function readBlockLogsWithProvider(
  rpc: Rpc,
  header: BlockHeader,
  filters: readonly LogFilter[],
  options: ReadBlockLogsOptions = {},
): Promise<{ readonly logs: ChainLog[]; readonly provider: number | null }> {
  const prepared = prepareLogFilters(filters);
  const bloom = options.bloom ?? "complete";
  const calls = prepared.map((filter) => suspicionCall(header, filter, bloom));
  const isBloomFull = estimateBloomFalsePositiveRate(header.logsBloom) > FULL_BLOOM_RATE;
  const responsesMax = isBloomFull ? EMPTY_RESPONSES_FULL_BLOOM : EMPTY_RESPONSES;
  let known: NodeLog[] = [];
  let provider: number | null = null;
  let isSuspicious = true;
  const avoid: number[] = [];
  for (let response = 1; isSuspicious && response <= responsesMax; response += 1) {
    const before = known;
    const read = await rpc.pinned(
      async (node) => {
        const lists = unwrapResults(await node.batch(calls, options));
        const logs = mergeLogs([before, ...lists.map((list) => list.logs)]);
        return { provider: node.providerIndex, isSuspicious: lists.some((list) => list.isSuspicious), logs };
      },
      { ...options, avoid },
    );
    known = read.logs;
    provider = response === 1 ? read.provider : null;
    isSuspicious = read.isSuspicious;
    avoid.push(read.provider);
  }
  if (isSuspicious && new Set(avoid).size === 1) {
    const inReceipts = await readSuspiciousReceipts(rpc, header, known, prepared, { ...options, bloom });
    known = mergeLogs([known, inReceipts]);
  }
  return { logs: known.map((log) => ({ ...log, blockTimestamp: header.timestamp })), provider };
}

/** The logs of one filter, and whether the bloom suggests more of them. */
function suspicionCall(
  header: BlockHeader,
  filter: PreparedLogFilter,
  bloom: BloomCoverage,
): RpcCall<{ readonly logs: readonly NodeLog[]; readonly isSuspicious: boolean }> {
  const call = blockLogsCall(header, filter, bloom);
  return {
    ...call,
    parse: (result) => {
      const logs = call.parse(result);
      return { logs, isSuspicious: hasUnreportedBloomMatch(header.logsBloom, filter, logs) };
    },
  };
}

/** Empty if the bloom suggests too little to read them, or the node cannot show the receipts. */
async function readSuspiciousReceipts(
  rpc: Rpc,
  header: BlockHeader,
  known: readonly NodeLog[],
  filters: readonly PreparedLogFilter[],
  { bloom, ...options }: RpcCallOptions & { readonly bloom: BloomCoverage },
): Promise<readonly NodeLog[]> {
  const suspicious = findSuspiciousHeaders([header], known, filters);
  const logsByBlock = await rpc.pinned(
    (node) => readReceiptLogs(node, suspicious, { filters, bloom }, options),
    options,
  );
  return logsByBlock.get(header.number) ?? [];
}
