// Describes a paid resource for directories: the Bazaar extension of x402, declared in the 402 and sent to facilitators.

import type { PaymentPayload } from "@x402/core/types";
import {
  BAZAAR,
  bazaarResourceServerExtension,
  type DiscoveryExtension,
  declareDiscoveryExtension,
} from "@x402/extensions/bazaar";
import type { JsonSchema } from "../../schema/json-schema.ts";
import type { PaymentFacilitator } from "../facilitator/facilitator.ts";

export type ResourceListing = {
  readonly method: "GET";
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
export function describeService({ listing }: Pick<ListedOffer, "listing">) {
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
