// One account: its state, limits, policies and session keys, the agents that act for it, what it wants, pays and operates.
import { type Html, type HtmlValue, html } from "../../lib/html.ts";
import type { accountSchema, policy, sessionKey, spendingWindow } from "../../protocol/reads/accounts.ts";
import type { TypeOf } from "../../schema/json-schema.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import { ZERO_ADDRESS } from "../../schema/table.ts";
import type { ApiReader } from "../api-reader.ts";
import {
  addressLink,
  amount,
  badge,
  card,
  facts,
  findAddressName,
  gauge,
  notice,
  number,
  type PageKind,
  recordLink,
  status,
  time,
  token,
  totals,
  unknown,
} from "../components.ts";
import { linkTo, type PageContext, type PageRequest, requireParam, sourceLinks } from "../context.ts";
import { readEvents } from "../events.ts";
import { activeStatus, type Item, noLimit, recordFacts } from "../fields.ts";
import { shorten, splitWords } from "../format.ts";
import { type List, type ListData, listCard, withoutColumns } from "../list.ts";
import { agentList, intentList } from "../lists.ts";
import { changesWithin, columns, definePage, historyCard, type PageView, readAll } from "../page.ts";
import { paidReceiptList } from "./agent.ts";
import { preflightForm } from "./preflight-form.ts";

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

const windowList: List<SpendingWindow> = {
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

export type AccountRecord = TypeOf<typeof accountSchema>;

const ownIntentList = {
  ...withoutColumns(intentList, ["Owner"]),
  empty: "It has submitted no intent at this block.",
};

/** The records of registries that an account operates: the field of each that names the account. */
const ROLES = [
  ["solver", "operator"],
  ["attestor", "operator"],
  ["merchant", "owner"],
  ["facilitator", "facilitator"],
] as const satisfies readonly (readonly [PageKind, string])[];

type Operated = Readonly<Record<string, string | boolean>>;

const ROWS = "10";

async function load(api: ApiReader, request: PageRequest) {
  const params = { address: requireParam(request, "id") };
  // First, so that an invalid address is rejected once, with the API's own message.
  const account = await api.get<AccountRecord>("/accounts/:address", { params });
  const { account: owner } = account.body;
  const { start_block } = await api.head();
  const ofAccount = <T>(list: List<T>, limit: string) =>
    api.list(list, { params: { address: owner }, query: { limit } });
  const roles = ROLES.map(([kind, filter]) =>
    api.records<Operated>({ route: `/${kind}s` }, { query: { [filter]: owner, limit: ROWS } }),
  );
  return readAll({
    account,
    windows: ofAccount(windowList, "50"),
    policies: ofAccount(policyList, "100"),
    sessionKeys: ofAccount(sessionKeyList, "50"),
    agents: api.list(agentList, { query: { owner, limit: ROWS } }),
    intents: api.list(ownIntentList, { query: { owner, limit: ROWS } }),
    receipts: api.list(paidReceiptList, { query: { agent: owner, limit: ROWS } }),
    events: readEvents(api, start_block, { account: owner }),
    roles: Promise.all(roles),
  });
}

type AccountData = Awaited<ReturnType<typeof load>>;

const COUNTED: readonly (readonly [key: keyof AccountRecord["counts"], label: string])[] = [
  ["agents", "Agents"],
  ["intents", "Intents"],
  ["receipts", "Receipts as payer"],
  ["policies", "Policies"],
  ["session_keys", "Session keys"],
];

// For these tables the API returns null at old blocks once there are too many versions to count.
const VERSIONED: ReadonlySet<string> = new Set(["policies", "session_keys"]);

function countOf(
  { counts }: AccountRecord,
  key: keyof AccountRecord["counts"],
  page: PageContext,
): HtmlValue {
  const value = counts[key];
  if (value !== null) return number(value);
  return page.block !== null && VERSIONED.has(key) ? unknown() : "More than 1,000";
}

function isUnknown({ account: { body }, roles }: AccountData): boolean {
  const hasRecord = Object.values(body.counts).some((count) => count !== "0");
  return !hasRecord && roles.every(({ records }) => records.length === 0);
}

const STATE: readonly Item<AccountRecord>[] = [
  ["Frozen", ({ frozen }) => (frozen ? status("FROZEN") : "No")],
  ["Guardian", ({ guardian }, page) => (guardian === null ? "None" : addressLink(page, guardian))],
  [
    "Function allowlist",
    (each) =>
      each.function_allowlist_enabled
        ? html`${badge("On", "accent")} <span class="soft">only listed functions of allowed targets</span>`
        : html`${badge("Off")} <span class="soft">every function of allowed targets</span>`,
  ],
];

function roleFacts({ roles }: AccountData, page: PageContext): Html {
  const held = ROLES.flatMap(([kind], index) => {
    const role = roles[index];
    return role === undefined || role.records.length === 0 ? [] : [{ kind, ...role }];
  });
  if (held.length === 0)
    return html`<p class="empty">It operates no solver, attestor, merchant or facilitator at this block.</p>`;
  return html`${facts(
    held.map(({ kind, records }) => [
      splitWords(kind),
      records.map(
        (each) => html`${recordLink(page, kind, String(each[`${kind}_id`]))} ${activeStatus(each.active)} `,
      ),
    ]),
  )}${held.map(({ call }) => sourceLinks(page, call))}`;
}

const MORE = "More than this page shows are in the CSV and in the API.";

/** A list that is not paged here says where the rest is. */
function shortList<T>(title: string, data: ListData<T>, page: PageContext, id: string, note?: Html): Html {
  return listCard(title, data, page, {
    id,
    note: html`${data.records.length > 0 && note}${data.next !== null && html`<p class="note soft">${MORE}</p>`}`,
  });
}

function details(data: AccountData, page: PageContext): Html {
  return html`${shortList("Limits", data.windows, page, "limits", html`<p class="note soft">A window begins with the first spend and lasts a day; then the whole limit is there again.</p>`)}
${shortList("Policies", data.policies, page, "policies")}
${shortList("Session keys", data.sessionKeys, page, "session-keys")}
${listCard("Agents", data.agents, page, { id: "agents", more: "All agents" })}
${listCard("Intents, newest first", data.intents, page, { id: "intents", more: "All intents" })}
${listCard("Receipts as payer, newest first", data.receipts, page, { id: "receipts", more: "All receipts" })}
${historyCard(data.events, page)}`;
}

function render(data: AccountData, page: PageContext): PageView {
  const { body: account, call } = data.account;
  const check = card("Would a transaction pass?", preflightForm(page, { account: account.account }), {
    id: "preflight",
  });
  const unknownNotice = notice(
    "info",
    "The index does not know this address at this block: no agent, intent, receipt, policy, session key, solver, attestor, merchant or facilitator names it.",
  );
  const state = card("State", html`${recordFacts(STATE, account, page)}${sourceLinks(page, call)}`);
  const operates = card("Operates", roleFacts(data, page));
  const known = findAddressName(page, account.account);
  const counts = COUNTED.map(([key, label]) => ({ label, value: countOf(account, key, page) }));
  return {
    kicker: "Account",
    title: `Account ${shorten(account.account)}`,
    afterTitle: html`${known !== null && badge(known, "accent")}${account.frozen && status("FROZEN")}`,
    lead: html`<code class="whole" data-copy="${account.account}">${account.account}</code>`,
    main: isUnknown(data)
      ? html`${unknownNotice}${check}${state}`
      : html`${totals(counts)}
${columns(html`${state}${operates}`, check)}
${details(data, page)}`,
    changes: changesWithin(data.events, page),
  };
}

type SessionEvents = {
  readonly events: readonly { readonly address: string }[];
  readonly progress: { readonly cursor: string };
  readonly has_more: boolean;
};

/** An account with limits and session keys, for tests: one for which a session key has acted. */
export async function findActiveAccount(get: (url: string) => Promise<unknown>): Promise<string> {
  for (let from = "genesis"; ; ) {
    const page = (await get(`/events?from=${from}&type=SessionKeyExecuted&limit=1`)) as SessionEvents;
    const [first] = page.events;
    if (first !== undefined) return first.address;
    if (!page.has_more) throw new Error("no session key has acted");
    from = page.progress.cursor;
  }
}

export const accountPage = definePage({
  path: "/accounts/:id",
  lists: [windowList, policyList, sessionKeyList],
  findExample: async (get) => ({ params: { id: await findActiveAccount(get) } }),
  load,
  render,
});
