// One part of the indexer's own audit: the stored logs of some final blocks against what a node shows of them now.
import { headerCall } from "../chain/blocks.ts";
import type { NodeLog } from "../chain/log.ts";
import { contradictsReceipts, type LogQuery, type Opinion, readOpinions } from "../chain/log-dispute.ts";
import { firstDifference, type LogFilter, mergeLogs, prepareFilters, sameLogs } from "../chain/log-filter.ts";
import { asksForLess, rangeCall, refuseLargeFirst } from "../chain/range-call.ts";
import { type Rpc, type RpcCall, valuesOf } from "../chain/rpc/call.ts";
import { RpcError } from "../chain/rpc/failure.ts";
import type { AuditCheck, AuditDifference } from "../indexing/self-audit.ts";
import type { Log } from "../kit/log.ts";
import type { ChainLog, Header } from "../schema/chain-log.ts";
import { readCheckpoint } from "../store/chain-position.ts";
import type { Database } from "../store/database.ts";
import { readLogs } from "../store/log-rows.ts";

export type BlockDifference = AuditDifference & { readonly block: number };

export type HistoryAuditOptions = {
  readonly rpc: Rpc;
  readonly database: Database;
  readonly startBlock: number;
  readonly filters: readonly LogFilter[];
  readonly bloom: LogQuery["bloom"];
  /** The most blocks of one log query. */
  readonly rangeMax: number;
  /** Found before this process started. */
  readonly known: readonly BlockDifference[];
  readonly random: () => number;
  readonly log: Log;
};

type Window = { readonly from: number; readonly to: number };

// One light query every other minute covers ten million blocks in two weeks; more at once would be felt by the node.
const BLOCKS_MAX = 2_000;
const LOGS_MAX = 2_000;
// Differing blocks are looked at again each time, until they are repaired; this many show that much is wrong.
const DIFFERING_MAX = 10;
// Asked again next time, of another node.
const ATTEMPTS_MAX = 2;

/** Windows follow one another from a random block on, so that a pass compares every final block once. */
export function createHistoryAudit(options: HistoryAuditOptions): AuditCheck {
  const { rpc, database, startBlock, random } = options;
  const query: LogQuery = { wanted: prepareFilters(options.filters), bloom: options.bloom };
  const differing = new Map(options.known.map(({ block, text }) => [block, text]));
  let blocksMax = Math.min(BLOCKS_MAX, options.rangeMax);
  let next: number | null = null;

  async function judgeBlock(block: number, signal: AbortSignal): Promise<void> {
    const stored = await readStored(database, { from: block, to: block });
    const text = await describeDifference(options, query, block, stored, signal);
    if (text === null) differing.delete(block);
    else if (text !== UNDECIDED && (differing.has(block) || differing.size < DIFFERING_MAX)) {
      differing.set(block, text);
    }
  }

  return async (signal) => {
    for (const block of [...differing.keys()]) await judgeBlock(block, signal);
    const checkpoint = await readCheckpoint(database);
    const last = checkpoint?.finalized ?? -1;
    if (last < startBlock) return null;
    next ??= startBlock + Math.floor(random() * (last - startBlock + 1));
    const from = next > last ? startBlock : next;
    const stored = await readStored(database, { from, to: Math.min(last, from + blocksMax - 1) });
    // A dense window ends where as many logs are read as one query should return.
    const full = stored.length >= LOGS_MAX ? stored.at(-1)?.blockNumber : undefined;
    const window = { from, to: full ?? Math.min(last, from + blocksMax - 1) };
    const shown = await readWindow(rpc, query, window, random, signal);
    if (shown === "too large") {
      blocksMax = Math.max(1, (window.to - window.from + 1) >> 1);
      return null;
    }
    const block = firstDifference(stored, shown);
    if (block !== null) await judgeBlock(block, signal);
    // What lies behind a difference is compared next time.
    const compared = block === null ? window.to : block;
    next = compared + 1;
    return { checked: compared - from + 1, differences: differencesOf(differing) };
  };
}

function differencesOf(differing: ReadonlyMap<number, string>): AuditDifference[] {
  return [...differing].sort(([a], [b]) => a - b).map(([block, text]) => ({ block, text }));
}

async function readStored(database: Database, { from, to }: Window): Promise<ChainLog[]> {
  const found = await readLogs(database, { afterBlock: from - 1, toBlock: to, logsMax: LOGS_MAX });
  return found.map(({ log }) => log);
}

/** From a node chosen at random: the one that history was read from may be the wrong one. */
async function readWindow(
  rpc: Rpc,
  query: LogQuery,
  window: Window,
  random: () => number,
  signal: AbortSignal,
) {
  const only = Math.floor(random() * rpc.providers().length);
  const range = { fromBlock: window.from, toBlock: window.to };
  try {
    return await rpc.pinned(
      async (node) => {
        // The header shows that the node has the blocks: one that lags would show less without an error.
        const calls: RpcCall<NodeLog[] | Header>[] = [
          ...query.wanted.map((each) => rangeCall(range, each)),
          headerCall(window.to),
        ];
        const responses = await node.batch(calls, { signal });
        refuseLargeFirst(responses);
        return mergeLogs(valuesOf(responses).slice(0, -1) as NodeLog[][]);
      },
      { only, attemptsMax: ATTEMPTS_MAX, signal },
    );
  } catch (error) {
    if (error instanceof RpcError && asksForLess(error)) return "too large" as const;
    throw error;
  }
}

const UNDECIDED = Symbol("undecided");

/**
 * Null when the index is right. Every configured node is asked for the block by its hash; the index is wrong when
 * more of them contradict it than agree, and at least two do where there are two. A single node that contradicts its
 * own receipts proves nothing.
 */
async function describeDifference(
  { rpc, log }: HistoryAuditOptions,
  query: LogQuery,
  block: number,
  stored: readonly ChainLog[],
  signal: AbortSignal,
): Promise<string | null | typeof UNDECIDED> {
  const opinions = await readOpinions(rpc, block, query, { signal });
  const against = opinions.filter((opinion) => !sameLogs(opinion.logs, stored));
  const agreeing = opinions.length - against.length;
  const [first] = against;
  if (!first) return opinions.length > 0 ? null : UNDECIDED;
  const hosts = against.map(({ provider }) => rpc.providers()[provider]?.host);
  if (agreeing >= against.length) {
    log.warn({ block, hosts }, "Some nodes show other logs of a block than the index and the other nodes");
    return agreeing > against.length || opinions.length === rpc.providers().length ? null : UNDECIDED;
  }
  if (opinions.length < Math.min(2, rpc.providers().length)) return UNDECIDED;
  if (!against.every(({ logs }) => sameLogs(logs, first.logs))) return UNDECIDED;
  if (await contradictsReceipts(rpc, first, query, { signal })) return UNDECIDED;
  return describe(block, stored, first);
}

function describe(block: number, stored: readonly ChainLog[], { logs }: Opinion): string {
  const missing = logs.filter((log) => !stored.some((each) => sameLogs([each], [log]))).length;
  const extra = stored.filter((log) => !logs.some((each) => sameLogs([each], [log]))).length;
  return `block ${block} (logs missing from the index: ${missing}, not on the chain: ${extra})`;
}
