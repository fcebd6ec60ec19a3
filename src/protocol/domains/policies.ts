// Policies, spending and session keys of accounts. PolicyModule, PolicyAccount → a table of each, and their count.
import { policyAccountAbi } from "@sextant/contracts/generated/policy-account";
import { policyModuleAbi as abi } from "@sextant/contracts/generated/policy-module";
import type { ContractEventArgsFromTopics, ContractEventName } from "viem";
import { addAmounts, insert, upsert } from "../../schema/change.ts";
import { address, bool, boundedText, bytes4, bytes32, orNull, uint63, uint256 } from "../../schema/column.ts";
import { defineDomain, type EventRule, requireRow } from "../../schema/domain.ts";
import {
  addressPart,
  amountOfToken,
  amountPart,
  sentence,
  timePart,
  tokenPart,
} from "../../schema/sentence.ts";
import { defineRollup, defineTable, type RowOf, ZERO_ADDRESS } from "../../schema/table.ts";
import { countActivity } from "./activity.ts";

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

/** The accounts that have a policy, which the events count one by one. */
export const policyAccounts = defineRollup(
  "policy_accounts",
  { account: address, policies: uint63 },
  { key: ["account"], history: "full" },
);

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

type ArgsOf<Name extends ContractEventName<typeof abi>> = ContractEventArgsFromTopics<typeof abi, Name>;

/** An event that sets a policy: the latest one for the subject counts. */
function policyRule<Args extends { readonly account: string }>(declared: {
  type: string;
  subject: (args: Args) => string;
  fields: (args: Args) => Partial<PolicyRow>;
  explain: EventRule<Args>["explain"];
}): EventRule<Args> {
  const keyOf = (args: Args) => ({
    account: args.account,
    policy_type: declared.type,
    policy_subject: declared.subject(args),
  });
  return {
    requiredRows: ({ args }) => [
      requireRow(policies, keyOf(args)),
      requireRow(policyAccounts, { account: args.account }),
    ],
    fold: ({ args, timestamp, find }) => {
      const key = keyOf(args);
      const written = upsert(policies, { ...key, ...EMPTY_POLICY, ...declared.fields(args) });
      if (find(policies, key)) return [written];
      const isFirst = find(policyAccounts, { account: args.account }) === null;
      return [
        written,
        addAmounts(policyAccounts, { account: args.account }, { policies: 1n }),
        ...(isFirst ? countActivity(timestamp, { accounts: 1n }) : []),
      ];
    },
    explain: declared.explain,
  };
}

/** As in the contract, a window lasts a day from its start. */
function windowStart(before: { window_start: bigint } | null, now: bigint): bigint {
  return before && now < before.window_start + SPEND_WINDOW_SECONDS ? before.window_start : now;
}

const allowedWord = (allowed: boolean): string => (allowed ? "allowed" : "no longer allowed");

export const policiesDomain = defineDomain({
  contract: "PolicyModule",
  abi,
  tables: [policies, policyAccounts, spendWindows, paymentWindows, signedPayments],
  events: {
    SpendLimitSet: policyRule<ArgsOf<"SpendLimitSet">>({
      type: "SPEND_LIMIT",
      subject: ({ token }) => token,
      fields: ({ token, maxPerDay }) => ({ token, max_per_day: maxPerDay }),
      explain: ({ args }) =>
        sentence`Account ${addressPart(args.account)} limited its spending of ${tokenPart(args.token)} to ${amountPart(args.maxPerDay, args.token)} a day`,
    }),
    TargetAllowlistUpdated: policyRule<ArgsOf<"TargetAllowlistUpdated">>({
      type: "TARGET_ALLOWLIST",
      subject: ({ target }) => target,
      fields: ({ target, allowed }) => ({ target, allowed }),
      explain: ({ args }) =>
        sentence`Target ${addressPart(args.target)} is ${allowedWord(args.allowed)} for account ${addressPart(args.account)}`,
    }),
    FunctionAllowlistUpdated: policyRule<ArgsOf<"FunctionAllowlistUpdated">>({
      type: "FUNCTION_ALLOWLIST",
      subject: ({ target, selector }) => `${target}:${selector}`,
      fields: ({ target, selector, allowed }) => ({ target, selector, allowed }),
      explain: ({ args }) =>
        sentence`Function ${args.selector} of ${addressPart(args.target)} is ${allowedWord(args.allowed)} for account ${addressPart(args.account)}`,
    }),
    FunctionAllowlistModeUpdated: policyRule<ArgsOf<"FunctionAllowlistModeUpdated">>({
      type: "FUNCTION_ALLOWLIST_MODE",
      subject: () => "",
      fields: ({ enabled }) => ({ enabled }),
      explain: ({ args }) =>
        sentence`Account ${addressPart(args.account)} turned its function allowlist ${args.enabled ? "on" : "off"}`,
    }),
    PaymentPolicySet: policyRule<ArgsOf<"PaymentPolicySet">>({
      type: "PAYMENT_POLICY",
      subject: ({ merchant, token, facilitator }) => `${merchant}:${token}:${facilitator}`,
      fields: ({ merchant, token, facilitator, maxPerPayment, maxPerDay, allowed }) => ({
        merchant,
        token,
        facilitator,
        max_per_payment: maxPerPayment,
        max_per_day: maxPerDay,
        allowed,
      }),
      explain: ({ args }) =>
        sentence`Payments of ${tokenPart(args.token)} to merchant ${addressPart(args.merchant)} are ${allowedWord(args.allowed)} for account ${addressPart(args.account)}`,
    }),
    GuardianSet: policyRule<ArgsOf<"GuardianSet">>({
      type: "GUARDIAN",
      subject: () => "",
      fields: ({ guardian }) => ({ guardian }),
      explain: ({ args }) =>
        sentence`Account ${addressPart(args.account)} set its guardian to ${addressPart(args.guardian)}`,
    }),
    AccountFrozen: policyRule<ArgsOf<"AccountFrozen">>({
      type: "ACCOUNT_FROZEN",
      subject: () => "",
      fields: ({ frozen }) => ({ frozen }),
      explain: ({ args }) =>
        sentence`Account ${addressPart(args.account)} was ${args.frozen ? "frozen" : "unfrozen"}`,
    }),
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
        sentence`Account ${addressPart(args.account)} spent ${amountOfToken(args.amount, args.token)}; ${amountPart(args.dailyTotal, args.token)} in its current window`,
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
        sentence`Account ${addressPart(args.account)} paid ${amountOfToken(args.amount, args.token)} to merchant ${addressPart(args.merchant)} by signature`,
    },
  },
});

export const sessionKeys = defineTable(
  "session_keys",
  { account: address, session_key: address, expires_at: uint63, active: bool },
  { key: ["account", "session_key"] },
);

export const sessionExecutions = defineTable(
  "session_executions",
  { account: address, session_key: address, nonce: uint256, target: address, value: uint256 },
  { key: ["account", "session_key", "nonce"] },
);

// Anyone can deploy an account, or a contract that imitates one: its events concern only itself, and repeating them must
// not stop the index. Hence upsert, never insert.
export const sessionKeysDomain = defineDomain({
  contract: "PolicyAccount",
  abi: policyAccountAbi,
  anyEmitter: true,
  tables: [sessionKeys, sessionExecutions],
  events: {
    SessionKeyUpdated: {
      fold: ({ args, address: account }) => [
        upsert(sessionKeys, {
          account,
          session_key: args.sessionKey,
          expires_at: BigInt(args.expiresAt),
          active: args.active,
        }),
      ],
      explain: ({ args, address: account }) =>
        args.active
          ? sentence`Account ${addressPart(account)} gave session key ${addressPart(args.sessionKey)} access until ${timePart(args.expiresAt)}`
          : sentence`Account ${addressPart(account)} withdrew session key ${addressPart(args.sessionKey)}`,
    },
    SessionKeyExecuted: {
      fold: ({ args, address: account }) => [
        upsert(sessionExecutions, {
          account,
          session_key: args.sessionKey,
          nonce: args.nonce,
          target: args.target,
          value: args.value,
        }),
      ],
      explain: ({ args, address: account }) =>
        sentence`Session key ${addressPart(args.sessionKey)} called ${addressPart(args.target)} for account ${addressPart(account)} with value ${amountPart(args.value, ZERO_ADDRESS)}`,
    },
  },
});
