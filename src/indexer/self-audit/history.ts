// Self-audit of history: compares stored logs of final blocks with nodes, also ranges that only one node has confirmed.
import { type LogFilter, prepareLogFilters } from "../../chain/logs/filter.ts";
import type { BlockLogQuery } from "../../chain/logs/get-logs.ts";
import { areSameLogs, findFirstDifferingBlock, type NodeLog } from "../../chain/logs/log.ts";
import {
  contradictsReceipts,
  type ProviderBlockLogs,
  readBlockLogsPerProvider,
} from "../../chain/logs/resolve-disagreement.ts";
import { RpcError } from "../../chain/rpc/errors.ts";
import type { Rpc } from "../../chain/rpc/types.ts";
import type { Log } from "../../lib/log.ts";
import type { ChainLog } from "../../schema/chain-log.ts";
import { readCheckpoint } from "../../store/index/checkpoint.ts";
import type { Database } from "../../store/postgres/database.ts";
import type { AuditCheck, AuditDifference } from "./schedule.ts";
import { type BlockSpan, type UnconfirmedRanges, withoutSpan } from "./unconfirmed-ranges.ts";
import { createWindowSize, readNodeWindow, readStoredWindow } from "./window.ts";

export type BlockDifference = AuditDifference & { readonly block: number };

type HistoryAuditOptions = {
  readonly rpc: Rpc;
  readonly database: Database;
  readonly startBlock: number;
  readonly filters: readonly LogFilter[];
  readonly bloom: BlockLogQuery["bloom"];
  /** Maximum number of blocks of one log query. */
  readonly rangeMax: number;
  /** Found by an earlier process. */
  readonly knownDifferences: readonly BlockDifference[];
  readonly unconfirmed: UnconfirmedRanges;
  readonly repair: RepairHistory;
  readonly random: () => number;
  readonly log: Log;
};

/** Reads unconfirmed blocks again, from two nodes. The index is wrong about some of them: `differences` has all known. */
export type RepairHistory = (
  spans: readonly BlockSpan[],
  differences: readonly BlockDifference[],
) => Promise<void>;

/** `disputed`: as many nodes contradict the index as agree, and nothing settles it. `undecided`: too few respond. */
type Verdict = "right" | "wrong" | "disputed" | "undecided";

// Differing blocks are compared again each time until they are repaired; this many show that much is wrong.
const DIFFERING_MAX = 10;

/**
 * Compares consecutive windows from a random block on, so that a pass covers every final block once. Blocks without
 * confirmation by a second node come first.
 */
export function createHistoryAudit(options: HistoryAuditOptions): AuditCheck {
  const { rpc, database, startBlock, random } = options;
  const query: BlockLogQuery = { filters: prepareLogFilters(options.filters), bloom: options.bloom };
  const differing = new Map(options.knownDifferences.map(({ block, text }) => [block, text]));
  const size = createWindowSize(options.rangeMax);
  let next: number | null = null;

  /** Whether the index is right about the block, as far as the nodes decide it now. */
  async function classifyBlock(block: number, signal: AbortSignal): Promise<Verdict> {
    const { stored } = await readStoredWindow(database, { from: block, to: block });
    const { verdict, text = "" } = await compareWithNodes(options, query, block, stored, signal);
    if (verdict === "right" || verdict === "disputed") differing.delete(block);
    if (verdict === "wrong" && (differing.has(block) || differing.size < DIFFERING_MAX)) {
      differing.set(block, text);
    }
    return verdict;
  }

  const repair = (spans: readonly BlockSpan[]) => options.repair(spans, listDifferences(differing));
  const confirm = createUnconfirmedAudit({ ...options, query, repair, classifyBlock });

  return async (signal) => {
    for (const block of [...differing.keys()]) await classifyBlock(block, signal);
    const checkpoint = await readCheckpoint(database);
    const last = checkpoint?.finalized ?? -1;
    if (last < startBlock) return null;
    const confirmed = await confirm(last, signal);
    next ??= startBlock + Math.floor(random() * (last - startBlock + 1));
    const from = next > last ? startBlock : next;
    const span = { from, to: Math.min(last, from + size.blocks() - 1) };
    const { window, stored } = await readStoredWindow(database, span);
    // Pick a node at random: the one that history was read from may be wrong.
    const only = Math.floor(random() * rpc.providers().length);
    const shown = await readNodeWindow(rpc, only, query, window, signal);
    if (shown === "too large") {
      size.shrink(window);
      return "not compared";
    }
    size.grow();
    const block = findFirstDifferingBlock(stored, shown);
    if (block !== null) await classifyBlock(block, signal);
    // Blocks after a difference are compared next time.
    const compared = block === null ? window.to : block;
    next = compared + 1;
    return { checked: confirmed + compared - from + 1, differences: listDifferences(differing) };
  };
}

function listDifferences(differing: ReadonlyMap<number, string>): BlockDifference[] {
  return [...differing].sort(([a], [b]) => a - b).map(([block, text]) => ({ block, text }));
}

/**
 * Reads the block by its hash from every configured node; the index is wrong when more of them contradict it than
 * agree, and at least two respond if there are two. A node that contradicts its own receipts proves nothing against the
 * index and, in a tie, nothing for it.
 */
async function compareWithNodes(
  { rpc, log }: HistoryAuditOptions,
  query: BlockLogQuery,
  block: number,
  stored: readonly ChainLog[],
  signal: AbortSignal,
): Promise<{ readonly verdict: Verdict; readonly text?: string }> {
  const opinions = await readBlockLogsPerProvider(rpc, block, query, { signal });
  const against = opinions.filter((opinion) => !areSameLogs(opinion.logs, stored));
  const [first] = against;
  if (!first) return { verdict: opinions.length > 0 ? "right" : "undecided" };
  const supporting = opinions.filter((opinion) => !against.includes(opinion));
  const isTie = supporting.length === against.length;
  const credible = isTie ? await withoutContradiction(rpc, supporting, query, signal) : supporting;
  const agreeing = credible.length;
  const hosts = against.map(({ provider }) => rpc.providers()[provider]?.host);
  if (agreeing >= against.length) {
    log.warn(
      { component: "indexer", event: "node_log_mismatch", block, hosts },
      "Nodes disagree with the index about a block's logs",
    );
    if (agreeing > against.length) return { verdict: "right" };
    if (opinions.length < rpc.providers().length) return { verdict: "undecided" };
    const contradicting = await withoutContradiction(rpc, against, query, signal);
    return { verdict: agreeing > contradicting.length ? "right" : "disputed" };
  }
  if (opinions.length < Math.min(2, rpc.providers().length)) return { verdict: "undecided" };
  if (!against.every(({ logs }) => areSameLogs(logs, first.logs))) return { verdict: "undecided" };
  if (await contradictsReceipts(rpc, first, query, { signal })) return { verdict: "undecided" };
  return { verdict: "wrong", text: describeLogDifference(block, stored, first) };
}

/** Drops nodes whose receipts contradict their own logs. */
async function withoutContradiction(
  rpc: Rpc,
  opinions: readonly ProviderBlockLogs[],
  query: BlockLogQuery,
  signal: AbortSignal,
): Promise<readonly ProviderBlockLogs[]> {
  const contradicts = await Promise.all(
    opinions.map((opinion) => contradictsReceipts(rpc, opinion, query, { signal })),
  );
  return opinions.filter((_, i) => !contradicts[i]);
}

function describeLogDifference(
  block: number,
  stored: readonly ChainLog[],
  { logs }: ProviderBlockLogs,
): string {
  const missing = logs.filter((log) => !stored.some((each) => areSameLogs([each], [log]))).length;
  const extra = stored.filter((log) => !logs.some((each) => areSameLogs([each], [log]))).length;
  return `block ${block} (logs missing from the index: ${missing}, not on the chain: ${extra})`;
}

type UnconfirmedAuditOptions = {
  readonly rpc: Rpc;
  readonly database: Database;
  readonly query: BlockLogQuery;
  /** Maximum number of blocks of one log query. */
  readonly rangeMax: number;
  readonly unconfirmed: UnconfirmedRanges;
  readonly repair: (spans: readonly BlockSpan[]) => Promise<void>;
  readonly classifyBlock: (block: number, signal: AbortSignal) => Promise<Verdict>;
};

// Makes up for an outage of an hour within minutes, at little load for the nodes.
const WINDOWS_PER_TURN = 10;
// The node that history was read from is among them, and which one it was may be unknown: two make a second opinion.
const NODES_MIN = 2;

/**
 * Compares the ranges that only one of several configured nodes has confirmed, up to the last final block and while two
 * nodes respond; returns the number of confirmed blocks. Windows about which the index is wrong stay unconfirmed until
 * they are repaired, all together once no other one can be compared: a repair rebuilds every row. So do blocks that are
 * disputed: a node that agrees with what may be its own claim confirms nothing.
 */
function createUnconfirmedAudit(
  options: UnconfirmedAuditOptions,
): (last: number, signal: AbortSignal) => Promise<number> {
  const { rpc, database, query, unconfirmed, repair, classifyBlock } = options;
  const size = createWindowSize(options.rangeMax);
  let wrong: readonly BlockSpan[] = [];
  let disputed: readonly BlockSpan[] = [];

  /** The blocks that were compared now; null when there are none. */
  async function compareNext(
    last: number,
    signal: AbortSignal,
  ): Promise<{ readonly span: BlockSpan; readonly verdict: Exclude<Verdict, "undecided"> } | null> {
    const left = [...wrong, ...disputed].reduce(withoutSpan, unconfirmed.list());
    const next = left.find(({ from }) => from <= last);
    if (!next) return null;
    const span = { from: next.from, to: Math.min(next.to, last, next.from + size.blocks() - 1) };
    const { window, stored } = await readStoredWindow(database, span);
    // A node in cooldown after a failure is read next time.
    const shown = await Promise.all(
      rpc.providers().map(({ state }, only) => {
        if (state === "cooling-down") return null;
        return readNodeWindow(rpc, only, query, window, signal).catch(withoutLogs);
      }),
    );
    const responses = shown.filter(
      (logs): logs is readonly NodeLog[] => logs !== null && logs !== "too large",
    );
    if (responses.length < NODES_MIN) {
      if (shown.includes("too large")) size.shrink(window);
      return null;
    }
    size.grow();
    const differing = responses.flatMap((logs) => findFirstDifferingBlock(stored, logs) ?? []);
    if (differing.length === 0) return { span: window, verdict: "right" };
    const block = Math.min(...differing);
    const verdict = await classifyBlock(block, signal);
    if (verdict === "undecided") return null;
    if (verdict === "wrong") return { span: window, verdict };
    // The other blocks of the window are compared next.
    return { span: { from: verdict === "right" ? window.from : block, to: block }, verdict };
  }

  return async (last, signal) => {
    let confirmed = 0;
    for (let turn = 0; turn < WINDOWS_PER_TURN; turn += 1) {
      const compared = await compareNext(last, signal);
      if (compared === null) {
        const repaired = wrong;
        [wrong, disputed] = [[], []];
        if (repaired.length > 0) await repair(repaired);
        break;
      }
      const { span, verdict } = compared;
      if (verdict === "wrong") wrong = [...wrong, span];
      else if (verdict === "disputed") disputed = [...disputed, span];
      else {
        unconfirmed.confirm(span);
        confirmed += span.to - span.from + 1;
      }
    }
    return confirmed;
  };
}

function withoutLogs(error: unknown): null {
  if (error instanceof RpcError) return null;
  throw error;
}
