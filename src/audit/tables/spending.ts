// What accounts spent must be what the policy module says they did, and what was logged.
import { policyModuleAbi as abi } from "@sextant/contracts/generated/policy-module";
import {
  paymentWindows,
  SPEND_WINDOW_SECONDS,
  signedPayments,
  spendWindows,
} from "../../protocol/domains/policies.ts";
import { createdBy, defineTableAudit, viewCheck } from "./define-audit.ts";

const policyModule = { contract: "PolicyModule", abi } as const;

// getSpendLimit tells what is stored, getPaymentPolicy only what counts now.
export const spendWindowsAudit = defineTableAudit(spendWindows, {
  births: [
    createdBy(
      spendWindows,
      policyModule,
      "SpendRecorded",
      ({ args: { account, token, dailyTotal } }) => ({ account, token, spent: dailyTotal }),
      { topics: 2 },
    ),
  ],
  views: [
    viewCheck(spendWindows, policyModule, "getSpendLimit", {
      args: ({ account, token }) => [account, token],
      columns: {
        spent: ({ spentToday }) => spentToday,
        window_start: ({ lastResetTimestamp }) => BigInt(lastResetTimestamp),
      },
    }),
  ],
});

export const paymentWindowsAudit = defineTableAudit(paymentWindows, {
  births: [
    createdBy(
      paymentWindows,
      policyModule,
      "SignedPaymentRecorded",
      ({ args: { account, merchant, token, facilitator, dailyTotal } }) => ({
        account,
        merchant,
        token,
        facilitator,
        spent: dailyTotal,
      }),
      { topics: 3, words: [0] },
    ),
  ],
  views: [
    viewCheck(paymentWindows, policyModule, "getPaymentPolicy", {
      args: ({ account, merchant, token, facilitator }) => [account, merchant, token, facilitator],
      columns: {
        // Of a window that is over the contract tells nothing but zero: then the event alone can be compared.
        spent: ({ spentToday, lastResetTimestamp }, { row, timestamp }) =>
          timestamp >= BigInt(lastResetTimestamp) + SPEND_WINDOW_SECONDS && spentToday === 0n
            ? row.spent
            : spentToday,
        window_start: ({ lastResetTimestamp }) => BigInt(lastResetTimestamp),
      },
    }),
  ],
});

export const signedPaymentsAudit = defineTableAudit(signedPayments, {
  births: [
    createdBy(
      signedPayments,
      policyModule,
      "SignedPaymentRecorded",
      ({ args: { account, merchant, token, facilitator, amount, paymentHash } }) => ({
        account,
        payment_hash: paymentHash,
        merchant,
        token,
        facilitator,
        amount,
      }),
    ),
  ],
});
