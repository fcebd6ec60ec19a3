// Audits of policies and spending against the policy module, and of session keys against their account.
import { policyAccountAbi } from "@sextant/contracts/generated/policy-account";
import { policyModuleAbi } from "@sextant/contracts/generated/policy-module";
import {
  paymentWindows,
  policies,
  SPEND_WINDOW_SECONDS,
  signedPayments,
  spendWindows,
} from "../../protocol/domains/policies.ts";
import { sessionExecutions, sessionKeys } from "../../protocol/domains/session-keys.ts";
import { createdBy, defineTableAudit, type TableAudit, viewCheck } from "./define-audit.ts";

const policyModule = { contract: "PolicyModule", abi: policyModuleAbi } as const;
const policyAccount = { contract: "PolicyAccount", abi: policyAccountAbi, addressColumn: "account" } as const;

// Columns that the event does not set are null.
const EMPTY_POLICY = Object.fromEntries(
  Object.entries(policies.columns)
    .filter(([, column]) => column.nullable)
    .map(([name]) => [name, null]),
);

const ofType = (type: string) => (row: { readonly policy_type: string }) => row.policy_type === type;

// FUNCTION_ALLOWLIST_MODE has no view; isFunctionAllowed returns the entry of the list whether the mode is on or off.
const policiesAudit = defineTableAudit(policies, {
  createdBy: [
    createdBy(
      policies,
      policyModule,
      "SpendLimitSet",
      ({ args: { account, token, maxPerDay } }) => ({
        ...EMPTY_POLICY,
        account,
        policy_type: "SPEND_LIMIT",
        policy_subject: token,
        token,
        max_per_day: maxPerDay,
      }),
      { topics: 2 },
    ),
    createdBy(
      policies,
      policyModule,
      "TargetAllowlistUpdated",
      ({ args: { account, target, allowed } }) => ({
        ...EMPTY_POLICY,
        account,
        policy_type: "TARGET_ALLOWLIST",
        policy_subject: target,
        target,
        allowed,
      }),
      { topics: 2 },
    ),
    createdBy(
      policies,
      policyModule,
      "FunctionAllowlistUpdated",
      ({ args: { account, target, selector, allowed } }) => ({
        ...EMPTY_POLICY,
        account,
        policy_type: "FUNCTION_ALLOWLIST",
        policy_subject: `${target}:${selector}`,
        target,
        selector,
        allowed,
      }),
      { topics: 2, words: [0] },
    ),
    createdBy(
      policies,
      policyModule,
      "FunctionAllowlistModeUpdated",
      ({ args: { account, enabled } }) => ({
        ...EMPTY_POLICY,
        account,
        policy_type: "FUNCTION_ALLOWLIST_MODE",
        policy_subject: "",
        enabled,
      }),
      { topics: 1 },
    ),
    createdBy(
      policies,
      policyModule,
      "PaymentPolicySet",
      ({ args: { account, merchant, token, facilitator, maxPerPayment, maxPerDay, allowed } }) => ({
        ...EMPTY_POLICY,
        account,
        policy_type: "PAYMENT_POLICY",
        policy_subject: `${merchant}:${token}:${facilitator}`,
        merchant,
        token,
        facilitator,
        max_per_payment: maxPerPayment,
        max_per_day: maxPerDay,
        allowed,
      }),
      { topics: 3, words: [0] },
    ),
    createdBy(
      policies,
      policyModule,
      "GuardianSet",
      ({ args: { account, guardian } }) => ({
        ...EMPTY_POLICY,
        account,
        policy_type: "GUARDIAN",
        policy_subject: "",
        guardian,
      }),
      { topics: 1 },
    ),
    createdBy(
      policies,
      policyModule,
      "AccountFrozen",
      ({ args: { account, frozen } }) => ({
        ...EMPTY_POLICY,
        account,
        policy_type: "ACCOUNT_FROZEN",
        policy_subject: "",
        frozen,
      }),
      { topics: 1 },
    ),
  ],
  views: [
    viewCheck(policies, policyModule, "getSpendLimit", {
      when: ofType("SPEND_LIMIT"),
      args: ({ account, token }) => [account, token],
      columns: { max_per_day: ({ maxPerDay }) => maxPerDay },
    }),
    viewCheck(policies, policyModule, "isTargetAllowed", {
      when: ofType("TARGET_ALLOWLIST"),
      args: ({ account, target }) => [account, target],
      columns: { allowed: (allowed) => allowed },
    }),
    viewCheck(policies, policyModule, "isFunctionAllowed", {
      when: ofType("FUNCTION_ALLOWLIST"),
      args: ({ account, target, selector }) => [account, target, selector],
      columns: { allowed: (allowed) => allowed },
    }),
    viewCheck(policies, policyModule, "getPaymentPolicy", {
      when: ofType("PAYMENT_POLICY"),
      args: ({ account, merchant, token, facilitator }) => [account, merchant, token, facilitator],
      columns: {
        max_per_payment: ({ maxPerPayment }) => maxPerPayment,
        max_per_day: ({ maxPerDay }) => maxPerDay,
        allowed: ({ allowed }) => allowed,
      },
    }),
    viewCheck(policies, policyModule, "guardianOf", {
      when: ofType("GUARDIAN"),
      args: ({ account }) => [account],
      columns: { guardian: (guardian) => guardian },
    }),
    viewCheck(policies, policyModule, "isAccountFrozen", {
      when: ofType("ACCOUNT_FROZEN"),
      args: ({ account }) => [account],
      columns: { frozen: (frozen) => frozen },
    }),
  ],
});

// getSpendLimit returns what is stored, getPaymentPolicy only what counts now.
const spendWindowsAudit = defineTableAudit(spendWindows, {
  createdBy: [
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

const paymentWindowsAudit = defineTableAudit(paymentWindows, {
  createdBy: [
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
        // The contract returns zero for a window that is over: then only the event can be compared.
        spent: ({ spentToday, lastResetTimestamp }, { row, timestamp }) =>
          timestamp >= BigInt(lastResetTimestamp) + SPEND_WINDOW_SECONDS && spentToday === 0n
            ? row.spent
            : spentToday,
        window_start: ({ lastResetTimestamp }) => BigInt(lastResetTimestamp),
      },
    }),
  ],
});

const signedPaymentsAudit = defineTableAudit(signedPayments, {
  createdBy: [
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

const sessionKeysAudit = defineTableAudit(sessionKeys, {
  createdBy: [
    createdBy(
      sessionKeys,
      policyAccount,
      "SessionKeyUpdated",
      ({ args, address }) => ({
        account: address,
        session_key: args.sessionKey,
        expires_at: BigInt(args.expiresAt),
        active: args.active,
      }),
      { topics: 1 },
    ),
  ],
  views: [
    viewCheck(sessionKeys, policyAccount, "sessionKeys", {
      args: ({ session_key }) => [session_key],
      columns: {
        expires_at: ([expiresAt]) => BigInt(expiresAt),
        active: ([, active]) => active,
      },
    }),
  ],
});

const sessionExecutionsAudit = defineTableAudit(sessionExecutions, {
  createdBy: [
    createdBy(
      sessionExecutions,
      policyAccount,
      "SessionKeyExecuted",
      ({ args, address }) => ({
        account: address,
        session_key: args.sessionKey,
        nonce: args.nonce,
        target: args.target,
        value: args.value,
      }),
      { topics: 1, words: [1] },
    ),
  ],
});

export const policyAudits: readonly TableAudit[] = [
  policiesAudit,
  spendWindowsAudit,
  paymentWindowsAudit,
  signedPaymentsAudit,
  sessionKeysAudit,
  sessionExecutionsAudit,
];
