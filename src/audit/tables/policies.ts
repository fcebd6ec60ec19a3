// Audits of policies and spending against the policy module, and of session keys against their account.
import { policyAccountAbi } from "@sextant/contracts/generated/policy-account";
import { policyModuleAbi } from "@sextant/contracts/generated/policy-module";
import {
  paymentWindows,
  policies,
  SPEND_WINDOW_SECONDS,
  sessionExecutions,
  sessionKeys,
  signedPayments,
  spendWindows,
} from "../../protocol/domains/policies.ts";
import type { RowOf } from "../../schema/table.ts";
import { defineTableAudit, type TableAudit } from "./define-audit.ts";

const policyModule = { contract: "PolicyModule", abi: policyModuleAbi } as const;
const policyAccount = { contract: "PolicyAccount", abi: policyAccountAbi, addressColumn: "account" } as const;

// Columns that the event does not set are null.
const EMPTY_POLICY = Object.fromEntries(
  Object.entries(policies.columns)
    .filter(([, column]) => column.nullable)
    .map(([name]) => [name, null]),
);

type PolicyRow = RowOf<(typeof policies)["columns"]>;

/** The row of an event that sets a policy. */
function policyRow(
  account: string,
  type: string,
  subject: string,
  values: Partial<PolicyRow>,
): Partial<PolicyRow> {
  return { ...EMPTY_POLICY, account, policy_type: type, policy_subject: subject, ...values };
}

const ofType = (type: string) => (row: { readonly policy_type: string }) => row.policy_type === type;

export const policyAudits: readonly TableAudit[] = [
  // FUNCTION_ALLOWLIST_MODE has no view; isFunctionAllowed returns the entry of the list whether the mode is on or off.
  defineTableAudit(policies, policyModule, {
    createdBy: {
      SpendLimitSet: {
        columns: ({ args: { account, token, maxPerDay } }) =>
          policyRow(account, "SPEND_LIMIT", token, { token, max_per_day: maxPerDay }),
        topics: 2,
      },
      TargetAllowlistUpdated: {
        columns: ({ args: { account, target, allowed } }) =>
          policyRow(account, "TARGET_ALLOWLIST", target, { target, allowed }),
        topics: 2,
      },
      FunctionAllowlistUpdated: {
        columns: ({ args: { account, target, selector, allowed } }) =>
          policyRow(account, "FUNCTION_ALLOWLIST", `${target}:${selector}`, { target, selector, allowed }),
        topics: 2,
        words: [0],
      },
      FunctionAllowlistModeUpdated: {
        columns: ({ args: { account, enabled } }) =>
          policyRow(account, "FUNCTION_ALLOWLIST_MODE", "", { enabled }),
        topics: 1,
      },
      PaymentPolicySet: {
        columns: ({ args: { account, merchant, token, facilitator, maxPerPayment, maxPerDay, allowed } }) =>
          policyRow(account, "PAYMENT_POLICY", `${merchant}:${token}:${facilitator}`, {
            merchant,
            token,
            facilitator,
            max_per_payment: maxPerPayment,
            max_per_day: maxPerDay,
            allowed,
          }),
        topics: 3,
        words: [0],
      },
      GuardianSet: {
        columns: ({ args: { account, guardian } }) => policyRow(account, "GUARDIAN", "", { guardian }),
        topics: 1,
      },
      AccountFrozen: {
        columns: ({ args: { account, frozen } }) => policyRow(account, "ACCOUNT_FROZEN", "", { frozen }),
        topics: 1,
      },
    },
    views: {
      getSpendLimit: {
        when: ofType("SPEND_LIMIT"),
        args: ["account", "token"],
        columns: ["max_per_day"],
      },
      isTargetAllowed: {
        when: ofType("TARGET_ALLOWLIST"),
        args: ["account", "target"],
        computed: { allowed: (allowed) => allowed },
      },
      isFunctionAllowed: {
        when: ofType("FUNCTION_ALLOWLIST"),
        args: ["account", "target", "selector"],
        computed: { allowed: (allowed) => allowed },
      },
      getPaymentPolicy: {
        when: ofType("PAYMENT_POLICY"),
        args: ["account", "merchant", "token", "facilitator"],
        columns: ["max_per_payment", "max_per_day", "allowed"],
      },
      guardianOf: {
        when: ofType("GUARDIAN"),
        args: ["account"],
        computed: { guardian: (guardian) => guardian },
      },
      isAccountFrozen: {
        when: ofType("ACCOUNT_FROZEN"),
        args: ["account"],
        computed: { frozen: (frozen) => frozen },
      },
    },
  }),
  // getSpendLimit returns what is stored, getPaymentPolicy only what counts now.
  defineTableAudit(spendWindows, policyModule, {
    createdBy: {
      SpendRecorded: {
        columns: ({ args: { account, token, dailyTotal } }) => ({ account, token, spent: dailyTotal }),
        topics: 2,
      },
    },
    views: {
      getSpendLimit: {
        args: ["account", "token"],
        computed: {
          spent: ({ spentToday }) => spentToday,
          window_start: ({ lastResetTimestamp }) => BigInt(lastResetTimestamp),
        },
      },
    },
  }),
  defineTableAudit(paymentWindows, policyModule, {
    createdBy: {
      SignedPaymentRecorded: {
        columns: ({ args: { account, merchant, token, facilitator, dailyTotal } }) => ({
          account,
          merchant,
          token,
          facilitator,
          spent: dailyTotal,
        }),
        topics: 3,
        words: [0],
      },
    },
    views: {
      getPaymentPolicy: {
        args: ["account", "merchant", "token", "facilitator"],
        computed: {
          // The contract returns zero for a window that is over: then only the event can be compared.
          spent: ({ spentToday, lastResetTimestamp }, { row, timestamp }) =>
            timestamp >= BigInt(lastResetTimestamp) + SPEND_WINDOW_SECONDS && spentToday === 0n
              ? row.spent
              : spentToday,
          window_start: ({ lastResetTimestamp }) => BigInt(lastResetTimestamp),
        },
      },
    },
  }),
  defineTableAudit(signedPayments, policyModule, {
    createdBy: {
      SignedPaymentRecorded: ["account", "merchant", "token", "facilitator", "amount", "payment_hash"],
    },
  }),
  defineTableAudit(sessionKeys, policyAccount, {
    createdBy: {
      SessionKeyUpdated: {
        columns: ({ args, address }) => ({
          account: address,
          session_key: args.sessionKey,
          expires_at: BigInt(args.expiresAt),
          active: args.active,
        }),
        topics: 1,
      },
    },
    views: {
      sessionKeys: {
        args: ["session_key"],
        computed: { expires_at: ([expiresAt]) => BigInt(expiresAt), active: ([, active]) => active },
      },
    },
  }),
  defineTableAudit(sessionExecutions, policyAccount, {
    createdBy: {
      SessionKeyExecuted: {
        columns: ({ args, address }) => ({
          account: address,
          session_key: args.sessionKey,
          nonce: args.nonce,
          target: args.target,
          value: args.value,
        }),
        topics: 1,
        words: [1],
      },
    },
  }),
];
