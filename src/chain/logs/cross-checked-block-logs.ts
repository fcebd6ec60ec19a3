// The logs of one block near the head, compared with what a second node shows of it, where there is one in time.
import { Fault } from "../../lib/fault.ts";
import type { BlockHeader, ChainLog } from "../../schema/chain-log.ts";
import { type Rpc, type RpcCall, type RpcCallOptions, unwrapResults } from "../rpc/types.ts";
import { areSameLogs, type LogFilter, mergeLogs, prepareLogFilters } from "./filter.ts";
import { blockLogsCall } from "./get-logs.ts";
import type { NodeLog } from "./log.ts";
import { type ReadBlockLogsOptions, readBlockLogsWithProvider } from "./read-block-logs.ts";
import { findWrongProvider, type ProviderLogs } from "./resolve-disagreement.ts";

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
