// The payment that stands for a purchase, so that no other one is signed for it.
import { keccak256, toBytes } from "viem/utils";
import { SextantError } from "../errors.ts";
import { giveAddress, isUnlocated } from "../http/named-wallet.ts";
import { normalizeRequestUrl } from "../http/request-spelling.ts";
import { shorten, type Transport } from "../http/transport.ts";
import type { Journal } from "../journal/journal.ts";
import type { PaymentBook, PaymentEntry } from "../journal/payment-book.ts";
import type { Payer } from "./authorization.ts";
import type { Guard } from "./guard.ts";

export type PurchaseContext = {
  readonly transport: Transport;
  readonly journal: Journal;
  readonly guard: Guard;
  readonly payer: Payer | null;
  /** How often one call sends a request, and then its signature, before it gives up for now. */
  readonly attemptsMax: number;
  readonly now: () => number;
  /** Null: nothing is paid by channel. */
  readonly channels: ChannelUse | null;
  /** Takes the body of the stream that is bought; without it the stream is closed. */
  readonly takeStream?: (body: ReadableStream<Uint8Array>) => void;
};

/** Limits of the channels that are opened, and what this process does with them. */
export type ChannelUse = {
  readonly deposit: bigint;
  readonly topUp: bigint;
  readonly maxOpen: number;
  readonly withdrawSecondsMax: number;
  /** Names this process in the journal. */
  readonly owner: string;
  /** Vouchers that are being sent. */
  readonly sending: Set<string>;
  /** Runs at most `maxOpen` purchases at a time. */
  readonly inTurn: <T>(act: () => Promise<T>) => Promise<T>;
};

export type PaidRequest = {
  readonly method: string;
  readonly url: string;
  readonly purchase: string | null;
  /** Sent with it; the same purchase may be sent with others. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** How long the service stores the response, if that is not a day. */
  readonly storedMs?: number;
  /** The response is a stream of events. */
  readonly isStream?: boolean;
  /** Signs in for a stored response before anything is paid. */
  readonly again?: boolean;
};

export type NewPurchase = {
  readonly given: PaidRequest;
  /** Keyed by address. */
  readonly url: string;
  /** Ids of payments of this purchase that are known to be over. */
  readonly over: Set<string>;
};

type Sought = {
  readonly payer: Payer | null;
  readonly given: PaidRequest;
  /** The same request, by name and by address, with times and with blocks. */
  readonly urls: readonly string[];
  readonly over: ReadonlySet<string>;
};

/** The payment that stands for any of the requests, except for what is over. */
export function findStanding(
  book: PaymentBook,
  { payer, given, urls, over }: Sought,
  nowMs: number,
): PaymentEntry | null {
  // Another process may have got the response of one that was over here.
  const isOver = ({ state, id }: PaymentEntry) => state === "rejected" && over.has(id);
  for (const url of urls) {
    const entry = book.findReusable(digestRequest(payer, given, url), nowMs);
    if (entry !== null && !isOver(entry)) return entry;
  }
  if (given.purchase === null || payer === null) return null;
  const named = { payer: payer.address, url: given.url, purchase: given.purchase };
  const entry = book.findNamed(named, nowMs);
  if (entry === null || isOver(entry)) return null;
  const asGiven = entry.given?.url ?? entry.url;
  const written = [entry.url, asGiven, giveAddress(asGiven, entry.url)].map(normalizeRequestUrl);
  if (entry.method === given.method && urls.some((url) => written.includes(normalizeRequestUrl(url)))) {
    return entry;
  }
  // If a name or a time leads, the service has not said yet.
  if (urls.every(isUnlocated)) return null;
  throw new SextantError(
    "INPUT_INVALID",
    `The purchase "${given.purchase}" is for another request, ${shorten(entry.url)}. Nothing was signed: repeat that request, or give this one a name of its own.`,
  );
}

/** Equal for calls that are one purchase. */
export function digestRequest(payer: Payer | null, { method, purchase }: PaidRequest, url: string): string {
  return keccak256(toBytes(JSON.stringify([payer?.address.toLowerCase() ?? null, method, url, purchase])));
}
