// One account: its state and limits, the keys and agents that act for it, what it wants, pays and operates.

import { type Html, type HtmlValue, html } from "../../lib/html.ts";
import type { accountSchema } from "../../protocol/reads/accounts.ts";
import type { TypeOf } from "../../schema/json-schema.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import {
  addressLink,
  badge,
  card,
  facts,
  notice,
  number,
  type RecordKind,
  recordLink,
  status,
  totals,
  unknown,
} from "../components.ts";
import { type PageContext, type PageRequest, requireParam } from "../context.ts";
import { type EventsData, readEvents } from "../events.ts";
import { shorten, splitWords } from "../format.ts";
import { type List, type ListData, listCard } from "../list.ts";
import { definePage, type PageView } from "../page.ts";
import { sourceLinks } from "../source.ts";
import { policyList, sessionKeyList, windowList } from "./account-rules.ts";
import { paidReceiptList } from "./agent.ts";
import { agentList } from "./agents.ts";
import { withoutColumns } from "./commerce-lists.ts";
import { changesWithin } from "./commerce-parts.ts";
import { intentList } from "./intents.ts";
import { preflightForm } from "./preflight-form.ts";

export type AccountRecord = TypeOf<typeof accountSchema>;

const ownIntentList: List = {
  ...withoutColumns(intentList, ["Owner"]),
  empty: "It has submitted no intent at this block.",
};

/** A record of a registry that an account operates. */
type Role = {
  readonly kind: RecordKind;
  readonly route: string;
  readonly key: string;
  readonly filter: string;
  readonly id: string;
};

const ROLES: readonly Role[] = [
  { kind: "solver", route: "/solvers", key: "solvers", filter: "operator", id: "solver_id" },
  { kind: "attestor", route: "/attestors", key: "attestors", filter: "operator", id: "attestor_id" },
  { kind: "merchant", route: "/merchants", key: "merchants", filter: "owner", id: "merchant_id" },
  {
    kind: "facilitator",
    route: "/facilitators",
    key: "facilitators",
    filter: "facilitator",
    id: "facilitator_id",
  },
];

const LISTS = {
  windows: windowList,
  policies: policyList,
  sessionKeys: sessionKeyList,
} as const;

type AccountData = {
  readonly account: ApiResult<AccountRecord>;
  readonly lists: Readonly<Record<keyof typeof LISTS | "agents" | "intents" | "receipts", ListData>>;
  readonly roles: readonly (Role & { readonly data: ListData })[];
  readonly events: EventsData;
};

async function load(api: ApiReader, request: PageRequest): Promise<AccountData> {
  const params = { address: requireParam(request, "id") };
  // First, so that an invalid address is rejected once, with the API's own message.
  const account = await api.get<AccountRecord>("/accounts/:address", { params });
  const { account: owner } = account.body;
  const { start_block } = await api.head();
  const ofAccount = (list: List, limit: string) =>
    api.list(list, { params: { address: owner }, query: { limit } });
  const [windows, policies, sessionKeys, agents, intents, receipts, events, ...roles] = await Promise.all([
    ofAccount(windowList, "50"),
    ofAccount(policyList, "100"),
    ofAccount(sessionKeyList, "50"),
    api.list(agentList, { query: { owner, limit: "10" } }),
    api.list(ownIntentList, { query: { owner, limit: "10" } }),
    api.list(paidReceiptList, { query: { agent: owner, limit: "10" } }),
    readEvents(api, start_block, { account: owner }),
    ...ROLES.map(async (role) => ({ ...role, data: await readRole(api, role, owner) })),
  ]);
  return { account, lists: { windows, policies, sessionKeys, agents, intents, receipts }, roles, events };
}

function readRole(api: ApiReader, { route, key, filter }: Role, owner: string): Promise<ListData> {
  const list = { route, key, csv: "", columns: [], empty: "" };
  return api.list(list, { query: { [filter]: owner, limit: "10" } });
}

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
  return !hasRecord && roles.every(({ data }) => data.records.length === 0);
}

function stateFacts(account: AccountRecord, page: PageContext): Html {
  return facts([
    ["Frozen", account.frozen ? status("FROZEN") : "No"],
    ["Guardian", account.guardian === null ? "None" : addressLink(page, account.guardian)],
    [
      "Function allowlist",
      account.function_allowlist_enabled
        ? html`${badge("On", "accent")} <span class="soft">only listed functions of allowed targets</span>`
        : html`${badge("Off")} <span class="soft">every function of allowed targets</span>`,
    ],
  ]);
}

function roleFacts(roles: AccountData["roles"], page: PageContext): Html {
  const held = roles.filter(({ data }) => data.records.length > 0);
  if (held.length === 0)
    return html`<p class="empty">It operates no solver, attestor, merchant or facilitator at this block.</p>`;
  return html`${facts(
    held.map(({ kind, id, data }) => [
      splitWords(kind),
      data.records.map(
        (each) =>
          html`${recordLink(page, kind, String(each[id]))} ${each.active === true ? status("ACTIVE") : status("INACTIVE")} `,
      ),
    ]),
  )}${held.map(({ data }) => sourceLinks(page, data.call))}`;
}

const MORE = "More than this page shows are in the CSV and in the API.";

/** A list that is not paged here says where the rest is. */
function shortList(title: string, data: ListData, page: PageContext, id: string, note?: Html): Html {
  return listCard(title, data, page, {
    id,
    note: html`${data.records.length > 0 && note}${data.next !== null && html`<p class="note soft">${MORE}</p>`}`,
  });
}

function details(data: AccountData, page: PageContext): Html {
  const { lists, account } = data;
  const owner = account.body.account;
  return html`${shortList("Limits", lists.windows, page, "limits", html`<p class="note soft">A window begins with the first spend and lasts a day; then the whole limit is there again.</p>`)}
${shortList("Policies", lists.policies, page, "policies")}
${shortList("Session keys", lists.sessionKeys, page, "session-keys")}
${listCard("Agents", lists.agents, page, { id: "agents", more: { path: "/agents", query: { owner }, label: "All agents" } })}
${listCard("Intents, newest first", lists.intents, page, { id: "intents", more: { path: "/intents", query: { owner }, label: "All intents" } })}
${listCard("Receipts as payer, newest first", lists.receipts, page, { id: "receipts", more: { path: "/receipts", query: { agent: owner }, label: "All receipts" } })}`;
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
  const state = html`${totals(COUNTED.map(([key, label]) => ({ label, value: countOf(account, key, page) })))}
<div class="columns"><div>${card("State", html`${stateFacts(account, page)}${sourceLinks(page, call)}`)}${card("Operates", roleFacts(data.roles, page), { id: "operates" })}</div><div>${check}</div></div>
${details(data, page)}`;
  return {
    kicker: "Account",
    title: `Account ${shorten(account.account)}`,
    ...(account.frozen ? { beside: status("FROZEN") } : {}),
    lead: html`<code class="whole" data-copy="${account.account}">${account.account}</code>`,
    main: isUnknown(data)
      ? html`${unknownNotice}${check}${card("State", html`${stateFacts(account, page)}${sourceLinks(page, call)}`)}`
      : state,
    ...changesWithin(data.events, page),
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
  lists: Object.values(LISTS),
  findExample: async (get) => ({ params: { id: await findActiveAccount(get) } }),
  load,
  render,
});
