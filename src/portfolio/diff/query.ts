// The query of a difference: a wallet, its chains, and the blocks from which and to which it is taken.
import { Fault } from "../../lib/fault.ts";
import {
  defineQuery,
  type ParameterKind,
  type Query,
  queryParameter,
  requiredParameter,
} from "../../schema/parameter.ts";
import { TIMES, timeJson } from "../../schema/time-parameter.ts";
import {
  addressQuery,
  type ChainBlock,
  chainsKind,
  datedBlocksKind,
  EXAMPLE_BLOCKS,
  EXAMPLE_WALLET,
  formatBlocks,
  type PortfolioRequest,
  partialQuery,
  readWallet,
  requireSameChains,
} from "../query.ts";

export type DiffRequest = Pick<PortfolioRequest, "wallet" | "warning" | "partial"> & {
  /** Distinct, in the order of the response; null for those of the stored snapshot. */
  readonly slugs: readonly string[] | null;
  /** Blocks by slug, or the id of a stored snapshot. */
  readonly from: ReadonlyMap<string, number> | string;
  /** Null for the newest blocks. */
  readonly to: ReadonlyMap<string, number> | null;
};

export const EXAMPLE_DIFF_QUERY = {
  address: EXAMPLE_WALLET,
  from: EXAMPLE_BLOCKS,
  to: "base:38040000,ethereum:23707000",
};

/** Parameters for a service of these chains. */
export function createDiffParameters(served: readonly string[]): Query<DiffRequest> {
  const parameters = [
    addressQuery,
    queryParameter(
      "chains",
      chainsKind(served),
      "Chains to include, separated by commas; without it, those that `from` names, or the default ones if it is a time.",
      "base,ethereum",
    ),
    requiredParameter(
      "from",
      fromKind(served),
      `The block of each chain at which the difference starts: \`chain:number\`, separated by commas. Or a time, which is redirected (307) to the last final blocks at or before it: ${TIMES}. Or the \`snapshotId\` of a snapshot of this wallet, whose chains it then has.`,
      EXAMPLE_DIFF_QUERY.from,
    ),
    queryParameter(
      "to",
      datedBlocksKind(served),
      "The blocks or the time at which it ends, in the same form; without it, the newest blocks.",
      EXAMPLE_DIFF_QUERY.to,
    ),
    partialQuery,
  ] as const;
  return defineQuery(parameters, ({ chains = null, from, to, ...given }) => {
    const wallet = readWallet(given);
    const end = to === undefined ? null : new Map(to);
    if (typeof from === "string") {
      if (end !== null) requireSameChains(chains ?? [...end.keys()], end, "to");
      return { ...wallet, slugs: chains ?? (end && [...end.keys()]), from, to: end };
    }
    const start = new Map(from);
    const slugs = chains ?? [...start.keys()];
    requireSameChains(slugs, start, "from");
    if (end !== null) requireSameChains(slugs, end, "to");
    if (end !== null) requireForward(start, end);
    return { ...wallet, slugs, from: start, to: end };
  });
}

const SNAPSHOT_ID = /^[0-9a-f]{64}$/;

function fromKind(served: readonly string[]): ParameterKind<readonly ChainBlock[] | string> {
  const blocks = datedBlocksKind(served);
  return {
    json: timeJson,
    toolJson: { type: "string", pattern: `${blocks.toolJson?.pattern}|${SNAPSHOT_ID.source}` },
    parse: (text, name) => (SNAPSHOT_ID.test(text) ? text : blocks.parse(text, name)),
  };
}

/** A difference leads from earlier blocks to later ones, or to the same. */
export function requireForward(from: ReadonlyMap<string, number>, to: ReadonlyMap<string, number>): void {
  const reversed = [...from].flatMap(([slug, start]) => {
    const end = to.get(slug) ?? start;
    return end < start ? [`${slug} from ${start} to ${end}`] : [];
  });
  if (reversed.length === 0) return;
  throw new Fault("INPUT_INVALID", `from must not be later than to: ${reversed.join(", ")}.`);
}

/** All that determines the response, in one form for equal requests. */
export function canonicalDiffQuery({
  wallet,
  slugs,
  from,
  to,
  partial,
}: DiffRequest): Readonly<Record<string, string>> {
  const format = (blocks: ReadonlyMap<string, number>) => formatBlocks(blocks, slugs ?? [...blocks.keys()]);
  return {
    address: wallet,
    ...(slugs && { chains: slugs.join(",") }),
    from: typeof from === "string" ? from : format(from),
    ...(to && { to: format(to) }),
    ...(partial && { partial: "allow" }),
  };
}
