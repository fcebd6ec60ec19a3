// The limits of the gate, each with its reason; a deployment may set its own.

export const GATE_LIMITS = {
  // Renewed three times per lease: a dead process is replaced soon, one that stalls for a moment is not.
  leaseMs: 12_000,
  // A few reads of a node; longer means that it does not respond.
  verifyMs: 10_000,
  // Clients wait this long, which is far below the time for which a signature is valid. It is shorter than the wait
  // for a stalled process (HELD in ledger/lease.ts).
  handlerMs: 25_000,
  // Several blocks of any chain we are paid on; after it the outcome is looked up.
  settleMs: 20_000,
  chainMs: 10_000,
  // A block or two: nodes behind a load balancer are that far apart. After it the client retries.
  receiptMs: 4_000,
  // Facilitators reject what expires within six seconds, and a transaction needs a block or two to be mined.
  settleMarginMs: 12_000,
  // How long the second of two equal requests waits for the first; clients give up at about 30 seconds.
  waitMs: 20_000,
  // Each active request holds a response in memory and renews a lease in the database.
  activeRequestsMax: 500,
  // Copies of one payment alongside the active one. A client that lost its connection sends a few; each of them reads
  // the whole stored response when the wait is over.
  waitersPerPaymentMax: 32,
  // A waiting request costs a connection and no query of its own; beyond this, connections run out first.
  waitersMax: 2_000,
  // Active payments of one payer who has settled as many and whose balance covers all of them. It bounds the work for
  // one whose money leaves meanwhile.
  activePerPayerMax: 30,
  // Rejected payments of one client, and five times its unpaid runs, which are counted apart: twenty payers who have
  // never paid can be served at once behind one address. A client who pays gets its runs back. 0 means no limit.
  unpaidPerClientPerMinute: 100,
  // Failing requests are free for the payer, so their number is limited.
  failuresMax: 10,
  failureWindowMs: 60_000,
  // About a block.
  retryAfterSeconds: 2,
  // A client that lost its response retries within minutes; a day also covers the morning after an outage.
  responseRetentionMs: 86_400_000,
  // Rows that reconciliation holds in memory at a time, about 4 KB each.
  reconcileBatchRows: 500,
  // Rows that reconciliation handles concurrently. Each one sent again waits for its block, and all of a reorg must be
  // sent before they expire; one facilitator accepts 100 settlements at a time.
  reconcileConcurrency: 32,
  // Less than the pause between two runs of reconciliation: of several processes, one reads a payment of unknown outcome.
  recheckMsMin: 4_000,
};

export type GateLimits = Readonly<Record<keyof typeof GATE_LIMITS, number>>;
