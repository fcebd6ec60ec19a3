// Streams that are open for their payments: each payment has one at a time, until its time is over.
import { randomUUID } from "node:crypto";
import { isJsonObject } from "../../lib/json.ts";
import { parseJson } from "../../mcp/tool-result.ts";
import type { EndpointResponse, StreamedResponse, TextStream } from "../../schema/endpoint.ts";

// A connection that takes nothing would hold its slot.
const END_MS = 1_000;

export class PaidStreams {
  readonly #msMax: number;
  /** Keyed by what is stored with the payment. */
  readonly #byName = new Map<string, TextStream>();
  /** Keyed by the request with its payment, to the byte. */
  readonly #byRequest = new Map<string, TextStream>();

  constructor(msMax: number) {
    this.#msMax = msMax;
  }

  /** Ends the stream that the same request has opened, and waits until its slot is free; false without one. */
  async endFor(request: string): Promise<boolean> {
    const stream = this.#byRequest.get(request);
    if (stream === undefined || stream.signal.aborted) return false;
    const timer = setTimeout(() => stream.destroy(), END_MS);
    await new Promise<void>((resolve) => {
      stream.signal.addEventListener("abort", () => resolve(), { once: true });
      stream.end(STREAM_REPLACED);
    });
    clearTimeout(timer);
    return true;
  }

  /** The stream until its payment is used up, with a last message that says so. */
  limit(
    { open, cancel }: StreamedResponse,
    { headers, body }: EndpointResponse,
    request: string,
  ): StreamedResponse {
    const stored = body instanceof Uint8Array ? parseJson(Buffer.from(body).toString()) : null;
    const paid = isJsonObject(stored) ? stored : {};
    const leftMs = Math.min(this.#msMax, Number(paid.paid_until) - Date.now());
    // A process of an earlier version stores no name of the stream.
    const name = typeof paid.stream === "string" ? paid.stream : randomUUID();
    return {
      headers: { ...headers, "cache-control": "private, no-store, no-transform" },
      cancel,
      open: (stream) => {
        // The client has left while it was charged: its next stream, or one that is open, must not end for this one.
        if (stream.signal.aborted) return cancel();
        if (!(leftMs > 0)) {
          cancel();
          return stream.end(STREAM_ENDED);
        }
        this.#add(stream, name, request);
        const timer = setTimeout(() => stream.end(STREAM_ENDED), leftMs);
        stream.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
        open(stream);
      },
    };
  }

  #add(stream: TextStream, name: string, request: string): void {
    this.#byName.get(name)?.end(STREAM_REPLACED);
    this.#byName.set(name, stream);
    this.#byRequest.set(request, stream);
    const remove = () => {
      if (this.#byName.get(name) === stream) this.#byName.delete(name);
      if (this.#byRequest.get(request) === stream) this.#byRequest.delete(request);
    };
    stream.signal.addEventListener("abort", remove, { once: true });
  }
}

/** Without an id, so that a reader keeps the one to go on from. */
const formatEnd = (code: string, error: string) =>
  `event: ended\ndata: ${JSON.stringify({ code, error })}\n\n`;

const STREAM_ENDED = formatEnd(
  "PAYMENT_REQUIRED",
  "The minute that was paid for is over: connect again with Last-Event-ID and a new payment.",
);
const STREAM_REPLACED = formatEnd("PAYMENT_CONFLICT", "The same payment has opened this stream once more.");
