// Declares a paid route; terms, endpoint, tool and every description are derived from it.

import type { paywallSettings } from "../../../config/payment-settings.ts";
import type { Config } from "../../../config/read-config.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Decimal } from "../../../lib/decimal.ts";
import type { Log } from "../../../lib/log.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import type { ParameterValues, Query } from "../../../schema/parameter.ts";
import type { StoredSnapshots } from "../../diff/figures.ts";
import { checkBlocks, type FreeReads } from "../../free-reads.ts";
import type { NameResolver } from "../../names/name-resolver.ts";
import type { ResponseProver } from "../../proofs/prove-response.ts";
import { canonicalQuery, createPortfolioParameters, type PortfolioRequest } from "../../query.ts";
import type { ReadLoad } from "../../read-load.ts";
import type { SnapshotReader } from "../../snapshot.ts";
import type { HoldingsProvider, PortfolioChain, PositionReader, PriceSource } from "../../types.ts";

/** The dependencies that the handlers of all routes share. */
export type RouteServices = {
  /** Equal requests share one read. */
  readonly snapshots: SnapshotReader;
  /** Chains by slug, in the order in which responses list them. */
  readonly chains: ReadonlyMap<string, PortfolioChain>;
  readonly provider: HoldingsProvider;
  readonly priceSources: readonly (readonly PriceSource[])[];
  readonly positionReaders: readonly PositionReader[];
  /** For names that requests give in place of addresses. */
  readonly names: NameResolver;
  /** For reads before anything is paid. */
  readonly freeReads: FreeReads;
  readonly load: ReadLoad;
  /** For responses with `proof=1`. */
  readonly prover: ResponseProver;
  readonly clock: Clock;
  readonly log: Log;
  /** Null if snapshots are not stored. */
  readonly storedSnapshots: StoredSnapshots | null;
};

/** A valid request. */
type PaidRead<Body = unknown> = {
  /** All that determines the response, in one form for equal requests: the payment is bound to it. */
  readonly query: Readonly<Record<string, string>>;
  /** Warnings about the request itself for the payer, such as a mistyped address; part of the terms. */
  readonly warning?: string | undefined;
  /**
   * How many chains it reads, on which its price depends. Equal for equal queries, but for a stored snapshot that was not
   * there before.
   */
  countChains(services: RouteServices, client: string): Promise<number>;
  /** Whether it returns a summary only, which may have a price of its own. */
  readonly isSummary?: boolean;
  /** Whether it returns proofs as well, which may add to the price. */
  readonly hasProofs?: boolean;
  /** How many chains it reads at most, each as often as it is read. */
  readonly readCount: number;
  /** Rejects, before a price is named, a request that cannot be served, as far as that costs little to know. */
  check(services: RouteServices, client: string): Promise<void>;
  /** The body of the response; it must end when the signal aborts. */
  read(services: RouteServices, signal: AbortSignal): Promise<Body>;
};

/** A query, which may be in the body of the request. */
export type PaidQuery<Body = unknown> = Pick<Query<PaidRead<Body>>, "parameters"> & {
  parse(values: ParameterValues, requestBody?: unknown): PaidRead<Body>;
};

/** The body of a request, for a route whose query is too large for a URL. It has one form, and reads one chain. */
type RequestForm = {
  readonly schema: JsonSchema;
  readonly example: Readonly<Record<string, unknown>>;
  readonly bytesMax: number;
};

/** A response that was paid for, or that is free for development; bytes if it comes from the ledger. */
export type DeliveredResponse = {
  readonly query: PaidRead["query"];
  readonly body: unknown;
};

export type PaidRouteDeclaration = {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** A few sentences, at most 500 characters: also part of the terms in a 402. */
  readonly description: string;
  /** As directories show them; at most five. */
  readonly tags: readonly string[];
  /** The setting of its price; if that is not set, the usual one if the token can express it, else what a snapshot costs. */
  readonly price: { readonly key: PriceKey; readonly variable: string; readonly usual?: Decimal };
  /** Present if the route is a POST. */
  readonly body?: RequestForm;
  /** The query for a service of these chains. */
  createQuery(served: readonly string[]): PaidQuery;
  /** An example of the query, for directories and texts. */
  readonly exampleQuery: Readonly<Record<string, string>>;
  readonly response: JsonSchema;
  /** The other forms of the response, which parameters select; see `budget/`. */
  readonly otherResponses?: readonly JsonSchema[];
  readonly responseExample: Readonly<Record<string, unknown>>;
  /** The beginning of the example: it goes into a header of each 402, with the names of the response's fields. */
  readonly responseExcerpt: Readonly<Record<string, unknown>>;
  /** Sentences for programs that read the response. */
  readonly notes: readonly string[];
  /** Runs before each delivery of the response, a repeated one included, and never for one that was not paid for. */
  readonly onDelivery?: (services: RouteServices, delivered: DeliveredResponse) => Promise<void>;
  readonly tool: {
    readonly name: string;
    readonly title: string;
    /** Says what it is for. */
    readonly purpose: string;
    /** Texts in the list of tools about arguments whose names do not say enough. */
    readonly hints?: Readonly<Record<string, string>>;
    /** Sent unless the caller gives another value. */
    readonly defaults?: Readonly<Record<string, string>>;
  };
};

type PriceKey = keyof Config<typeof paywallSettings> & `${string}PriceUsd`;

type Warned = { readonly summary: { readonly warnings: readonly string[] } };

/** A query of a wallet and its chains, now or as of blocks. */
export function createWalletQuery<Body extends Warned>(
  served: readonly string[],
  read: (request: PortfolioRequest, services: RouteServices, signal: AbortSignal) => Promise<Body>,
): PaidQuery<Body> {
  const { parameters, parse } = createPortfolioParameters(served);
  return {
    parameters,
    parse: (values) => {
      const request = parse(values);
      const { blocks = new Map(), warning } = request;
      return {
        query: canonicalQuery(request),
        warning,
        countChains: async () => request.slugs.length,
        readCount: request.slugs.length,
        check: (services, client) => checkBlocks(services, [blocks], client),
        read: async (services, signal) => addWarning(await read(request, services, signal), warning),
      };
    },
  };
}

/** Adds a warning about the request before all others: those are about a wallet that may be the wrong one. */
function addWarning<Body extends Warned>(body: Body, warning: string | undefined): Body {
  if (warning === undefined) return body;
  return { ...body, summary: { ...body.summary, warnings: [warning, ...body.summary.warnings] } };
}
