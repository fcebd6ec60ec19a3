// One HTTP exchange with a vendor, within a time and a size; what fails tells nothing of the address it was sent to.

import { parseExactJson } from "../lib/exact-json.ts";
import { parseRetryAfter } from "../lib/retry.ts";

/** The part of `fetch` that is needed here; the room itself opens no socket. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

export type VendorHttpRequest = {
  readonly fetch: FetchFunction;
  readonly url: string;
  /** Sent as JSON by POST; without it the address is asked by GET. */
  readonly body?: unknown;
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
  /** Texts that must never be repeated, such as the key in the address. */
  readonly secrets: readonly string[];
};

/** transient: the same request may succeed later. permanent: it will not. */
type VendorFailure = "rate-limited" | "transient" | "permanent";

export class VendorError extends Error {
  override readonly name = "VendorError";
  readonly kind: VendorFailure;
  readonly retryAfterMs: number | null;

  constructor(
    failure: VendorFailure,
    message: string,
    options: { cause?: unknown; retryAfterMs?: number | null } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.kind = failure;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** The answer with its numbers as text. Throws a VendorError, or the signal's own reason when the caller gave up. */
export async function sendVendorRequest(question: VendorHttpRequest, signal: AbortSignal): Promise<unknown> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), question.timeoutMs);
  // Forwarded by hand and taken off again: AbortSignal.any would tie every request to a long-lived signal.
  const forward = () => controller.abort();
  signal.addEventListener("abort", forward, { once: true });
  try {
    const response = await question.fetch(question.url, {
      ...request(question.body),
      // A redirect would carry the key to a host nobody configured.
      redirect: "manual",
      signal: controller.signal,
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw refusal(response);
    }
    return parse(await readText(response, question.responseBytesMax));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof VendorError) throw error;
    if (controller.signal.aborted) {
      throw new VendorError("transient", `There was no answer within ${question.timeoutMs} ms.`);
    }
    const cause = scrubbed(error, question.secrets);
    throw new VendorError("transient", "The connection failed.", { cause });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", forward);
  }
}

function request(body: unknown): RequestInit {
  const headers = { accept: "application/json", "content-type": "application/json" };
  return body === undefined
    ? { method: "GET", headers: { accept: headers.accept } }
    : { method: "POST", headers, body: JSON.stringify(body) };
}

function refusal({ status, headers }: Response): VendorError {
  const message = `The answer has HTTP status ${status}.`;
  if (status === 429) {
    const retryAfterMs = parseRetryAfter(headers.get("retry-after"));
    return new VendorError("rate-limited", message, { retryAfterMs });
  }
  return new VendorError(status === 408 || status >= 500 ? "transient" : "permanent", message);
}

async function readText(response: Response, bytesMax: number): Promise<string> {
  if (!response.body) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    // Asking again would give the same, so this is for good.
    if (size > bytesMax) throw new VendorError("permanent", `The answer is longer than ${bytesMax} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString("utf8");
}

function parse(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    // The parser quotes the text it failed on, and that may repeat the key: a page of a gateway often names the address.
    throw new VendorError("transient", "The answer is not JSON.");
  }
}

// Only texts and codes survive: errors of the platform carry the whole address in properties of their own.
function scrubbed(error: unknown, secrets: readonly string[]): Error {
  const text = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  const shown = redactSecrets(code && !text.includes(code) ? `${code} ${text}` : text, secrets);
  const cause = error instanceof Error ? error.cause : undefined;
  return new Error(shown, cause === undefined ? {} : { cause: scrubbed(cause, secrets) });
}

/** A text fit to be shown: secrets replaced as they are and as an address writes them, and not long. */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .filter((secret) => secret !== "")
    .reduce((shown, secret) => shown.replaceAll(secret, "[secret]"), text)
    .slice(0, 300);
}
