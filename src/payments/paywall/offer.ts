// The offer and its terms: payment requirements of x402 version 2, the 402 with its listing for directories, requests that pay.
import { createHash } from "node:crypto";
import { SIGN_IN, SIGN_IN_TYPE } from "@sextant/client/payments/sign-in-message";
import type { PaymentPayload, PaymentRequired, PaymentRequirements } from "@x402/core/types";
import {
  BAZAAR,
  bazaarResourceServerExtension,
  type DiscoveryExtension,
  declareDiscoveryExtension,
} from "@x402/extensions/bazaar";
import { declarePaymentIdentifierExtension, PAYMENT_IDENTIFIER } from "@x402/extensions/payment-identifier";
import type { SigningKeys } from "../../http/signing/signing-keys.ts";
import type { Caip2Network } from "../../lib/caip2.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import { type ChannelTerms, channelRequirementsFor } from "../channels/channel-terms.ts";
import type { PaymentFacilitator } from "../facilitator/facilitator.ts";
import type { ChallengeIssuer } from "../mpp/challenges.ts";
import type { SignInChallenges } from "../sign-in/challenges.ts";
import { currentOfferWindow, signedOfferExtension } from "./signed-offers.ts";

export type PaymentOffer = {
  readonly network: Caip2Network;
  readonly asset: Hex;
  /** Name and version in the token's EIP-712 domain, under which payers sign. */
  readonly assetName: string;
  readonly assetVersion: string;
  readonly decimals: number;
  readonly payTo: Hex;
  /** The price of a request that reads one chain. */
  readonly amount: bigint;
  /** The addition for each further chain; absent if all chains cost one price. */
  readonly amountPerChain?: bigint;
  /** The price of a summary that reads one chain; absent if it costs what the whole response costs. */
  readonly summaryAmount?: bigint;
  /** The addition for a response with proofs; absent if they cost nothing. */
  readonly proofAmount?: bigint;
  /** How long a signature must stay valid: for the handler, the transfer and the network in between. */
  readonly maxTimeoutSeconds: number;
  readonly description: string;
  readonly mimeType: string;
  /** The URL at which clients find us, from configuration: anyone can write anything into a Host header. */
  readonly resourceOrigin: string;
  /** The listing for directories; null lists the resource nowhere. */
  readonly listing: ResourceListing | null;
  /** How to pay by channel; absent if only transfers are taken. */
  readonly channels?: ChannelTerms;
  /** Whether no transfer is taken, such as for a price far below the gas of one. */
  readonly isChannelOnly?: boolean;
  /** How long a response to a voucher is stored, for a client that lost it; absent if as long as the purchase. */
  readonly responseMs?: number;
  /** Issues challenges of the Machine Payments Protocol; absent if only x402 is taken. */
  readonly mpp?: ChallengeIssuer;
  /** Issues challenges for the accounts of payers, whose stored responses they get again; absent if nothing is stored. */
  readonly signIn?: SignInChallenges;
  /** Sign offers and receipts; absent if nothing is signed. */
  readonly signingKeys?: SigningKeys | undefined;
};

/** The part of an offer that a payment must match. */
export type OfferTerms = Pick<PaymentOffer, "network" | "asset" | "payTo" | "amount">;

// Proxies and clients commonly accept 8 KB of headers; this one must leave room for the others.
const HEADER_LENGTH_MAX = 7_000;
// The limit of the directories.
const DESCRIPTION_LENGTH_MAX = 500;

/** Throws for an offer that could not be paid or would not fit into a header. Call it at start. */
export function validateOffer(offer: PaymentOffer): PaymentOffer {
  const problem =
    ((offer.amount <= 0n || (offer.summaryAmount ?? 1n) <= 0n) && "has no price") ||
    (offer.description.length > DESCRIPTION_LENGTH_MAX &&
      `describes itself in over ${DESCRIPTION_LENGTH_MAX} characters`) ||
    (!isEvmNetwork(offer.network) && "names a network that is not eip155:<chain id>") ||
    (offer.isChannelOnly && !offer.channels && "can be paid in no way");
  if (problem) throw new Fault("CONFIG_INVALID", `The paid offer ${problem}.`);
  return offer;
}

// The offer by its prices.
const pricedOffers = new WeakMap<PaymentOffer, Map<bigint, PaymentOffer>>();

/** The offer at the price of a request; the same object for the same price, so that its 402 is encoded once. */
export function priceOffer(offer: PaymentOffer, resource: PaidResource): PaymentOffer {
  const amount = amountOf(offer, resource);
  if (amount === offer.amount) return offer;
  const known = pricedOffers.get(offer) ?? new Map<bigint, PaymentOffer>();
  pricedOffers.set(offer, known);
  const priced = known.get(amount) ?? {
    ...offer,
    amount,
    // A getter: without a configured URL it is the listen address, which is only known later.
    get resourceOrigin() {
      return offer.resourceOrigin;
    },
  };
  known.set(amount, priced);
  return priced;
}

/** In the token's smallest units. */
export function amountOf(
  { amount, amountPerChain = 0n, summaryAmount = amount, proofAmount = 0n }: PaymentOffer,
  { chainCount = 1, isSummary = false, hasProofs = false }: PricedParts,
): bigint {
  const ofForm = isSummary ? summaryAmount : amount;
  return ofForm + amountPerChain * BigInt(chainCount - 1) + (hasProofs ? proofAmount : 0n);
}

export function isEvmNetwork(text: string): text is Caip2Network {
  return /^eip155:[1-9][0-9]*$/.test(text);
}

export function paymentRequirementsFor(offer: PaymentOffer) {
  return {
    scheme: "exact" as const,
    network: offer.network,
    amount: offer.amount.toString(),
    asset: offer.asset,
    payTo: offer.payTo,
    maxTimeoutSeconds: offer.maxTimeoutSeconds,
    extra: { name: offer.assetName, version: offer.assetVersion },
  } satisfies PaymentRequirements;
}

/** The state of a channel, by which a client corrects what it signs. */
export type ChannelCorrection = Readonly<Record<string, unknown>>;

/** The part of a 402 that is the same for every request: its `accepts`, and the end of its header in base64. */
type FixedTerms = {
  readonly accepts: readonly PaymentRequirements[];
  readonly headerEnd: string;
  /** Members of the header, with the signed offers. */
  readonly extensions: Readonly<Record<string, unknown>>;
  /** The time for which its offers are signed; null if they are not. */
  readonly window: number | null;
};

// Most of a 402 is the listing; to serialize and encode it again for each request would take most of its time.
const fixedTerms = new WeakMap<PaymentOffer, FixedTerms>();

function fixedTermsOf(offer: PaymentOffer): FixedTerms {
  const known = fixedTerms.get(offer);
  if (known && (known.window === null || known.window === currentOfferWindow())) return known;
  const terms = createTerms(offer);
  fixedTerms.set(offer, terms);
  return terms;
}

function listAccepts(offer: PaymentOffer, correction: ChannelCorrection): readonly PaymentRequirements[] {
  const accepts: PaymentRequirements[] = offer.isChannelOnly ? [] : [paymentRequirementsFor(offer)];
  if (offer.channels) accepts.push(channelRequirementsFor(offer, offer.channels, correction));
  return accepts;
}

function createTerms(offer: PaymentOffer): FixedTerms {
  const accepts = listAccepts(offer, {});
  const window = offer.signingKeys === undefined ? null : currentOfferWindow();
  const extensions = {
    ...listingExtensions(offer),
    [PAYMENT_IDENTIFIER]: declareIdentifier(),
    ...(window === null ? {} : signedOfferExtension(offer, accepts, window)),
  };
  return { accepts, extensions, window, headerEnd: encodeHeaderEnd(offer, { accepts, extensions }) };
}

/** As the library declares it, without the dialect of its schema: each 402 has it in a header. */
function declareIdentifier() {
  const { info, schema } = declarePaymentIdentifierExtension(false);
  const { $schema: _, ...rules } = schema;
  return { info, schema: rules };
}

/** The same terms for one client. No signed offer covers what is corrected, so that none is signed again. */
function correctTerms(offer: PaymentOffer, correction: ChannelCorrection): FixedTerms {
  const terms = fixedTermsOf(offer);
  const accepts = listAccepts(offer, correction);
  return { ...terms, accepts, headerEnd: encodeHeaderEnd(offer, { ...terms, accepts }) };
}

/** Without the longest part, for a request with a long query: directories read the listing without one. */
function withoutListing(offer: PaymentOffer, terms: FixedTerms): FixedTerms {
  const { [BAZAAR.key]: _, ...extensions } = terms.extensions;
  return { ...terms, extensions, headerEnd: encodeHeaderEnd(offer, { ...terms, extensions }) };
}

/** With sign-in it goes on in that extension: the challenge in it is of one request, and all that follows is the same. */
function encodeHeaderEnd(
  { network, signIn }: PaymentOffer,
  { accepts, extensions }: Pick<FixedTerms, "accepts" | "extensions">,
): string {
  if (signIn === undefined) return encodeBase64(`,${JSON.stringify({ accepts, extensions }).slice(1)}`);
  // x402 wants a schema, which every 402 would carry in its header.
  const rest = { supportedChains: [{ chainId: network, type: SIGN_IN_TYPE }], schema: {} };
  const members = [rest, extensions].map((value) => `,${JSON.stringify(value).slice(1)}`);
  return encodeBase64(`${members.join("")},"accepts":${JSON.stringify(accepts)}}`);
}

const transferOffers = new WeakMap<PaymentOffer, PaymentOffer>();

/** The same offer for transfers only. */
export function withoutChannels(offer: PaymentOffer): PaymentOffer {
  if (offer.channels === undefined) return offer;
  const known = transferOffers.get(offer);
  if (known) return known;
  // Copies keep getters: without configuration the origin is known late.
  const { channels, ...properties } = Object.getOwnPropertyDescriptors(offer);
  const only: PaymentOffer = Object.create(Object.prototype, properties);
  transferOffers.set(offer, only);
  return only;
}

/** The same offer with sign-in. */
export function withSignIn(offer: PaymentOffer, value: SignInChallenges | undefined): PaymentOffer {
  if (value === undefined) return offer;
  const signIn = { value, enumerable: true };
  return Object.create(Object.prototype, { ...Object.getOwnPropertyDescriptors(offer), signIn });
}

/** The payment requirements of one request in base64, as the header carries them. */
function encodePaymentRequired(
  offer: PaymentOffer,
  { headerEnd }: FixedTerms,
  { resource, reason, fingerprint }: { resource: PaidResource; reason: string; fingerprint: string },
): string {
  // Checked here and not at start: without configuration it is the listening address, which is known later.
  if (!/^https?:\/\/[^/?#]+$/.test(offer.resourceOrigin)) {
    throw new Fault("INTERNAL", "The origin of the paid offer is invalid.");
  }
  const info = offer.signIn?.issue(offer, { path: resource.path, fingerprint });
  const text = JSON.stringify({
    x402Version: 2,
    error: reason,
    resource: {
      url: resourceUrl(offer.resourceOrigin, resource),
      description: offer.description,
      mimeType: offer.mimeType,
      ...describeService(offer),
    },
    ...(info === undefined ? {} : { extensions: { [SIGN_IN]: { info } } }),
  } satisfies Partial<PaymentRequired>);
  // The end closes what is open here.
  const fields = Buffer.from(text.slice(0, info === undefined ? -1 : -3));
  // Base64 encodes three bytes at a time: with spaces up to a multiple of three, the encoded end can follow as it is.
  const spaces = Buffer.alloc((3 - (fields.length % 3)) % 3, " ");
  return Buffer.concat([fields, spaces]).toString("base64") + headerEnd;
}

/** The response to a request without a valid payment. */
export function paymentRequiredResponse(
  offer: PaymentOffer,
  resource: PaidResource,
  reason: string,
  correction: ChannelCorrection | null = null,
): EndpointResponse {
  const terms = correction === null ? fixedTermsOf(offer) : correctTerms(offer, correction);
  const fingerprint = offer.mpp || offer.signIn ? resourceFingerprint(resource) : "";
  const challenge = offer.mpp?.issue(offer, fingerprint, canonicalQuery(resource.query));
  const lengthMax = HEADER_LENGTH_MAX - (challenge?.length ?? 0);
  const encode = (end: FixedTerms) => encodePaymentRequired(offer, end, { resource, reason, fingerprint });
  const whole = encode(terms);
  const header = whole.length <= lengthMax ? whole : encode(withoutListing(offer, terms));
  if (header.length > lengthMax) {
    throw new Fault("INTERNAL", "The payment requirements do not fit into a header.");
  }
  return {
    status: 402,
    headers: {
      "payment-required": header,
      ...(challenge === undefined ? {} : { "www-authenticate": challenge }),
      "cache-control": "no-store",
      "x-error-code": "PAYMENT_REQUIRED",
    },
    body: { x402Version: 2, error: reason, accepts: terms.accepts },
  };
}

export function encodeX402Header(value: unknown): string {
  return encodeBase64(JSON.stringify(value));
}

function encodeBase64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** A payment is bound to this: one request, however its query was ordered or encoded. */
export type PaidResource = {
  readonly method: string;
  readonly path: string;
  /** Validated, only what determines the response; the order means nothing. */
  readonly query: Readonly<Record<string, string>>;
  /** Request headers that determine the response too; absent if none does. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How many chains the response is read from, which the query determines; 1 if absent. It decides the price. */
  readonly chainCount?: number;
  /** Whether the query asks for a summary only, which has its own price. */
  readonly isSummary?: boolean;
  /** Whether the query asks for proofs, which add to the price. */
  readonly hasProofs?: boolean;
};

type PricedParts = Pick<PaidResource, "chainCount" | "isSummary" | "hasProofs">;

// Longer than any query of ours. People see the URL, and the header that carries it must stay small.
const URL_LENGTH_MAX = 2_000;

/** Equal for requests with the same response: HEAD costs what GET costs, and the same payment pays for it. */
export function resourceFingerprint({ method, path, query, headers }: PaidResource): string {
  const verb = method.toUpperCase() === "HEAD" ? "GET" : method.toUpperCase();
  return createHash("sha256")
    .update(
      JSON.stringify([verb, path, canonicalQuery(query), ...(headers ? [canonicalQuery(headers)] : [])]),
    )
    .digest("hex");
}

export function resourceUrl(origin: string, { path, query }: PaidResource): string {
  const text = canonicalQuery(query);
  const url = origin + path + (text === "" ? "" : `?${text}`);
  return url.length > URL_LENGTH_MAX ? origin + path : url;
}

function canonicalQuery(query: PaidResource["query"]): string {
  return Object.entries(query)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`)
    .join("&");
}

export type PaidRequest = {
  readonly resource: PaidResource;
  /** The PAYMENT-SIGNATURE header. */
  readonly signature: string | undefined;
  /** The credential of the `Payment` scheme. */
  readonly credential?: string | undefined;
  /** The SIGN-IN-WITH-X header, which counts without a payment only. */
  readonly signIn?: string | undefined;
  /** As limits per client count it. */
  readonly client: string;
};

/** Produces the response. It must end when the signal aborts, because the payment is about to expire. */
export type PaidHandler = (signal: AbortSignal) => Promise<EndpointResponse>;

/** The values of the label `outcome` of sextant_payments_total. */
export type PaymentOutcome =
  | "challenged"
  | "refused"
  | "conflict"
  | "limited"
  | "failed"
  | "trouble"
  | "pending"
  | "settled"
  | "free"
  | "replayed";

export type ResourceListing = {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly serviceName: string;
  readonly tags: readonly string[];
  readonly iconPath: string;
  /** The input and output of the resource, in the form of the Bazaar extension. */
  readonly bazaar: DiscoveryExtension;
};

/** The part of an offer that directories see. */
type ListedOffer = {
  readonly listing: ResourceListing | null;
  readonly resourceOrigin: string;
  readonly description: string;
  readonly mimeType: string;
};

type ListedShape = {
  /** JSON Schema 2020-12 without references. */
  readonly schema: JsonSchema;
  readonly example: Readonly<Record<string, unknown>>;
};

/** Completes a listing with its extension; call it once, at start. */
export function createListing({
  input,
  output,
  ...listing
}: Omit<ResourceListing, "bazaar"> & {
  readonly input: ListedShape;
  readonly output: ListedShape;
}): ResourceListing {
  const declared = declareDiscoveryExtension({
    input: input.example,
    inputSchema: input.schema,
    ...(listing.method === "POST" && { bodyType: "json" as const }),
    output,
  })[BAZAAR.key];
  // The library adds the method only if it also routes requests, which it does not here.
  const bazaar = bazaarResourceServerExtension.enrichDeclaration?.(declared, {
    method: listing.method,
    adapter: { getPath: () => listing.path },
  });
  return { ...listing, bazaar: bazaar as DiscoveryExtension };
}

// The keywords that a reader of a short schema needs. The whole one is in OpenAPI.
const KEPT = ["type", "enum", "pattern"];

/**
 * The schema without descriptions, required fields and, from the given depth on, without fields. A 402 carries it in a
 * header, and nginx by default accepts a response only if all its headers fit into 4 or 8 KB, depending on the machine.
 */
export function shortenSchema(schema: JsonSchema, depth: number): JsonSchema {
  const { properties } = schema;
  const kept = Object.fromEntries(Object.entries(schema).filter(([key]) => KEPT.includes(key)));
  if (typeof properties !== "object" || properties === null || depth === 0) return kept;
  const fields = Object.entries(properties as Readonly<Record<string, JsonSchema>>);
  return {
    ...kept,
    properties: Object.fromEntries(fields.map(([name, field]) => [name, shortenSchema(field, depth - 1)])),
  };
}

/** How the resource names its service, as directories show it. */
function describeService({ listing }: Pick<ListedOffer, "listing">) {
  if (listing === null) return {};
  return { serviceName: listing.serviceName, tags: [...listing.tags] };
}

export function listingExtensions({ listing }: Pick<ListedOffer, "listing">): Record<string, unknown> {
  return listing === null ? {} : { [BAZAAR.key]: listing.bazaar };
}

/**
 * Sends its listing with each payment, for facilitators that keep a catalogue of what they settle. It is our own:
 * what the client sent is left out, and so is the query, which names a wallet and does not belong into a public
 * catalogue.
 */
export function withListings(
  facilitator: PaymentFacilitator,
  offers: readonly ListedOffer[],
): PaymentFacilitator {
  const describe = (payload: PaymentPayload): PaymentPayload => {
    const offer = findPaidOffer(offers, payload);
    if (offer === null) return payload;
    const { listing, resourceOrigin } = offer;
    const resource = {
      url: resourceOrigin + listing.path,
      description: offer.description,
      mimeType: offer.mimeType,
      ...describeService(offer),
      iconUrl: resourceOrigin + listing.iconPath,
    };
    return { ...payload, resource, extensions: listingExtensions(offer) };
  };
  return {
    verify: (payload, terms) => facilitator.verify(describe(payload), terms),
    settle: (payload, terms) => facilitator.settle(describe(payload), terms),
    getSupported: () => facilitator.getSupported(),
  };
}

/** The offer whose resource a payment names; the first for a payment of a version that sold one resource only. */
function findPaidOffer(offers: readonly ListedOffer[], { resource }: PaymentPayload) {
  const paid = offers.find(
    ({ listing, resourceOrigin }) => listing !== null && resource?.url === resourceOrigin + listing.path,
  );
  const offer = resource === undefined ? offers[0] : paid;
  return offer === undefined || offer.listing === null ? null : { ...offer, listing: offer.listing };
}
