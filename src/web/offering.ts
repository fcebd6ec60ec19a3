// What is sold, in one table: every description of it, for programs, directories and people, is made from here.
import { Fault } from "../lib/fault.ts";

/** What one payment must be, in the words of x402. */
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
  readonly method: "GET";
  readonly path: string;
  /** One sentence or a few, plain text. */
  readonly description: string;
  /** Plain decimal text, such as `0.01`. */
  readonly priceUsd: string;
  readonly tags: readonly string[];
  readonly terms: PaymentTerms;
};

export type Offering = {
  /** Where clients reach the service: scheme, host and port, no slash at the end. Never from a request. */
  readonly origin: string;
  readonly name: string;
  readonly description: string;
  readonly routes: readonly PaidRoute[];
  /** When these terms came to be, in milliseconds since 1970. */
  readonly termsSinceMs: number;
};

// What directories accept: longer texts and more tags are cut or refused there.
const DESCRIPTION_LENGTH_MAX = 500;
const NAME = /^[\x20-\x7e]{1,32}$/;
const TAGS_MAX = 5;

/** Refuses at the start what a directory would refuse later. */
export function validateOffering(offering: Offering): Offering {
  const { name, routes } = offering;
  if (!NAME.test(name)) throw defect("its name must be 1 to 32 characters of ASCII");
  for (const { path, description, priceUsd, tags } of routes) {
    if (!path.startsWith("/")) throw defect(`the path ${path} must begin with a slash`);
    if (description.length > DESCRIPTION_LENGTH_MAX)
      throw defect(`a description has at most ${DESCRIPTION_LENGTH_MAX} characters`);
    if (!/^\d+(\.\d+)?$/.test(priceUsd)) throw defect("a price must be plain decimal text");
    if (tags.length > TAGS_MAX) throw defect(`there are at most ${TAGS_MAX} tags`);
  }
  return offering;
}

function defect(what: string): Fault {
  return new Fault("CONFIG_INVALID", `The offering can not be published: ${what}.`);
}
