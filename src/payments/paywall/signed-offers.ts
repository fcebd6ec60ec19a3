// Signed terms: the x402 extension offer-receipt in a 402, signed once for each offer and a few minutes.
import type { PaymentRequirements } from "@x402/core/types";
import { issueStatement } from "../../http/signing/jws.ts";
import type { SigningKeys } from "../../http/signing/signing-keys.ts";
import { systemClock } from "../../lib/clock.ts";

export const OFFER_RECEIPT = "offer-receipt";

/** The part of an offer that decides how it is signed. */
type SignedOffer = {
  readonly resourceOrigin: string;
  readonly listing: { readonly path: string } | null;
  readonly signingKeys?: SigningKeys | undefined;
};

/** How long a signed offer is sent; it is valid for one more such time. */
const WINDOW_SECONDS = 300;
const EXTENSION_VERSION = 1;

/** The time for which equal terms are signed once. */
export function currentOfferWindow(): number {
  return Math.floor(systemClock.nowMs() / 1_000 / WINDOW_SECONDS);
}

/** The resource that offers and receipts name: the route, without the query of a request. */
export function offeredUrl({ resourceOrigin, listing }: SignedOffer): string {
  return resourceOrigin + (listing?.path ?? "/");
}

/** The extension, or nothing without keys. `accepts` are the terms in the order of the 402. */
export function signedOfferExtension(
  offer: SignedOffer,
  accepts: readonly PaymentRequirements[],
  window: number,
): Readonly<Record<string, unknown>> {
  const { signingKeys, resourceOrigin: origin } = offer;
  if (signingKeys === undefined) return {};
  const seconds = window * WINDOW_SECONDS;
  const validUntil = seconds + 2 * WINDOW_SECONDS;
  const resourceUrl = offeredUrl(offer);
  const offers = accepts.map(({ scheme, network, asset, payTo, amount }, acceptIndex) => {
    const terms = { scheme, network, asset, payTo, amount, resourceUrl, validUntil };
    const payload = { version: EXTENSION_VERSION, ...terms };
    return {
      format: "jws",
      acceptIndex,
      signature: issueStatement(signingKeys, { origin, seconds }, () => payload),
    };
  });
  return { [OFFER_RECEIPT]: { info: { offers }, schema: listSchema("offers", "array") } };
}

/** The schema of an extension's info, which x402 requires, no longer than it must be. */
export function listSchema(member: string, type: "array" | "object") {
  return { type: "object", required: [member], properties: { [member]: { type } } };
}
