// Policies of accounts and what they have spent. PolicyModule → policies, spending windows, signed payments.
import { policyModuleAbi as abi } from "@sextant/contracts/generated/policy-module";
import { type Change, insert, upsert } from "../../schema/change.ts";
import { address, bool, boundedText, bytes4, bytes32, orNull, uint63, uint256 } from "../../schema/column.ts";
import { defineDomain, requireRow } from "../../schema/domain.ts";
import { defineTable, type RowOf } from "../../schema/table.ts";

/** The length of the contract's spending window, which starts with the first spend after the last window ended. */
export const SPEND_WINDOW_SECONDS = 86_400n;

const policyColumns = {
  account: address,
  policy_type: boundedText,
  /** The subject of the policy as one text, unique for the account and type. */
  policy_subject: boundedText,
  token: orNull(address),
  target: orNull(address),
  selector: orNull(bytes4),
  merchant: orNull(address),
  facilitator: orNull(address),
  guardian: orNull(address),
  max_per_payment: orNull(uint256),
  max_per_day: orNull(uint256),
  allowed: orNull(bool),
  enabled: orNull(bool),
  frozen: orNull(bool),
};

export const policies = defineTable("policies", policyColumns, {
  key: ["account", "policy_type", "policy_subject"],
});

export const spendWindows = defineTable(
  "spend_windows",
  { account: address, token: address, spent: uint256, window_start: uint63 },
  { key: ["account", "token"] },
);

export const paymentWindows = defineTable(
  "payment_windows",
  {
    account: address,
    merchant: address,
    token: address,
    facilitator: address,
    spent: uint256,
    window_start: uint63,
  },
  { key: ["account", "merchant", "token", "facilitator"] },
);

export const signedPayments = defineTable(
  "signed_payments",
  {
    account: address,
    payment_hash: bytes32,
    merchant: address,
    token: address,
    facilitator: address,
    amount: uint256,
  },
  { key: ["account", "payment_hash"] },
);

type PolicyRow = RowOf<typeof policyColumns>;

const EMPTY_POLICY = {
  token: null,
  target: null,
  selector: null,
  merchant: null,
  facilitator: null,
  guardian: null,
  max_per_payment: null,
  max_per_day: null,
  allowed: null,
  enabled: null,
  frozen: null,
};

function policy(account: string, type: string, subject: string, fields: Partial<PolicyRow>): Change {
  return upsert(policies, {
    account,
    policy_type: type,
    policy_subject: subject,
    ...EMPTY_POLICY,
    ...fields,
  });
}

/** As in the contract, a window lasts a day from its start. */
function windowStart(before: { window_start: bigint } | null, now: bigint): bigint {
  return before && now < before.window_start + SPEND_WINDOW_SECONDS ? before.window_start : now;
}

const allowedWord = (allowed: boolean): string => (allowed ? "allowed" : "no longer allowed");

export const policiesDomain = defineDomain({
  contract: "PolicyModule",
  abi,
  tables: [policies, spendWindows, paymentWindows, signedPayments],
  events: {
    SpendLimitSet: {
      fold: ({ args: { account, token, maxPerDay } }) => [
        policy(account, "SPEND_LIMIT", token, { token, max_per_day: maxPerDay }),
      ],
      explain: ({ args }) =>
        `Account ${args.account} limited its spending of ${args.token} to ${args.maxPerDay} a day`,
    },
    TargetAllowlistUpdated: {
      fold: ({ args: { account, target, allowed } }) => [
        policy(account, "TARGET_ALLOWLIST", target, { target, allowed }),
      ],
      explain: ({ args }) =>
        `Target ${args.target} is ${allowedWord(args.allowed)} for account ${args.account}`,
    },
    FunctionAllowlistUpdated: {
      fold: ({ args: { account, target, selector, allowed } }) => [
        policy(account, "FUNCTION_ALLOWLIST", `${target}:${selector}`, { target, selector, allowed }),
      ],
      explain: ({ args }) =>
        `Function ${args.selector} of ${args.target} is ${allowedWord(args.allowed)} for account ${args.account}`,
    },
    FunctionAllowlistModeUpdated: {
      fold: ({ args: { account, enabled } }) => [policy(account, "FUNCTION_ALLOWLIST_MODE", "", { enabled })],
      explain: ({ args }) =>
        `Account ${args.account} turned its function allowlist ${args.enabled ? "on" : "off"}`,
    },
    PaymentPolicySet: {
      fold: ({ args: { account, merchant, token, facilitator, maxPerPayment, maxPerDay, allowed } }) => [
        policy(account, "PAYMENT_POLICY", `${merchant}:${token}:${facilitator}`, {
          merchant,
          token,
          facilitator,
          max_per_payment: maxPerPayment,
          max_per_day: maxPerDay,
          allowed,
        }),
      ],
      explain: ({ args }) =>
        `Payments of ${args.token} to merchant ${args.merchant} are ${allowedWord(args.allowed)} for account ${args.account}`,
    },
    GuardianSet: {
      fold: ({ args: { account, guardian } }) => [policy(account, "GUARDIAN", "", { guardian })],
      explain: ({ args }) => `Account ${args.account} set its guardian to ${args.guardian}`,
    },
    AccountFrozen: {
      fold: ({ args: { account, frozen } }) => [policy(account, "ACCOUNT_FROZEN", "", { frozen })],
      explain: ({ args }) => `Account ${args.account} was ${args.frozen ? "frozen" : "unfrozen"}`,
    },
    SpendRecorded: {
      requiredRows: ({ args: { account, token } }) => [requireRow(spendWindows, { account, token })],
      fold: ({ args: { account, token, dailyTotal }, timestamp, find }) => [
        upsert(spendWindows, {
          account,
          token,
          spent: dailyTotal,
          window_start: windowStart(find(spendWindows, { account, token }), timestamp),
        }),
      ],
      explain: ({ args }) =>
        `Account ${args.account} spent ${args.amount} of ${args.token}; ${args.dailyTotal} in its current window`,
    },
    SignedPaymentRecorded: {
      requiredRows: ({ args: { account, merchant, token, facilitator } }) => [
        requireRow(paymentWindows, { account, merchant, token, facilitator }),
      ],
      fold: ({
        args: { account, merchant, token, facilitator, amount, paymentHash, dailyTotal },
        timestamp,
        find,
      }) => {
        const key = { account, merchant, token, facilitator };
        const window_start = windowStart(find(paymentWindows, key), timestamp);
        return [
          upsert(paymentWindows, { ...key, spent: dailyTotal, window_start }),
          insert(signedPayments, { ...key, payment_hash: paymentHash, amount }),
        ];
      },
      explain: ({ args }) =>
        `Account ${args.account} paid ${args.amount} of ${args.token} to merchant ${args.merchant} by signature`,
    },
  },
});
