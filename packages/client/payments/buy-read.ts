// A read of the index that the service sells: bought by channel, within the guard, and returned as the service sent it.
import { buyByChannel } from "../channels/channel-purchase.ts";
import { SextantError } from "../errors.ts";
import { type HttpRequest, type HttpResponse, STREAM_TYPE, toResponseError } from "../http/transport.ts";
import type { Bought } from "./finish.ts";
import { settleHeld } from "./purchase.ts";
import type { PurchaseContext } from "./standing.ts";
import { parsePaymentRequired } from "./terms.ts";

/** The service stores reads for so long. */
const READ_STORED_MS = 300_000;

const BLOCK = /^[0-9]{1,18}$/;

type HttpHeaders = NonNullable<HttpRequest["headers"]>;

const ADVICE =
  "Nothing was paid: reads are bought by a client that has a payer and a channel (SEXTANT_PAYER_KEY_FILE and SEXTANT_CHANNEL_DEPOSIT in commands).";

/** `unpaid` is the response with the terms. */
export async function buyRead(
  context: PurchaseContext,
  { method, url, headers = {}, signal }: HttpRequest,
  unpaid: HttpResponse,
): Promise<Bought> {
  const { code, message, ...details } = toResponseError(unpaid);
  if (context.payer === null || context.channels === null) {
    throw new SextantError(code, `${message} ${ADVICE}`, { status: details.status });
  }
  const isStream = headers.accept === STREAM_TYPE;
  const given = { method, url, headers, signal, purchase: null, storedMs: READ_STORED_MS, isStream };
  try {
    const over = new Set<string>();
    const held = await settleHeld(context, given, { urls: [url], over });
    if (held !== null && !isOlder(held.response, headers)) return held;
    const offered = parsePaymentRequired(unpaid.headers.get("payment-required"), { channels: true });
    const byChannel = offered.filter(({ channel }) => channel !== null);
    const bought = await buyByChannel(context, { given, url, over }, byChannel);
    if (bought !== null) return bought;
  } catch (error) {
    throw await unwrapRejection(context, error);
  }
  throw new SextantError(
    "TERMS_REJECTED",
    "The service sells the read without a channel; nothing was signed.",
  );
}

/** A minute of a stream of events, which is bought like a read. */
export async function buyStream(
  context: PurchaseContext,
  request: HttpRequest,
  unpaid: HttpResponse,
): Promise<Pick<Bought, "receipt"> & { readonly body: ReadableStream<Uint8Array> }> {
  const opened: ReadableStream<Uint8Array>[] = [];
  const closeAll = () => {
    for (const body of opened.splice(0)) body.cancel().catch(() => undefined);
  };
  const takeStream = (body: ReadableStream<Uint8Array>) => {
    closeAll();
    opened.push(body);
  };
  try {
    const { receipt } = await buyRead({ ...context, takeStream }, request, unpaid);
    const [body] = opened;
    if (body !== undefined) return { body, receipt };
    throw new SextantError("RESPONSE_INVALID", "The service sold the stream, and opened none.");
  } catch (error) {
    closeAll();
    throw error;
  }
}

/**
 * The error of the read itself if the service rejects it, such as that there is no such record: the voucher is for the sum
 * of the next one, whatever that buys.
 */
async function unwrapRejection({ journal }: PurchaseContext, error: unknown): Promise<unknown> {
  const isOfRead = error instanceof SextantError && error.payment !== null && error.retry === "never";
  if (!isOfRead || error.code === "PAYMENT_CONFLICT") return error;
  const entry = (await journal.read()).get(error.payment);
  return entry?.state === "rejected" && error.cause instanceof SextantError ? error.cause : error;
}

/** Whether an earlier call has bought the state of a block before the one that this call asks for. */
function isOlder({ headers }: HttpResponse, { "x-min-block": wanted }: HttpHeaders): boolean {
  const is = headers.get("x-indexed-block") ?? "";
  return wanted !== undefined && BLOCK.test(is) && BigInt(is) < BigInt(wanted);
}
