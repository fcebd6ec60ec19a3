// The model's rules for policies and spending: the latest policy per subject, windows as in the contract.
import type { ModelEvent } from "./model-events.ts";
import { eventArgument, type ModelRules, type ReadModel } from "./read-model.ts";

const COLUMNS = [
  "token",
  "target",
  "selector",
  "merchant",
  "facilitator",
  "guardian",
  "max_per_payment",
  "max_per_day",
  "allowed",
  "enabled",
  "frozen",
];

type Fields = Readonly<Record<string, unknown>>;

const text = (value: unknown): string => String(value).toLowerCase();

function set(model: ReadModel, event: ModelEvent, type: string, subject: string, fields: Fields): void {
  const account = eventArgument(event, "account");
  const nothing = Object.fromEntries(COLUMNS.map((name) => [name, null]));
  const row = { account, policy_type: type, policy_subject: subject, ...nothing, ...fields };
  if (!model.has("policies", [account, type, subject]))
    model.count("policy_accounts", account, { account, policies: 0n }, { policies: 1n });
  model.put("policies", [account, type, subject], row, event);
}

export const policyRules: ModelRules = {
  "PolicyModule.SpendLimitSet": (model, event) => {
    const token = eventArgument(event, "token");
    set(model, event, "SPEND_LIMIT", text(token), { token, max_per_day: eventArgument(event, "maxPerDay") });
  },
  "PolicyModule.TargetAllowlistUpdated": (model, event) => {
    const target = eventArgument(event, "target");
    set(model, event, "TARGET_ALLOWLIST", text(target), { target, allowed: eventArgument(event, "allowed") });
  },
  "PolicyModule.FunctionAllowlistUpdated": (model, event) => {
    const target = eventArgument(event, "target");
    const selector = eventArgument(event, "selector");
    const fields = { target, selector, allowed: eventArgument(event, "allowed") };
    set(model, event, "FUNCTION_ALLOWLIST", `${text(target)}:${text(selector)}`, fields);
  },
  "PolicyModule.FunctionAllowlistModeUpdated": (model, event) => {
    set(model, event, "FUNCTION_ALLOWLIST_MODE", "", { enabled: eventArgument(event, "enabled") });
  },
  "PolicyModule.PaymentPolicySet": (model, event) => {
    const parties = {
      merchant: eventArgument(event, "merchant"),
      token: eventArgument(event, "token"),
      facilitator: eventArgument(event, "facilitator"),
    };
    const subject = [parties.merchant, parties.token, parties.facilitator].map(text).join(":");
    const limits = {
      max_per_payment: eventArgument(event, "maxPerPayment"),
      max_per_day: eventArgument(event, "maxPerDay"),
    };
    const fields = { ...parties, ...limits, allowed: eventArgument(event, "allowed") };
    set(model, event, "PAYMENT_POLICY", subject, fields);
  },
  "PolicyModule.GuardianSet": (model, event) => {
    set(model, event, "GUARDIAN", "", { guardian: eventArgument(event, "guardian") });
  },
  "PolicyModule.AccountFrozen": (model, event) => {
    set(model, event, "ACCOUNT_FROZEN", "", { frozen: eventArgument(event, "frozen") });
  },
  "PolicyModule.SpendRecorded": (model, event) => {
    const account = eventArgument(event, "account");
    const token = eventArgument(event, "token");
    model.put("spend_windows", [account, token], { account, token, ...windowOf(event) }, event);
  },
  "PolicyModule.SignedPaymentRecorded": (model, event) => {
    const account = eventArgument(event, "account");
    const parties = {
      account,
      merchant: eventArgument(event, "merchant"),
      token: eventArgument(event, "token"),
      facilitator: eventArgument(event, "facilitator"),
    };
    model.put("payment_windows", Object.values(parties), { ...parties, ...windowOf(event) }, event);
    const payment_hash = eventArgument(event, "paymentHash");
    const payment = { ...parties, payment_hash, amount: eventArgument(event, "amount") };
    model.put("signed_payments", [account, payment_hash], payment, event);
  },
};

/** The value that the contract has stored at the end of the block. */
function windowOf({ view }: ModelEvent): { spent: unknown; window_start: string } {
  return { spent: view.spentToday, window_start: String(view.lastResetTimestamp) };
}
