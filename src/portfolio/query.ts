// What a portfolio request asks: a wallet, its chains, and whether spam is shown.
import { Fault } from "../lib/fault.ts";
import { type Hex, parseAddress } from "../lib/hex.ts";
import { enumParameter, type Parameter, type ParameterKind } from "../schema/parameter.ts";
import type { SqlValue } from "../schema/sql.ts";
import type { SnapshotQuery } from "./snapshot.ts";

export type PortfolioRequest = SnapshotQuery & { readonly spam: "include" | "exclude" };

export type PortfolioParameters = {
  readonly parameters: readonly Parameter[];
  /** What the parameters say, once they are parsed, with the defaults of those not given. */
  parse(values: Readonly<Record<string, unknown>>): PortfolioRequest;
};

const ALIASES: ReadonlyMap<string, string> = new Map([["eth", "ethereum"]]);
const DEFAULTS = ["base", "ethereum"];
// Twice the chains there are, so that repeating one or using an alias is no mistake.
const GIVEN_MAX = 10;
// Ten of the longest slugs with blanks around them; a bound on work, not on meaning.
const TEXT_LENGTH_MAX = 500;

/** For a service of these chains. Where one of the defaults is not served, the others are the default. */
export function createPortfolioParameters(served: readonly string[]): PortfolioParameters {
  const both = DEFAULTS.filter((slug) => served.includes(slug));
  const defaults = both.length > 0 ? both : served.slice(0, DEFAULTS.length);
  const spam = enumParameter(["include", "exclude"]);
  return {
    parameters: [
      parameter("address", addressKind, true, "The EVM wallet, in any case."),
      parameter(
        "chains",
        chainsKind(served, defaults),
        false,
        `Chains to include, separated by commas: ${served.join(", ")}. At most ${GIVEN_MAX}; repeated ones count once, the order is kept.`,
      ),
      parameter(
        "spam",
        { ...spam, json: { ...spam.json, default: "include" } },
        false,
        "Whether tokens marked as spam are listed. They count in no total either way.",
      ),
    ],
    parse: ({ address, chains, spam }) => ({
      wallet: address as Hex,
      slugs: (chains as readonly string[] | undefined) ?? defaults,
      spam: (spam as PortfolioRequest["spam"] | undefined) ?? "include",
    }),
  };
}

const addressKind: ParameterKind<Hex> = {
  json: { type: "string", pattern: "^0x[a-fA-F0-9]{40}$" },
  parse: parseAddress,
};

function chainsKind(
  served: readonly string[],
  defaults: readonly string[],
): ParameterKind<readonly string[]> {
  return {
    json: { type: "string", default: defaults.join(","), examples: [served.join(",")] },
    parse: (text, name) => {
      const given = text.length <= TEXT_LENGTH_MAX ? text.split(",") : [];
      if (text.length > TEXT_LENGTH_MAX || given.length > GIVEN_MAX) {
        throw new Fault("INPUT_INVALID", `${name} must name at most ${GIVEN_MAX} chains.`);
      }
      const slugs = given.map((word) => canonical(word.trim().toLowerCase()));
      if (slugs.some((slug) => !served.includes(slug))) {
        throw new Fault("INPUT_INVALID", `${name} must be a comma-separated list of ${served.join(", ")}.`);
      }
      return [...new Set(slugs)];
    },
  };
}

function canonical(word: string): string {
  return ALIASES.get(word) ?? word;
}

function parameter(
  name: string,
  kind: ParameterKind<SqlValue>,
  required: boolean,
  meaning: string,
): Parameter {
  return { name, in: "query", required, kind, description: meaning };
}
