// One account: its state and limits, the keys and agents that act for it, what it wants, pays and operates.

import { type Html, type HtmlValue, html } from "../../lib/html.ts";
import type { accountSchema } from "../../protocol/reads/accounts.ts";
import type { TypeOf } from "../../schema/json-schema.ts";
import type { ApiReader } from "../api-reader.ts";
import {
  addressLink,
  badge,
  card,
  facts,
  findAddressName,
  notice,
  number,
  type RecordKind,
  recordLink,
  status,
  totals,
  unknown,
} from "../components.ts";
import { type PageContext, type PageRequest, requireParam, sourceLinks } from "../context.ts";
import { readEvents } from "../events.ts";
import { activeStatus, type Item, recordFacts } from "../fields.ts";
import { shorten, splitWords } from "../format.ts";
import { type List, type ListData, listCard, withoutColumns } from "../list.ts";
import { agentList, intentList } from "../lists.ts";
import { changesWithin, columns, definePage, historyCard, type PageView, readAll } from "../page.ts";
import { policyList, sessionKeyList, windowList } from "./account-rules.ts";
import { paidReceiptList } from "./agent.ts";
import { preflightForm } from "./preflight-form.ts";

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
] as const satisfies readonly (readonly [RecordKind, string])[];

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
