// The logs of one block near the head, read by its hash and held against its bloom, and against receipts where in doubt.
import { Fault } from "../../lib/fault.ts";
import type { BlockHeader, ChainLog } from "../../schema/chain-log.ts";
import { type Rpc, type RpcCall, type RpcCallOptions, unwrapResults } from "../rpc/types.ts";
import { estimateBloomFalsePositiveRate } from "./bloom.ts";
import { findSuspiciousHeaders } from "./bloom-check.ts";
import {
  areSameLogs,
  hasUnreportedBloomMatch,
  type LogFilter,
  mergeLogs,
  type PreparedLogFilter,
  prepareLogFilters,
} from "./filter.ts";
import { type BloomCoverage, blockLogsCall } from "./get-logs.ts";
import type { NodeLog } from "./log.ts";
import { readReceiptLogs } from "./receipt-logs.ts";
import { findWrongProvider, type ProviderLogs } from "./resolve-disagreement.ts";

// The logs of one block near the head, compared with what a second node shows of it, where there is one in time.

// The head is followed meanwhile: a second node that lags or hangs is not waited for. What it would have shown is
// compared by the indexer's audit once the block is final.
const SECOND_MS_MAX = 1_000;

/**
 * A bloom shows neither that one of two logs of one contract and event is missing, nor anything when it is nearly
 * full. So a block with logs is read from a second node too; a block without any was proven empty by its bloom, or
 * asked for again elsewhere already.
 */
export async function readCrossCheckedBlockLogs(
  rpc: Rpc,
  header: BlockHeader,
  filters: readonly LogFilter[],
  options: ReadBlockLogsOptions & { readonly secondMsMax?: number } = {},
): Promise<ChainLog[]> {
  const { logs, provider } = await readBlockLogsWithProvider(rpc, header, filters, options);
  if (provider === null || logs.length === 0 || rpc.providers().length < 2) return logs;
  const query = { wanted: prepareLogFilters(filters), bloom: options.bloom ?? "complete" } as const;
  const calls = query.wanted.map((wanted) => blockLogsCall(header, wanted, query.bloom));
  const second = await readSecond(rpc, provider, calls, options);
  options.signal?.throwIfAborted();
  if (second === null || areSameLogs(logs, second.logs)) return logs;
  const wrong = await findWrongProvider(rpc, header, [{ provider, logs }, second], query, options);
  if (wrong === 1) return logs;
  return second.logs.map((log) => ({ ...log, blockTimestamp: header.timestamp }));
}

/** What another provider than the first shows; null where none does in time. */
async function readSecond(
  rpc: Rpc,
  first: number,
  calls: readonly RpcCall<NodeLog[]>[],
  options: RpcCallOptions & { readonly secondMsMax?: number },
): Promise<ProviderLogs | null> {
  const enough = new AbortController();
  const giveUp = () => enough.abort(new Fault("TIMED_OUT", "The second node did not respond in time."));
  const timer = setTimeout(giveUp, options.secondMsMax ?? SECOND_MS_MAX);
  // By hand and taken off again: AbortSignal.any would tie every block to a long-lived signal.
  options.signal?.addEventListener("abort", giveUp, { once: true });
  const { signal } = enough;
  try {
    return await rpc.pinned(
      async (node): Promise<ProviderLogs | null> => {
        // With no other provider fit the client falls back to the first one.
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

export type ReadBlockLogsOptions = RpcCallOptions & { readonly bloom?: BloomCoverage };

// Answers that must agree before silence is believed although the bloom says "maybe". A bloom that is nearly full
// says so about everything: then one second opinion is all that is sensible for every block of a busy chain.
const SILENT_ANSWERS = 3;
const SILENT_ANSWERS_FULL_BLOOM = 2;
const FULL_BLOOM_RATE = 1 / 16;

/**
 * Why the answer can be believed:
 * - The question names the block by hash, so a node on another branch, or one that lags, has to say "unknown block"
 *   (asked again, elsewhere first). Every log must carry that hash and number.
 * - What is not in the bloom is not in the block: a log that the bloom does not know makes the answer wrong, and
 *   silence about what the bloom does not know is proof.
 * - A balancer may still send us to a node that answers `[]` for a block it does not have. So silence about
 *   something that the bloom may contain is suspicious: it is asked again, of another provider where there is one.
 *   An answer with logs wins, because it is proven by hash and bloom; if all answers agree on the silence, the
 *   bloom's "maybe" was a false positive, which is ordinary.
 * - Where all these answers came from one provider, because it is the only one or the others are down or behind, they
 *   are one opinion. Its receipts are read then: a node that has lost a log from its log index still has it there.
 */
export async function readBlockLogs(
  rpc: Rpc,
  header: BlockHeader,
  filters: readonly LogFilter[],
  options: ReadBlockLogsOptions = {},
): Promise<ChainLog[]> {
  return (await readBlockLogsWithProvider(rpc, header, filters, options)).logs;
}

/** The same, and which provider has given all of it; null where several were asked. */
export async function readBlockLogsWithProvider(
  rpc: Rpc,
  header: BlockHeader,
  filters: readonly LogFilter[],
  options: ReadBlockLogsOptions = {},
): Promise<{ readonly logs: ChainLog[]; readonly provider: number | null }> {
  const prepared = prepareLogFilters(filters);
  const bloom = options.bloom ?? "complete";
  const calls = prepared.map((wanted) => blockLogsCall(header, wanted, bloom));
  const full = estimateBloomFalsePositiveRate(header.logsBloom) > FULL_BLOOM_RATE;
  const answersMax = full ? SILENT_ANSWERS_FULL_BLOOM : SILENT_ANSWERS;
  let known: NodeLog[] = [];
  let provider: number | null = null;
  let isSilent = true;
  const avoid: number[] = [];
  for (let answer = 1; isSilent && answer <= answersMax; answer += 1) {
    const before = known;
    const read = await rpc.pinned(
      async (node) => {
        const lists = unwrapResults(await node.batch(calls, options));
        return { provider: node.providerIndex, lists, logs: mergeLogs([before, ...lists]) };
      },
      { ...options, avoid },
    );
    known = read.logs;
    provider = answer === 1 ? read.provider : null;
    isSilent = read.lists.some((logs, i) =>
      hasUnreportedBloomMatch(header.logsBloom, prepared[i] as PreparedLogFilter, logs),
    );
    avoid.push(read.provider);
  }
  if (isSilent && new Set(avoid).size === 1) {
    known = mergeLogs([known, await logsInReceipts(rpc, header, known, prepared, { ...options, bloom })]);
  }
  return { logs: known.map((log) => ({ ...log, blockTimestamp: header.timestamp })), provider };
}

/** Empty where the bloom tells too little to ask, or the node cannot show the receipts. */
async function logsInReceipts(
  rpc: Rpc,
  header: BlockHeader,
  known: readonly NodeLog[],
  wanted: readonly PreparedLogFilter[],
  { bloom, ...options }: RpcCallOptions & { readonly bloom: BloomCoverage },
): Promise<readonly NodeLog[]> {
  const suspicious = findSuspiciousHeaders([header], known, wanted);
  const shown = await rpc.pinned(
    (node) => readReceiptLogs(node, suspicious, { wanted, bloom }, options),
    options,
  );
  return shown.get(header.number) ?? [];
}
