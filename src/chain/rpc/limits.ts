// The bounds of the client, each with its reason; a deployment may set its own.

export type RpcLimits = {
  readonly requestTimeoutMs: number;
  readonly responseBytesMax: number;
  readonly batchMax: number;
  readonly inFlightMax: number;
  readonly waitingMax: number;
  readonly attemptsMax: number;
  readonly pauseMsBase: number;
  readonly pauseMsMax: number;
  readonly retryAfterMsMax: number;
  readonly waitMsMax: number;
};

export const RPC_LIMITS: RpcLimits = {
  // Vendors give up on a heavy log query after 10 to 15 seconds; a little longer lets us hear their reason.
  requestTimeoutMs: 20_000,
  // 10,000 logs are about 7 MB; more than this at once would only stall the process while it parses.
  responseBytesMax: 32 * 1024 * 1024,
  // Accepted by nearly everyone (geth allows 1,000, public gateways often 100, some 10: those are learnt).
  batchMax: 100,
  // Enough to hide latency, few enough for the free plan of any vendor.
  inFlightMax: 8,
  // Far above what our own callers queue; only there so that a defect can not fill the memory.
  waitingMax: 50_000,
  // Failures in a row before the caller hears of it; callers that must not give up have their own loop.
  attemptsMax: 6,
  // A hiccup is over in a quarter of a second, and a failed request is not felt.
  pauseMsBase: 250,
  // A provider that is down is asked twice a minute, which notices its return soon and bothers nobody.
  pauseMsMax: 30_000,
  // Some vendors ask for an hour when a daily plan is used up; then the caller should hear it instead of waiting.
  retryAfterMsMax: 60_000,
  // The longest a request waits for a resting provider when there is no other.
  waitMsMax: 65_000,
};
