// The query of a difference: a wallet, its chains, and the blocks from which and to which it is taken.
import { Fault } from "../../lib/fault.ts";
import type { ParameterKind } from "../../schema/parameter.ts";
import { TIMES, timeJson } from "../../schema/time-parameter.ts";
import {
  addressField,
  type ChainBlock,
  chainsKind,
  datedBlocksKind,
  defineQuery,
  EXAMPLE_BLOCKS,
  EXAMPLE_WALLET,
  formatBlocks,
  type PortfolioRequest,
  partialField,
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

function defineDiffQuery(served: readonly string[]) {
  return defineQuery({
    address: addressField,
    chains: {
      kind: chainsKind(served),
      example: "base,ethereum",
      description:
        "Chains to include, separated by commas; without it, those that `from` names, or the default ones if it is a time.",
    },
    from: {
      kind: fromKind(served),
      required: true,
      example: EXAMPLE_DIFF_QUERY.from,
      description: `The block of each chain at which the difference starts: \`chain:number\`, separated by commas. Or a time, which is redirected (307) to the last final blocks at or before it: ${TIMES}. Or the \`snapshotId\` of a snapshot of this wallet, whose chains it then has.`,
    },
    to: {
      kind: datedBlocksKind(served),
      example: EXAMPLE_DIFF_QUERY.to,
      description:
        "The blocks or the time at which it ends, in the same form; without it, the newest blocks.",
    },
    partial: partialField,
  });
}

/** Parameters for a service of these chains. */
export function createDiffParameters(served: readonly string[]) {
  const { parameters, typed } = defineDiffQuery(served);
  return {
    parameters,
    parse: (values: Readonly<Record<string, unknown>>) => parseDiffRequest(typed(values)),
  };
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

function parseDiffRequest(given: ReturnType<ReturnType<typeof defineDiffQuery>["typed"]>): DiffRequest {
  const { chains = null } = given;
  const wallet = readWallet(given);
  const to = given.to === undefined ? null : new Map(given.to);
  const from = typeof given.from === "string" ? given.from : new Map(given.from);
  if (typeof from === "string") {
    if (to !== null) requireSameChains(chains ?? [...to.keys()], to, "to");
    return { ...wallet, slugs: chains ?? (to && [...to.keys()]), from, to };
  }
  const slugs = chains ?? [...from.keys()];
  requireSameChains(slugs, from, "from");
  if (to !== null) requireSameChains(slugs, to, "to");
  if (to !== null) requireForward(from, to);
  return { ...wallet, slugs, from, to };
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
