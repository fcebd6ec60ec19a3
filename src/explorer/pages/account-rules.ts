// The rules of an account as lists: what is spent of its limits, all its policies, and its session keys.
import { type Html, html } from "../../lib/html.ts";
import type { policy, sessionKey, spendingWindow } from "../../protocol/reads/accounts.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import { ZERO_ADDRESS } from "../../schema/table.ts";
import { addressLink, amount, badge, gauge, status, time, token, unknown } from "../components.ts";
import { linkTo, type PageContext } from "../context.ts";
import { noLimit } from "../fields.ts";
import { splitWords } from "../format.ts";
import type { List } from "../list.ts";

type SpendingWindow = RecordOf<typeof spendingWindow>;
type Policy = RecordOf<typeof policy>;

function spentCell(each: SpendingWindow, page: PageContext): Html {
  const spent = amount(page, each.spent, each.token);
  if (each.max_per_day === null) return html`${spent}<span class="under">no limit a day</span>`;
  const limit = amount(page, each.max_per_day, each.token);
  return gauge({
    label: "Spent",
    used: BigInt(each.spent),
    limit: BigInt(each.max_per_day),
    text: html`${spent} of ${limit}`,
  });
}

/** Null is a limit that is not set. */
const limitAmount = (units: string | null, of: string, page: PageContext) =>
  units === null ? noLimit() : amount(page, units, of);

function limitCell(each: SpendingWindow, page: PageContext): Html {
  if (each.policy_type === "SPEND_LIMIT") return html`Spending of ${token(page, each.token)}`;
  const through =
    each.facilitator !== ZERO_ADDRESS &&
    html`<span class="under">through facilitator ${addressLink(page, each.facilitator)}</span>`;
  return html`Payments of ${token(page, each.token)} to ${addressLink(page, each.merchant)}${through}`;
}

function stateCell({ allowed, policy_type, max_per_day }: SpendingWindow): Html {
  if (allowed === false) return badge("Not allowed", "bad");
  const isUnlimited = policy_type === "SPEND_LIMIT" && max_per_day === null;
  return isUnlimited ? badge("No limit") : badge("In force", "good");
}

export const windowList: List<SpendingWindow> = {
  route: "/accounts/:address/windows",
  columns: [
    ["Limit", limitCell],
    ["State", stateCell],
    ["Spent in the window", spentCell, "number"],
    ["Left", (each, page) => limitAmount(each.remaining, each.token, page), "number"],
    ["Per payment", (each, page) => limitAmount(each.max_per_payment, each.token, page), "number"],
    [
      "Resets",
      ({ resets_at }) =>
        resets_at === null ? html`<span class="soft">no open window</span>` : time(resets_at),
    ],
  ],
  empty: "It has neither a spend limit nor a payment policy at this block.",
};

const FUNCTIONS: Readonly<Record<string, string>> = {
  "0xa9059cbb": "transfer",
  "0x095ea7b3": "approve",
  "0x23b872dd": "transferFrom",
};

function subjectCell(each: Policy, page: PageContext): Html {
  switch (each.policy_type) {
    case "TARGET_ALLOWLIST":
      return addressLink(page, each.target);
    case "FUNCTION_ALLOWLIST": {
      const selector = each.selector ?? "";
      return html`<code title="${selector}">${FUNCTIONS[selector] ?? selector}</code> of ${addressLink(page, each.target)}`;
    }
    case "SPEND_LIMIT":
      return token(page, each.token);
    case "PAYMENT_POLICY":
      return html`${token(page, each.token)} to ${addressLink(page, each.merchant)}`;
    case "GUARDIAN":
      return addressLink(page, each.guardian);
    default:
      return unknown();
  }
}

const allowance = (isAllowed: boolean | null) =>
  isAllowed === true ? badge("Allowed", "good") : badge("Not allowed", "bad");

/** The contract takes 0 for no limit. */
const limitOf = (each: Policy, page: PageContext) =>
  each.max_per_day === "0"
    ? badge("No limit a day")
    : html`${amount(page, each.max_per_day, each.token)} a day`;

function settingCell(each: Policy, page: PageContext): Html {
  switch (each.policy_type) {
    case "SPEND_LIMIT":
      return limitOf(each, page);
    case "PAYMENT_POLICY":
      return html`${allowance(each.allowed)} ${limitOf(each, page)}`;
    case "FUNCTION_ALLOWLIST_MODE":
      return each.enabled === true ? badge("On", "accent") : badge("Off");
    case "ACCOUNT_FROZEN":
      return each.frozen === true ? status("FROZEN") : badge("Not frozen", "good");
    case "GUARDIAN":
      return each.guardian === ZERO_ADDRESS ? badge("No guardian") : badge("May freeze and release it");
    default:
      return allowance(each.allowed);
  }
}

function checkCell(each: Policy, page: PageContext): Html | null {
  const { id } = page.params;
  if (typeof each.target !== "string" || id === undefined) return null;
  const data = typeof each.selector === "string" ? each.selector : null;
  const path = linkTo(page, `/accounts/${encodeURIComponent(id)}/preflight`, { target: each.target, data });
  return html`<a href="${path}">Check a call</a>`;
}

export const policyList: List<Policy> = {
  route: "/accounts/:address/policies",
  columns: [
    ["Policy", (each) => splitWords(each.policy_type)],
    ["About", subjectCell],
    ["Setting", settingCell],
    ["Set in block", "block_number"],
    ["Preflight", checkCell],
  ],
  empty: "It has set no policy at this block.",
};

export const sessionKeyList: List<RecordOf<typeof sessionKey>> = {
  route: "/accounts/:address/session-keys",
  columns: [
    ["Session key", "session_key"],
    ["State", ({ state }) => status(state, state === "WITHDRAWN" ? "bad" : undefined)],
    ["Access ends", "expires_at"],
    ["Set in block", "block_number"],
  ],
  empty: "It has given no session key access at this block.",
};
