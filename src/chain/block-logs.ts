// The logs of one block near the head, read by its hash and held against its bloom.
import type { ChainLog, Header } from "../schema/chain-log.ts";
import { malformed } from "./bad-answer.ts";
import { bloomFalsePositiveRate } from "./bloom.ts";
import type { NodeLog } from "./log.ts";
import {
  bloomKnows,
  filterParams,
  hasSilentMatch,
  type LogFilter,
  mergeLogs,
  parseLogs,
  prepareFilters,
  type Wanted,
} from "./log-filter.ts";
import { type CallOptions, type Rpc, type RpcCall, valuesOf } from "./rpc/call.ts";

/** `partial`: the chain also reports logs that its blooms leave out (Polygon's state syncs). */
export type BloomKind = "complete" | "partial";

export type BlockLogOptions = CallOptions & { readonly bloom?: BloomKind };

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
 */
export async function readLogsOfBlock(
  rpc: Rpc,
  header: Header,
  filters: readonly LogFilter[],
  options: BlockLogOptions = {},
): Promise<ChainLog[]> {
  return (await readBlockOnce(rpc, header, filters, options)).logs;
}

/** The same, and which provider has given all of it; null where several were asked. */
export async function readBlockOnce(
  rpc: Rpc,
  header: Header,
  filters: readonly LogFilter[],
  options: BlockLogOptions = {},
): Promise<{ readonly logs: ChainLog[]; readonly provider: number | null }> {
  const prepared = prepareFilters(filters);
  const calls = prepared.map((wanted) => blockLogsCall(header, wanted, options.bloom ?? "complete"));
  const full = bloomFalsePositiveRate(header.logsBloom) > FULL_BLOOM_RATE;
  const answersMax = full ? SILENT_ANSWERS_FULL_BLOOM : SILENT_ANSWERS;
  let known: NodeLog[] = [];
  let provider: number | null = null;
  const avoid: number[] = [];
  for (let answer = 1; answer <= answersMax; answer += 1) {
    const before = known;
    const read = await rpc.pinned(
      async (node) => {
        const lists = valuesOf(await node.batch(calls, options));
        return { provider: node.providerIndex, lists, logs: mergeLogs([before, ...lists]) };
      },
      { ...options, avoid },
    );
    known = read.logs;
    provider = answer === 1 ? read.provider : null;
    if (!read.lists.some((logs, i) => hasSilentMatch(header.logsBloom, prepared[i] as Wanted, logs))) break;
    avoid.push(read.provider);
  }
  return { logs: known.map((log) => ({ ...log, blockTimestamp: header.timestamp })), provider };
}

/** The call that reads one filter's logs of one block; for callers who put it into a batch of their own. */
export function blockLogsCall(header: Header, wanted: Wanted, bloom: BloomKind): RpcCall<NodeLog[]> {
  return {
    method: "eth_getLogs",
    params: [{ blockHash: header.hash, ...filterParams(wanted) }],
    parse: (answer) => {
      const logs = parseLogs(answer, wanted);
      for (const log of logs) requireOfBlock(log, header, bloom);
      return logs;
    },
  };
}

/** A log that claims to be of this block must agree with the block's header in everything. */
export function requireOfBlock(log: NodeLog, header: Header, bloom: BloomKind): void {
  if (log.blockNumber !== header.number || log.blockHash !== header.hash) {
    throw malformed(`a log of block ${log.blockHash} was given for block ${header.hash}`);
  }
  if (log.blockTimestamp !== null && log.blockTimestamp !== header.timestamp) {
    throw malformed(`a log and its block ${header.number} have different times`);
  }
  if (bloom === "complete" && !bloomKnows(header.logsBloom, log)) {
    throw malformed(`the bloom of block ${header.number} does not know log ${log.logIndex}`);
  }
}
