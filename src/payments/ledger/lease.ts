// Renews the lease of a row while its owner works; after a crash the lease runs out by itself.
import type { Log } from "../../lib/log.ts";
import type { GateLimits } from "../paywall/limits.ts";
import type { PaymentLedger } from "./ledger.ts";
import type { PaymentKey } from "./row.ts";

const RENEWALS_PER_LEASE = 3;

export function startLeaseRenewal(
  { ledger, log, limits }: { ledger: PaymentLedger; log: Log; limits: GateLimits },
  key: PaymentKey,
  owner: string,
): { stop(): Promise<void> } {
  let renewing: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    // A lost lease shows at the next transition, which only the owner can make.
    renewing = renewing
      .then(() => ledger.renewLease(key, owner))
      .catch((err) => log.warn({ event: "lease-renewal-failed", err }, "Lease renewal failed"));
  }, limits.leaseMs / RENEWALS_PER_LEASE);
  return {
    async stop() {
      clearInterval(timer);
      await renewing;
    },
  };
}
