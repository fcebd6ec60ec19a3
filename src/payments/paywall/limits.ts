// The bounds of the gate, each with its reason; a deployment may set its own.

export type GateLimits = {
  readonly leaseMs: number;
  readonly verifyMs: number;
  readonly handlerMs: number;
  readonly settleMs: number;
  readonly chainMs: number;
  readonly receiptMs: number;
  readonly settleMarginMs: number;
  readonly waitMs: number;
  readonly activeRequestsMax: number;
  readonly waitersPerPaymentMax: number;
  readonly waitersMax: number;
  readonly activePerPayerMax: number;
  readonly failuresMax: number;
  readonly failureWindowMs: number;
  readonly retryAfterSeconds: number;
  readonly responseRetentionMs: number;
  readonly reconcileBatchRows: number;
  readonly reconcileConcurrency: number;
};

export const GATE_LIMITS: GateLimits = {
  // Renewed three times within it: whoever dies is replaced soon, whoever only stalls for a moment is not.
  leaseMs: 12_000,
  // A few reads of a node; longer means that nobody answers.
  verifyMs: 10_000,
  // What a client waits for, and far below the time a signature is good for.
  handlerMs: 25_000,
  // Several blocks of any chain we are paid on; after it the outcome is looked up instead of waited for.
  settleMs: 20_000,
  chainMs: 10_000,
  // A block or two: nodes behind a balancer are that far apart. After it the client retries instead of waiting.
  receiptMs: 4_000,
  // Facilitators refuse what expires within six seconds, and a transaction needs a block or two to be mined.
  settleMarginMs: 12_000,
  // How long the second of two equal requests waits for the first; clients give up at about 30 seconds.
  waitMs: 20_000,
  // Requests that act: each holds a response in memory and keeps a lease in the database.
  activeRequestsMax: 500,
  // Copies of one payment beside the one that is worked on. A client that lost a connection sends a few; each of these
  // reads the whole stored response when the wait is over.
  waitersPerPaymentMax: 32,
  // A waiting request costs a connection and no query of its own; beyond this, connections run out first.
  waitersMax: 2_000,
  // Of one payer at once: a balance that covers one payment is good for any number of signatures, and the work for all
  // but one of them would be done for nothing.
  activePerPayerMax: 30,
  // Failing work is free for whoever asks for it, so there is an end to it.
  failuresMax: 10,
  failureWindowMs: 60_000,
  // About a block, after which more is known.
  retryAfterSeconds: 2,
  // Whoever lost an answer asks again within minutes; a day also covers the morning after an outage.
  responseRetentionMs: 86_400_000,
  // Rows that reconciliation holds in memory at a time, about 4 KB each; it goes on until none is left.
  reconcileBatchRows: 500,
  // Rows that reconciliation works on one by one, at the same time. Each that is sent again waits for its block, and
  // all of a reorg must be sent before they expire; one facilitator takes 100 settlements at a time.
  reconcileConcurrency: 32,
};
