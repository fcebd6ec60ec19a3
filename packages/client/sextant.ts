// Exports of the package for programs and browsers; the journal in a file is an entry of its own.
export { createSextant, type Sextant, type SextantOptions } from "./create-sextant.ts";
export { type Charged, type ErrorCode, type Retry, SextantError } from "./errors.ts";
export type * from "./generated/records.ts";
export { createMemoryJournal, type Journal } from "./journal/journal.ts";
export type {
  List,
  Page,
  Paid,
  PaidOptions,
  PublishedDocument,
  ReadOptions,
  RequestOptions,
} from "./operation.ts";
export type { Payer } from "./payments/authorization.ts";
export type { Channels } from "./payments/channel-actions.ts";
export type { ChannelOptions } from "./payments/channel-options.ts";
export type { PaidExchange } from "./payments/exchange.ts";
export type { GuardOptions } from "./payments/guard.ts";
export type {
  Channel,
  RefundedChannel,
  RestoreOptions,
  Withdrawal,
  WithdrawOptions,
} from "./payments/payer-channel.ts";
export type { Budget, Payment, Payments, Recovered } from "./payments/payments.ts";
export type { Quote as PriceQuote } from "./payments/quote.ts";
export type { PaymentReceipt } from "./payments/receipt.ts";
export type { Watch, WatchFilter, WatchOptions } from "./watch/watch.ts";
export type { WatchedEvent, WatchedProgress, WatchedUndo, WatchItem } from "./watch/watch-item.ts";
export type { Writer } from "./writes/sign-write.ts";
