// A name in place of a wallet's address: redirects to the same request by address, so that the payer sees what it pays for.
import { readQuery } from "../../http/internal-requests.ts";
import { Fault } from "../../lib/fault.ts";
import type { EndpointResponse, RequestHead } from "../../schema/endpoint.ts";
import { closedObject } from "../../schema/json-schema.ts";
import { text } from "../../schema/portfolio/values.ts";
import type { NameResolver, ResolvedName } from "../names/name-resolver.ts";
import { readPaidResource } from "./paid-resource.ts";

export const namedWalletSchema = {
  title: "NamedWallet",
  description: "The address that the name leads to now; the same request by address is at `location`.",
  ...closedObject({ name: text, address: text, location: text }),
};

export const LOCATION_HEADER =
  "The same request with the address in place of the name, or with blocks in place of times.";

/** Null for a request without a name, at no cost. */
export function redirectNamedWallet(
  { names, path }: { readonly names: NameResolver; readonly path: string },
  head: RequestHead,
): Promise<EndpointResponse> | null {
  const name = findName(head.query);
  return name === null ? null : redirect({ names, path, name }, head);
}

/** A text with a dot that is not an address; a query that is not valid is left to the parameters. */
function findName(query: string): string | null {
  // The dot may be percent-encoded; most queries have neither and are not parsed here.
  if (!/\.|%2e/i.test(query)) return null;
  try {
    const given = readQuery(`?${query}`).get("address")?.trim();
    return given?.includes(".") ? given : null;
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}

async function redirect(
  { names, path, name }: { readonly names: NameResolver; readonly path: string; readonly name: string },
  { query, headers, client }: RequestHead,
): Promise<EndpointResponse> {
  const resolved = await names.resolve(name, client);
  requireSameWallet(headers["payment-signature"], resolved);
  const location = `${path}?${replaceAddress(query, resolved.address)}`;
  return { status: 307, body: { ...resolved, location }, headers: { location } };
}

/** The other parameters stay as they were sent, byte for byte. */
function replaceAddress(query: string, address: string): string {
  const isAddress = (part: string) => readQuery(`?${part}`).has("address");
  return query
    .split("&")
    .map((part) => (isAddress(part) ? `address=${address}` : part))
    .join("&");
}

/**
 * A client repeats the request by name with the payment that it signed for an address: that must still be the one. A
 * payment that does not name it could be led anywhere by the owner of the name.
 */
function requireSameWallet(signature: string | undefined, { name, address }: ResolvedName): void {
  if (signature === undefined) return;
  const paid = readPaidResource(signature)?.get("address")?.toLowerCase() ?? "";
  const paidFor = ADDRESS.test(paid) ? paid : null;
  if (paidFor === address) return;
  const found =
    paidFor === null
      ? "The payment does not say which address it was signed for: it has no `resource` of the terms"
      : `The payment was signed for ${paidFor}, and ${name} now leads to ${address}`;
  throw new Fault(
    "PAYMENT_CONFLICT",
    `${found}. This request charged nothing. Send the payment with the address it was signed for: if it was charged before, that request gets its response.`,
  );
}

const ADDRESS = /^0x[0-9a-f]{40}$/;
