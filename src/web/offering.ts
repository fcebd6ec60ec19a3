// The paid routes and their terms: the single source of every description for programs, directories and people.
import { Fault } from "../lib/fault.ts";

/** The payment requirements of a route, as in x402. */
export type PaymentTerms = {
  readonly scheme: "exact";
  /** CAIP-2, such as `eip155:8453`. */
  readonly network: string;
  /** Smallest units, as decimal text. */
  readonly amount: string;
  readonly asset: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  /** The token's EIP-712 domain. */
  readonly extra: { readonly name: string; readonly version: string };
};

export type PaidRoute = {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** A short name of what it returns. */
  readonly summary: string;
  /** A few sentences of plain text. */
  readonly description: string;
  /** The price of a request for one chain, in plain decimal text, such as `0.01`. */
  readonly priceUsd: string;
  /** The addition for each further chain; null if all chains cost one price. */
  readonly priceUsdPerChain: string | null;
  /** The price of a summary of one chain; null if it costs what the whole response costs. */
  readonly priceUsdSummary: string | null;
  /** The addition for a response with proofs; null if they cost nothing. */
  readonly priceUsdProof: string | null;
  /** The price of one chain, of two, and so on, as text and in the token's smallest units. */
  readonly prices: readonly { readonly priceUsd: string; readonly amount: string }[];
  readonly tags: readonly string[];
  readonly mimeType: string;
  /** Examples for its query, by the name of each parameter. */
  readonly query: Readonly<Record<string, string>>;
  /** The terms of a request for one chain. */
  readonly terms: PaymentTerms;
  /** Whether the Machine Payments Protocol pays for it too. */
  readonly takesMpp: boolean;
  /** Extensions of x402 by name, as in a 402 response: what the route takes and returns. */
  readonly extensions: Readonly<Record<string, unknown>>;
};

export type Offering = {
  /** Scheme, host and port of the service, without a trailing slash. Never taken from a request. */
  readonly origin: string;
  readonly name: string;
  readonly description: string;
  readonly routes: readonly PaidRoute[];
  /** Since when the terms apply, in milliseconds since 1970. */
  readonly termsSinceMs: number;
};

/** The terms that all routes share: the token, its network and the payee. */
export function commonTermsOf({
  routes,
}: Offering): Pick<PaymentTerms, "network" | "asset" | "payTo" | "extra"> {
  const [first] = routes;
  if (first === undefined) throw new TypeError("The offering has no route.");
  return first.terms;
}

/** Such as `$0.01`, or `$0.01 ($0.002 with detail=summary), and $0.005 for each chain after the first`. */
export function formatRoutePrice(route: PaidRoute): string {
  const { priceUsd, priceUsdPerChain, priceUsdSummary, priceUsdProof } = route;
  const summary = priceUsdSummary === null ? "" : ` ($${priceUsdSummary} with detail=summary)`;
  const added = priceUsdPerChain === null ? "" : `, and $${priceUsdPerChain} for each chain after the first`;
  const proven = priceUsdProof === null ? "" : `, and $${priceUsdProof} with proof=1`;
  return `$${priceUsd}${summary}${added}${proven}`;
}

// The limits of directories, which cut or reject anything beyond them.
const DESCRIPTION_LENGTH_MAX = 500;
const NAME = /^[\x20-\x7e]{1,32}$/;
const TAGS_MAX = 5;

/** Rejects at start what a directory would reject later. */
export function validateOffering(offering: Offering): Offering {
  const { name, routes } = offering;
  if (!NAME.test(name)) throw invalidOffering("its name must be 1 to 32 characters of ASCII");
  for (const {
    path,
    description,
    priceUsd,
    priceUsdPerChain,
    priceUsdSummary,
    priceUsdProof,
    tags,
  } of routes) {
    if (!path.startsWith("/")) throw invalidOffering(`the path ${path} must begin with a slash`);
    if (description.length > DESCRIPTION_LENGTH_MAX)
      throw invalidOffering(`a description has at most ${DESCRIPTION_LENGTH_MAX} characters`);
    const prices = [priceUsd, priceUsdPerChain ?? "0", priceUsdSummary ?? "0", priceUsdProof ?? "0"];
    if (!prices.every((each) => /^\d+(\.\d+)?$/.test(each)))
      throw invalidOffering("a price must be plain decimal text");
    if (tags.length > TAGS_MAX) throw invalidOffering(`there are at most ${TAGS_MAX} tags`);
  }
  return offering;
}

function invalidOffering(what: string): Fault {
  return new Fault("CONFIG_INVALID", `The offering cannot be published: ${what}.`);
}
