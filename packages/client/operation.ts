// Describes an operation of the services to the client: how it is sent, and what its action takes and returns.
import type { PaidExchange } from "./payments/exchange.ts";
import type { PaymentReceipt } from "./payments/receipt.ts";

export type Operation = {
  readonly service: "api" | "portfolio";
  readonly method: string;
  /** With parameters in braces. */
  readonly path: string;
  readonly kind: "read" | "list" | "document" | "write" | "signed" | "paid";
  readonly query: readonly string[];
  /** The field of a page that holds its records. */
  readonly list: string | null;
  readonly hasParameters: boolean;
  readonly hasBody: boolean;
  readonly takesBlock: boolean;
  readonly takesMinBlock: boolean;
};

export interface RequestOptions {
  /** Ends the request. A payment that was signed stays in the journal and is sent again by the next call. */
  readonly signal?: AbortSignal;
}

export interface ReadOptions extends RequestOptions {
  /** Waits until this block is indexed, such as the block of your transaction's receipt. */
  readonly minBlock?: bigint | number;
}

export interface PaidOptions extends RequestOptions {
  /**
   * Your own name of this purchase. All calls with the same name are one purchase, charged once: within a day they get the
   * stored response, also after a crash and from another process with the same journal. A call with another request under
   * the same name fails before anything is signed.
   */
  readonly purchase?: string;
  /**
   * Asks for what the payer has bought within a day first, such as in a process that does not have the journal: the payer
   * signs in, and nothing is charged. Buys only if the service has no stored response to this request.
   */
  readonly again?: boolean;
}

/** The purchase and its receipt; null if nothing was charged: for what is free, and for a stored response. */
export interface Paid<T> {
  readonly data: T;
  readonly receipt: PaymentReceipt | null;
  /** The request, and the response as it was received: keep it to check its signature and its signed receipt later. */
  readonly exchange: PaidExchange;
}

/** A text that is identified by its hash, which has been checked. */
export interface PublishedDocument {
  readonly hash: string;
  /** As it was published, byte for byte. */
  readonly text: string;
  readonly json: unknown;
}

/** All records of a list, page after page: `for await (const record of list)`. */
export interface List<T> extends AsyncIterable<T> {
  /** The same by page, for progress and for a cursor to continue from. */
  pages(): AsyncIterable<Page<T>>;
  /** The first records, at most `max`. */
  take(max: number): Promise<T[]>;
}

export interface Page<T> {
  readonly records: readonly T[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}
