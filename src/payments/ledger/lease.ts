// A lease kept alive while its owner works: it ends by itself, soon after its owner does.
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
    // A lease that is lost shows at the next change of state, which its owner alone can make.
    renewing = renewing
      .then(() => ledger.renewLease(key, owner))
      .catch((err) => log.warn({ err }, "The lease of a payment could not be renewed"));
  }, limits.leaseMs / RENEWALS_PER_LEASE);
  return {
    async stop() {
      clearInterval(timer);
      await renewing;
    },
  };
}
