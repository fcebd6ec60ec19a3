// The model's rules for policies and spending: the latest word per subject, windows as the contract keeps them.
import type { ModelEvent } from "./model-events.ts";
import { arg, type ReadModel, type Rules } from "./read-model.ts";

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
  const account = arg(event, "account");
  const nothing = Object.fromEntries(COLUMNS.map((name) => [name, null]));
  const row = { account, policy_type: type, policy_subject: subject, ...nothing, ...fields };
  model.put("policies", [account, type, subject], row, event);
}

export const policyRules: Rules = {
  "PolicyModule.SpendLimitSet": (model, event) => {
    const token = arg(event, "token");
    set(model, event, "SPEND_LIMIT", text(token), { token, max_per_day: arg(event, "maxPerDay") });
  },
  "PolicyModule.TargetAllowlistUpdated": (model, event) => {
    const target = arg(event, "target");
    set(model, event, "TARGET_ALLOWLIST", text(target), { target, allowed: arg(event, "allowed") });
  },
  "PolicyModule.FunctionAllowlistUpdated": (model, event) => {
    const target = arg(event, "target");
    const selector = arg(event, "selector");
    const fields = { target, selector, allowed: arg(event, "allowed") };
    set(model, event, "FUNCTION_ALLOWLIST", `${text(target)}:${text(selector)}`, fields);
  },
  "PolicyModule.FunctionAllowlistModeUpdated": (model, event) => {
    set(model, event, "FUNCTION_ALLOWLIST_MODE", "", { enabled: arg(event, "enabled") });
  },
  "PolicyModule.PaymentPolicySet": (model, event) => {
    const parties = {
      merchant: arg(event, "merchant"),
      token: arg(event, "token"),
      facilitator: arg(event, "facilitator"),
    };
    const subject = [parties.merchant, parties.token, parties.facilitator].map(text).join(":");
    const limits = { max_per_payment: arg(event, "maxPerPayment"), max_per_day: arg(event, "maxPerDay") };
    const fields = { ...parties, ...limits, allowed: arg(event, "allowed") };
    set(model, event, "PAYMENT_POLICY", subject, fields);
  },
  "PolicyModule.GuardianSet": (model, event) => {
    set(model, event, "GUARDIAN", "", { guardian: arg(event, "guardian") });
  },
  "PolicyModule.AccountFrozen": (model, event) => {
    set(model, event, "ACCOUNT_FROZEN", "", { frozen: arg(event, "frozen") });
  },
  "PolicyModule.SpendRecorded": (model, event) => {
    const account = arg(event, "account");
    const token = arg(event, "token");
    model.put("spend_windows", [account, token], { account, token, ...windowOf(event) }, event);
  },
  "PolicyModule.SignedPaymentRecorded": (model, event) => {
    const account = arg(event, "account");
    const parties = {
      account,
      merchant: arg(event, "merchant"),
      token: arg(event, "token"),
      facilitator: arg(event, "facilitator"),
    };
    model.put("payment_windows", Object.values(parties), { ...parties, ...windowOf(event) }, event);
    const payment_hash = arg(event, "paymentHash");
    const payment = { ...parties, payment_hash, amount: arg(event, "amount") };
    model.put("signed_payments", [account, payment_hash], payment, event);
  },
};

/** What the contract itself has stored when the block ends. */
function windowOf({ view }: ModelEvent): { spent: unknown; window_start: string } {
  return { spent: view.spentToday, window_start: String(view.lastResetTimestamp) };
}
