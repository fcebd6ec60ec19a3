// The query of a portfolio request: a wallet, its chains and their blocks, and whether to list spam.
import { PORTFOLIO_CHAINS } from "../chain/chains/chains.ts";
import { describeWrongChecksum } from "../lib/checksum.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import { enumParameter, type Parameter, type ParameterKind } from "../schema/parameter.ts";
import type { SqlValue } from "../schema/sql.ts";
import type { SnapshotQuery } from "./snapshot.ts";

export type PortfolioRequest = SnapshotQuery & {
  readonly spam: "include" | "exclude";
  /** The problem with the spelling of the wallet. */
  readonly warning?: string | undefined;
};

type PortfolioParameters = {
  readonly parameters: readonly Parameter[];
  /** Applies the defaults to values that the router has parsed with `parameters`. */
  parse(values: Readonly<Record<string, unknown>>): PortfolioRequest;
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
export function createPortfolioParameters(served: readonly string[]): PortfolioParameters {
  const defaults = selectDefaultChains(served);
  const spam = enumParameter(["include", "exclude"]);
  return {
    parameters: [
      parameter("address", addressKind, EXAMPLE_WALLET, ADDRESS_DESCRIPTION),
      parameter(
        "chains",
        chainsKind(served, defaults),
        defaults.join(","),
        `Chains to include, separated by commas: ${served.join(", ")}. At most ${CHAINS_MAX}; duplicates are ignored, the order is preserved.`,
      ),
      parameter(
        "block",
        blocksKind(served),
        EXAMPLE_BLOCKS,
        "The block of each chain, for a snapshot as of then: `chain:number`, separated by commas. Either every chain is named or none; without `chains`, those named here are read. The response then follows from the chains alone, and its timestamp is that of the newest block named.",
      ),
      parameter(
        "spam",
        { ...spam, json: { ...spam.json, default: "include" } },
        "exclude",
        "Whether to list tokens marked as spam. Totals exclude them either way; `summary.warnings` counts what is not listed.",
      ),
      parameter("partial", partialKind, "allow", PARTIAL_DESCRIPTION),
    ],
    parse: (values) => {
      const { address, chains, block, spam, partial } = values as ParsedValues;
      const blocks = block === undefined ? null : new Map(block);
      const slugs = chains ?? (blocks === null ? defaults : [...blocks.keys()]);
      if (blocks !== null) requireSameChains(slugs, blocks, "block");
      return {
        ...readWallet(address),
        slugs,
        spam: spam ?? "include",
        ...(blocks && { blocks }),
        ...(partial === "allow" && { partial: true }),
      };
    },
  };
}

/** The results of the parameter kinds below; the router's record of values is untyped. */
type ParsedValues = {
  readonly address: Hex;
  readonly chains?: readonly string[];
  readonly block?: readonly ChainBlock[];
  readonly spam?: PortfolioRequest["spam"];
  readonly partial?: PartialWord;
};

export type PartialWord = "reject" | "allow";

const partialWords = enumParameter(["reject", "allow"]);
export const partialKind = { ...partialWords, json: { ...partialWords.json, default: "reject" } };

export const PARTIAL_DESCRIPTION =
  "The action when a chain cannot be read: `reject` the request without a charge, or `allow` a response without that chain, at the same price. `failedChains` then names it, and totals that lack it are null, or marked as partial.";

/** As it was spelled. Names are redirected to their addresses before parameters are parsed. */
export const addressKind: ParameterKind<Hex> = {
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

const ADDRESS = /^0x[a-fA-F0-9]{40}$/;

/** The wallet in lower case. A wrong checksum is accepted, as specified, and named: it is the only sign of a mistyped digit. */
export function readWallet(address: Hex): { readonly wallet: Hex; readonly warning?: string } {
  const wallet = address.toLowerCase() as Hex;
  const warning = describeWrongChecksum(address);
  return warning === null ? { wallet } : { wallet, warning };
}

/** For the descriptions of all routes. */
export const ADDRESS_DESCRIPTION =
  "The EVM wallet, in upper or lower case; or a name in ENS or Basenames, which is redirected (307) to the same request by address before anything is paid.";

export function chainsKind(
  served: readonly string[],
  defaults: readonly string[],
): ParameterKind<readonly string[]> {
  return {
    json: { type: "string", default: defaults.join(","), examples: [served.join(",")] },
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

const REQUIRED: ReadonlySet<string> = new Set(["address", "from"]);

export function parameter(
  name: string,
  kind: ParameterKind<SqlValue>,
  example: string,
  description: string,
): Parameter {
  return { name, in: "query", required: REQUIRED.has(name), kind, description, example };
}
