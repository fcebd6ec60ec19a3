// Decides which responses of an API are signed: those to GET requests that ask for it, or all of them.
import { readQuery } from "../internal-requests.ts";
import type { SignResponse } from "../response.ts";
import type { ResponseSigner } from "./response-signer.ts";

export type ReadSigning = {
  readonly signer: ResponseSigner;
  /** Signs also what was not asked for. */
  readonly signsAll: boolean;
};

type AskedRequest = { readonly method: string; readonly url: string };

/** A body of a request is not covered, so that responses to POST stay unsigned. */
export function asksForSignature(
  signing: ReadSigning | undefined,
  { method, url }: AskedRequest,
): signing is ReadSigning {
  if (signing === undefined || (method !== "GET" && method !== "HEAD")) return false;
  // Almost all URLs are decided without parsing them.
  return signing.signsAll || (url.includes("signed=") && asks(url));
}

function asks(url: string): boolean {
  try {
    return readQuery(url).get("signed") === "1";
  } catch {
    // The route rejects what is not a query.
    return false;
  }
}

/** Signs the responses of other routes than reads, which are not cached. */
export function signOnRequest(signing: ReadSigning | undefined): SignResponse {
  return (response, request) =>
    asksForSignature(signing, request) ? signing.signer.sign(response, request) : response;
}
