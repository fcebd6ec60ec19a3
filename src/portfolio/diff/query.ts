// The query of a difference: a wallet, its chains, and the blocks from which and to which it is taken.
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Parameter, ParameterKind } from "../../schema/parameter.ts";
import {
  ADDRESS_DESCRIPTION,
  addressKind,
  blocksKind,
  type ChainBlock,
  chainsKind,
  EXAMPLE_BLOCKS,
  EXAMPLE_WALLET,
  formatBlocks,
  PARTIAL_DESCRIPTION,
  type PartialWord,
  parameter,
  partialKind,
  readWallet,
  requireSameChains,
} from "../query.ts";

export type DiffRequest = {
  readonly wallet: Hex;
  /** The problem with the spelling of the wallet. */
  readonly warning?: string | undefined;
  /** Whether a chain that cannot be read at one end is left out. */
  readonly partial?: boolean;
  /** Distinct, in the order of the response; null for those of the stored snapshot. */
  readonly slugs: readonly string[] | null;
  /** Blocks by slug, or the id of a stored snapshot. */
  readonly from: ReadonlyMap<string, number> | string;
  /** Null for the newest blocks. */
  readonly to: ReadonlyMap<string, number> | null;
};

type ParsedValues = {
  readonly address: Hex;
  readonly chains?: readonly string[];
  readonly from: readonly ChainBlock[] | string;
  readonly to?: readonly ChainBlock[];
  readonly partial?: PartialWord;
};

export const EXAMPLE_DIFF_QUERY = {
  address: EXAMPLE_WALLET,
  from: EXAMPLE_BLOCKS,
  to: "base:38040000,ethereum:23707000",
};

export function createDiffParameters(served: readonly string[]): readonly Parameter[] {
  return [
    parameter("address", addressKind, EXAMPLE_DIFF_QUERY.address, ADDRESS_DESCRIPTION),
    parameter(
      "chains",
      withoutDefault(chainsKind(served, [])),
      "base,ethereum",
      "Chains to include, separated by commas; without it, those that `from` names.",
    ),
    parameter(
      "from",
      fromKind(served),
      EXAMPLE_DIFF_QUERY.from,
      "The block of each chain at which the difference starts: `chain:number`, separated by commas. Or the `snapshotId` of a snapshot of this wallet, whose chains it then has.",
    ),
    parameter(
      "to",
      blocksKind(served),
      EXAMPLE_DIFF_QUERY.to,
      "The block of each chain at which it ends, in the same form; without it, the newest blocks.",
    ),
    parameter("partial", partialKind, "allow", PARTIAL_DESCRIPTION),
  ];
}

function withoutDefault<Kind extends { readonly json: Readonly<Record<string, unknown>> }>(kind: Kind): Kind {
  const { default: _, ...json } = kind.json;
  return { ...kind, json };
}

const SNAPSHOT_ID = /^[0-9a-f]{64}$/;

function fromKind(served: readonly string[]): ParameterKind<readonly ChainBlock[] | string> {
  const blocks = blocksKind(served);
  return {
    json: { type: "string" },
    parse: (text, name) => (SNAPSHOT_ID.test(text) ? text : blocks.parse(text, name)),
  };
}

export function parseDiffRequest(values: Readonly<Record<string, unknown>>): DiffRequest {
  const { address, chains = null, ...given } = values as ParsedValues;
  const wallet = { ...readWallet(address), ...(given.partial === "allow" && { partial: true }) };
  const to = given.to === undefined ? null : new Map(given.to);
  if (typeof given.from === "string") {
    if (to !== null) requireSameChains(chains ?? [...to.keys()], to, "to");
    return { ...wallet, slugs: chains ?? (to && [...to.keys()]), from: given.from, to };
  }
  const from = new Map(given.from);
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
