// The logs of one block near the head, read by its hash and held against its bloom, and against receipts where in doubt.
import type { BlockHeader, ChainLog } from "../../schema/chain-log.ts";
import { type Rpc, type RpcCallOptions, unwrapResults } from "../rpc/types.ts";
import { estimateBloomFalsePositiveRate } from "./bloom.ts";
import { findSuspiciousHeaders } from "./bloom-check.ts";
import {
  hasUnreportedBloomMatch,
  type LogFilter,
  mergeLogs,
  type PreparedLogFilter,
  prepareLogFilters,
} from "./filter.ts";
import { type BloomCoverage, blockLogsCall } from "./get-logs.ts";
import type { NodeLog } from "./log.ts";
import { readReceiptLogs } from "./receipt-logs.ts";

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
