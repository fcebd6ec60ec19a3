// The limits of channels, each with its reason.

export const CHANNEL_LIMITS = {
  // Renewed three times while a request works.
  leaseMs: 12_000,
  // A client that was corrected reads the chain, signs and sends again; meanwhile others with the same voucher wait, so
  // that their clients are not corrected to a sum that is over at once.
  correctionMs: 2_000,
  // A request of another process has the channel: about as long as a stored response takes.
  pollMs: 25,
  // Clients that send at once sign the same voucher; each waits for the one before.
  waitingPerChannelMax: 64,
  waitingMax: 2_000,
  // Clients that send in parallel use one channel each.
  channelsPerPayerMax: 20,
  // Rows that were used within a day; older ones are read from the chain again. About 50 MB.
  channelsMax: 100_000,
  // Deposits and refunds of a signer whose gas we pay before it has bought for a smallest deposit, and deposits of an account
  // within an hour, whatever keys sign for it; each such sum is worth one more.
  sponsoredFreeMax: 6,
  // Channels within an hour that cost us gas and have not bought for a smallest deposit yet: 112 million gas, four dollars on
  // a chain where a transfer costs a third of a cent. No setting: FACILITATOR_GAS_PRICE_MAX bounds the money.
  sponsoredNewPerHourMax: 1_000,
  // Payers are made for one purchase each, and every free call costs us a read: so many quotas are given out in an hour.
  freeQuotasPerHourMax: 100,
  // Age of what the rows say. Far below the shortest delay of a withdrawal, a quarter of an hour.
  mirrorAgeMsMax: 60_000,
  // Age of the block that the rows show, by the database's clock: a node that stands still is asked again and again, and
  // shows no withdrawal. No chain pauses for so long without an outage.
  blockAgeMsMax: 120_000,
  // So often a node is asked for a younger block at most.
  rereadMs: 1_000,
  // Our own node may be a block behind the facilitator's. Each look takes several calls to it, and the pause doubles.
  receiptMs: 4_000,
  receiptPollMs: 100,
  // Vouchers of one transaction: 17,000 gas each, of which a block of any chain holds many.
  claimsPerTransactionMax: 100,
  // A claim that was rejected, or sent without our node showing it, is sent again: twice before the shortest delay ends.
  claimRetryMs: 600_000,
};
