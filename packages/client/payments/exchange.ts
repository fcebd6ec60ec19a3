// A response as it was received, with what its signature and its receipt cover, so that it can be checked later.
import type { HttpResponse } from "../http/transport.ts";

export interface PaidExchange {
  /** As it was sent. */
  readonly request: { readonly method: string; readonly url: string };
  readonly response: {
    readonly status: number;
    /** Lower-case names: what the response is, what was paid, and who signed it. */
    readonly headers: Readonly<Record<string, string>>;
    /** The text whose bytes are signed. */
    readonly body: string;
  };
}

const CHECKED_HEADERS = [
  "content-type",
  "content-digest",
  "signature-input",
  "signature",
  "payment-response",
] as const;

export function toExchange(
  { method, url }: PaidExchange["request"],
  { status, headers, text }: HttpResponse,
): PaidExchange {
  const kept = CHECKED_HEADERS.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return { request: { method, url }, response: { status, headers: Object.fromEntries(kept), body: text } };
}
