// The query of a portfolio request: a wallet, its chains and their blocks, and whether to list spam.
import { PORTFOLIO_CHAINS } from "../chain/chains/chains.ts";
import { describeWrongChecksum } from "../lib/checksum.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import { isMoment, MOMENT_PATTERN } from "../lib/moment.ts";
import {
  defineQuery,
  enumParameter,
  type ParameterKind,
  type Query,
  queryParameter,
  requiredParameter,
  withDefault,
} from "../schema/parameter.ts";
import { describeTimes, TIMES, timeJson } from "../schema/time-parameter.ts";
import type { SnapshotQuery } from "./snapshot.ts";

export type PortfolioRequest = SnapshotQuery & {
  readonly spam: "include" | "exclude";
  /** The problem with the spelling of the wallet. */
  readonly warning?: string | undefined;
};

const ALIASES: ReadonlyMap<string, string> = new Map([["eth", "ethereum"]]);
/** Chains that a service can be configured for, in the order in which responses list them. */
export const SUPPORTED_CHAINS: readonly string[] = PORTFOLIO_CHAINS.map(({ slug }) => slug);
export const DEFAULT_CHAINS = ["base", "ethereum"];
// Has tokens and a position in every local run.
export const EXAMPLE_WALLET = "0x14dc79964da2c08b23698b3d3cc7ca32193d9955";
/** Blocks of the real chains, long after the contracts that read them were deployed. */
export const EXAMPLE_BLOCKS = "base:38000000,ethereum:23700000";
// Twice the number of chains, so that repeats and aliases are accepted.
const CHAINS_MAX = 2 * SUPPORTED_CHAINS.length;
// Ten of the longest slugs with whitespace; only bounds the work of parsing.
const TEXT_LENGTH_MAX = 500;

/** The chains that are read without `chains`: the defaults that are served, or the first served chain. */
export function selectDefaultChains(served: readonly string[]): readonly string[] {
  const servedDefaults = DEFAULT_CHAINS.filter((slug) => served.includes(slug));
  return servedDefaults.length > 0 ? servedDefaults : served.slice(0, DEFAULT_CHAINS.length);
}

/** Parameters for a service of these chains. */
export function createPortfolioParameters(served: readonly string[]): Query<PortfolioRequest> {
  const defaults = selectDefaultChains(served);
  const parameters = [
    addressQuery,
    queryParameter(
      "chains",
      chainsKind(served, { default: defaults.join(",") }),
      `Chains to include, separated by commas: ${served.join(", ")}. At most ${CHAINS_MAX}; duplicates are ignored, the order is preserved.`,
      defaults.join(","),
    ),
    queryParameter(
      "block",
      blocksKind(served),
      "The block of each chain, for a snapshot as of then: `chain:number`, separated by commas. Either every chain is named or none; without `chains`, those named here are read. The response then follows from the chains alone, and its timestamp is that of the newest block named.",
      EXAMPLE_BLOCKS,
    ),
    atQuery,
    queryParameter(
      "spam",
      withDefault(enumParameter(["include", "exclude"]), "include"),
      "Whether to list tokens marked as spam. Totals exclude them either way; `summary.warnings` counts what is not listed.",
      "exclude",
    ),
    partialQuery,
  ] as const;
  return defineQuery(parameters, ({ chains, block, spam = "include", ...wallet }) => {
    const blocks = block && new Map(block);
    const slugs = chains ?? (blocks ? [...blocks.keys()] : defaults);
    if (blocks) requireSameChains(slugs, blocks, "block");
    return { ...readWallet(wallet), slugs, spam, blocks };
  });
}

/** All that determines the response, in one form for equal requests. */
export function canonicalQuery({
  wallet,
  slugs,
  blocks,
  spam,
  partial,
}: PortfolioRequest): Readonly<Record<string, string>> {
  return {
    address: wallet,
    chains: slugs.join(","),
    ...(blocks && { block: formatBlocks(blocks, slugs) }),
    ...(spam === "exclude" && { spam }),
    ...(partial && { partial: "allow" }),
  };
}

/** Redirected before parameters are parsed. */
const atKind: ParameterKind<never> = {
  json: timeJson,
  toolJson: { type: "string", pattern: MOMENT_PATTERN },
  parse: (text, name) => {
    throw new Fault("INPUT_INVALID", `${name} must be a time: ${describeTimes()}, not "${text}".`);
  },
};

const atQuery = queryParameter(
  "at",
  atKind,
  `A time in place of \`block\`: ${TIMES}. It is redirected (307) to the same request with the last final block of each chain at or before it, before anything is paid.`,
  "7d",
);

/** Blocks of chains, or a time, which is redirected to them before parameters are parsed. */
export function datedBlocksKind(served: readonly string[]): ParameterKind<readonly ChainBlock[]> {
  const { parse } = blocksKind(served);
  return {
    json: timeJson,
    toolJson: { type: "string", pattern: `${MOMENT_PATTERN}|^[^:]+:[0-9]+` },
    parse: (text, name) => {
      if (text.includes(":") || isMoment(text)) return parse(text, name);
      const blocks = `blocks such as ${served[0]}:123`;
      throw new Fault("INPUT_INVALID", `${name} must be ${blocks}, or a time: ${describeTimes()}.`);
    },
  };
}

export const partialQuery = queryParameter(
  "partial",
  withDefault(enumParameter(["reject", "allow"]), "reject"),
  "What to do when a chain cannot be read: `reject` the request without a charge, or `allow` a response without that chain, at the same price. `failedChains` then names it, and totals that lack it are null, or marked as partial.",
  "allow",
);

/** As it was spelled. Names are redirected to their addresses before parameters are parsed. */
const addressKind: ParameterKind<Hex> = {
  json: {
    type: "string",
    anyOf: [
      { type: "string", title: "Address", pattern: "^0x[a-fA-F0-9]{40}$" },
      { type: "string", title: "Name", maxLength: 255, pattern: "^.+\\..+$" },
    ],
  },
  toolJson: { type: "string", maxLength: 255, pattern: "^(0x[a-fA-F0-9]{40}|.+\\..+)$" },
  parse: (text, name) => {
    if (ADDRESS.test(text)) return text as Hex;
    throw new Fault(
      "INPUT_INVALID",
      `${name} must be an address, 0x followed by 40 hex digits, or a name such as vitalik.eth.`,
    );
  },
};

export const addressQuery = requiredParameter(
  "address",
  addressKind,
  "The EVM wallet, in upper or lower case; or a name in ENS or Basenames, which is redirected (307) to the same request by address before anything is paid.",
  EXAMPLE_WALLET,
);

const ADDRESS = /^0x[a-fA-F0-9]{40}$/;

/** The wallet in lower case. A wrong checksum is accepted, as specified, and named: it is the only sign of a mistyped digit. */
export function readWallet({
  address,
  partial,
}: {
  readonly address: Hex;
  readonly partial?: "reject" | "allow";
}): Pick<PortfolioRequest, "wallet" | "warning" | "partial"> {
  const wallet = address.toLowerCase() as Hex;
  const warning = describeWrongChecksum(address) ?? undefined;
  return { wallet, warning, partial: partial === "allow" };
}

export function chainsKind(
  served: readonly string[],
  given: { readonly default?: string } = {},
): ParameterKind<readonly string[]> {
  return {
    json: { type: "string", ...given, examples: [served.join(",")] },
    parse: (text, name) => {
      const words = text.length <= TEXT_LENGTH_MAX ? text.split(",") : [];
      if (text.length > TEXT_LENGTH_MAX || words.length > CHAINS_MAX) {
        throw new Fault("INPUT_INVALID", `${name} must name at most ${CHAINS_MAX} chains.`);
      }
      const slugs = words.map((word) => resolveAlias(word.trim().toLowerCase()));
      if (slugs.some((slug) => !served.includes(slug))) {
        throw new Fault("INPUT_INVALID", `${name} must be a comma-separated list of ${served.join(", ")}.`);
      }
      return [...new Set(slugs)];
    },
  };
}

/** A chain's slug and a block number. */
export type ChainBlock = readonly [string, number];

// Far above any chain's head, and exact as a number.
const BLOCK = /^(?:0|[1-9][0-9]{0,14})$/;

/** Blocks of chains; of the same chain only one. */
export function blocksKind(served: readonly string[]): ParameterKind<readonly ChainBlock[]> {
  return {
    // Without a pattern: it would be in a header of each 402.
    json: { type: "string" },
    parse: (text, name) => {
      const words = text.length <= TEXT_LENGTH_MAX ? text.split(",") : [];
      const blocks = words.map((word): ChainBlock | null => {
        const [slug = "", number = "", ...rest] = word.trim().toLowerCase().split(":");
        return BLOCK.test(number) && rest.length === 0 ? [resolveAlias(slug), Number(number)] : null;
      });
      const known = blocks.filter((block) => block !== null && served.includes(block[0])) as ChainBlock[];
      if (text.length > TEXT_LENGTH_MAX || blocks.length > CHAINS_MAX || known.length < blocks.length) {
        throw new Fault(
          "INPUT_INVALID",
          `${name} must be a comma-separated list such as base:123, of chains among ${served.join(", ")}.`,
        );
      }
      if (new Set(known.map(([slug]) => slug)).size < known.length) {
        throw new Fault("INPUT_INVALID", `${name} must name each chain once.`);
      }
      return known;
    },
  };
}

/** A sum of what one chain held then and what another holds now would be a value of no time. */
export function requireSameChains(
  slugs: readonly string[],
  blocks: ReadonlyMap<string, number>,
  name: string,
): void {
  const unnamed = slugs.filter((slug) => !blocks.has(slug));
  if (unnamed.length > 0) {
    throw new Fault(
      "INPUT_INVALID",
      `${name} must name a block of every chain of the request; it lacks ${unnamed.join(", ")}.`,
    );
  }
  const surplus = [...blocks.keys()].filter((slug) => !slugs.includes(slug));
  if (surplus.length > 0) {
    throw new Fault(
      "INPUT_INVALID",
      `${name} names ${surplus.join(", ")}, which is not a chain of the request.`,
    );
  }
}

/** As text, in the order of the chains. */
export function formatBlocks(blocks: ReadonlyMap<string, number>, slugs: readonly string[]): string {
  return slugs.map((slug) => `${slug}:${blocks.get(slug)}`).join(",");
}

function resolveAlias(word: string): string {
  return ALIASES.get(word) ?? word;
}
