// Two nodes differ about the logs of a block: finds out which of them is wrong, or says that nothing shows it.
import { Fault } from "../../lib/fault.ts";
import type { BlockHeader } from "../../schema/chain-log.ts";
import { readHeader } from "../headers.ts";
import { RpcError } from "../rpc/errors.ts";
import { type PinnedRpc, type Rpc, type RpcCallOptions, unwrapResults } from "../rpc/types.ts";
import { areSameLogs, mergeLogs, type PreparedLogFilter } from "./filter.ts";
import { type BloomCoverage, blockLogsCall } from "./get-logs.ts";
import type { NodeLog } from "./log.ts";
import { readReceiptLogs } from "./receipt-logs.ts";

/** A node, and the logs of the block that it has shown. */
export type ProviderLogs = { readonly provider: number; readonly logs: readonly NodeLog[] };

export type BlockLogQuery = { readonly wanted: readonly PreparedLogFilter[]; readonly bloom: BloomCoverage };

export type ProviderBlockLogs = {
  readonly provider: number;
  readonly header: BlockHeader;
  readonly logs: readonly NodeLog[];
};

// More witnesses than this change no verdict that matters, and a dispute should not cost a request to each of many.
const WITNESSES_MAX = 5;
// A node that is down is no witness; one that stumbles gets a second chance.
const ATTEMPTS_MAX = 2;

/**
 * The party that is wrong, 0 or 1. Each ground is stronger than the next one:
 * 1. A node that shows other logs when it is asked for the block by its hash contradicts itself.
 * 2. Among all configured nodes, more agree with one party than with the other.
 * 3. A node whose receipts show other logs than its log index contradicts itself.
 * Throws NODES_DISAGREE where none applies: no log is indexed on the word of one node against another.
 */
export async function findWrongProvider(
  rpc: Rpc,
  at: number | BlockHeader,
  parties: readonly [ProviderLogs, ProviderLogs],
  query: BlockLogQuery,
  options: RpcCallOptions,
): Promise<0 | 1> {
  const opinions = await readBlockLogsPerProvider(rpc, at, query, options, [
    parties[0].provider,
    parties[1].provider,
  ]);
  const own = parties.map(({ provider }) => opinions.find((each) => each.provider === provider));
  for (const side of SIDES) {
    const opinion = own[side];
    if (opinion && !areSameLogs(opinion.logs, parties[side].logs)) return side;
  }
  const witnesses = opinions.filter((each) => !parties.some(({ provider }) => provider === each.provider));
  const [votes0, votes1] = SIDES.map(
    (side) => witnesses.filter((each) => areSameLogs(each.logs, parties[side].logs)).length,
  ) as [number, number];
  if (votes0 !== votes1) return votes0 < votes1 ? 0 : 1;
  for (const side of SIDES) {
    const opinion = own[side];
    if (opinion && (await contradictsReceipts(rpc, opinion, query, options))) return side;
  }
  throw disagreement(rpc, typeof at === "number" ? at : at.number, parties);
}

const SIDES = [0, 1] as const;

/** What each node shows of the block, asked by its hash (that of the header, or the node's own); nodes that do not respond are left out. */
export async function readBlockLogsPerProvider(
  rpc: Rpc,
  at: number | BlockHeader,
  query: BlockLogQuery,
  options: RpcCallOptions,
  needed: readonly number[] = [],
): Promise<ProviderBlockLogs[]> {
  const others = rpc.providers().map((_, index) => index);
  const asked = [...new Set([...needed, ...others])].slice(0, WITNESSES_MAX);
  const opinions = await Promise.all(
    asked.map((provider) =>
      rpc.pinned((node) => opinionOf(node, at, query, options), pin(provider, options)).catch(withoutOpinion),
    ),
  );
  return opinions.filter((opinion) => opinion !== null);
}

const pin = (only: number, options: RpcCallOptions) => ({ ...options, only, attemptsMax: ATTEMPTS_MAX });

async function opinionOf(
  node: PinnedRpc,
  at: number | BlockHeader,
  { wanted, bloom }: BlockLogQuery,
  options: RpcCallOptions,
): Promise<ProviderBlockLogs> {
  const header = typeof at === "number" ? await readHeader(node, at, options) : at;
  const lists = unwrapResults(
    await node.batch(
      wanted.map((each) => blockLogsCall(header, each, bloom)),
      options,
    ),
  );
  return { provider: node.providerIndex, header, logs: mergeLogs(lists) };
}

function withoutOpinion(error: unknown): null {
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
  const shown = await rpc
    .pinned((node) => readReceiptLogs(node, [header], query, options), pin(provider, options))
    .catch(withoutOpinion);
  const ofBlock = shown?.get(header.number);
  return ofBlock !== undefined && !areSameLogs(ofBlock, logs);
}

function disagreement(rpc: Rpc, block: number, parties: readonly [ProviderLogs, ProviderLogs]): Fault {
  const hosts = parties.map(({ provider }) => rpc.providers()[provider]?.host ?? "unknown").join(" and ");
  return new Fault(
    "NODES_DISAGREE",
    `The nodes at ${hosts} show different logs of block ${block}, and nothing shows which is wrong; nothing was ` +
      "indexed. Add a third node to RPC_URL, or remove the wrong one.",
  );
}
