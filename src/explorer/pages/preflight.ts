// Preflight on a page: whether a planned transaction of an account passes, why not, and the calls that would change it.

import { type Html, html } from "../../lib/html.ts";
import type { preflightSchema } from "../../protocol/preflight/evaluate.ts";
import type { TypeOf } from "../../schema/json-schema.ts";
import { ZERO_ADDRESS } from "../../schema/table.ts";
import type { ApiReader } from "../api-reader.ts";
import {
  addressLink,
  amount,
  card,
  facts,
  findToken,
  gauge,
  notice,
  recordPath,
  status,
  token as tokenLabel,
} from "../components.ts";
import { type ApiCall, type PageContext, type PageRequest, requireParam, sourceLinks } from "../context.ts";
import { renderSentence } from "../events.ts";
import { shorten } from "../format.ts";
import { definePage, type PageView, readAll } from "../page.ts";
import { type AccountRecord, findActiveAccount, policyList, sessionKeyList } from "./account.ts";
import { PREFLIGHT_KEYS, preflightForm } from "./preflight-form.ts";

type Verdict = TypeOf<typeof preflightSchema>;
type SpendCheck = Verdict["spend_checks"][number];
type PolicyUpdate = Verdict["required_policy_updates"][number];

/** The verdict on what is entered; null while nothing is. */
type Result = { readonly body: Verdict; readonly call: ApiCall } | { readonly problem: string } | null;

async function load(api: ApiReader, request: PageRequest) {
  const id = requireParam(request, "id");
  const { body: account } = await api.get<AccountRecord>("/accounts/:address", { params: { address: id } });
  const params = { address: account.account };
  return readAll({
    account,
    policies: api.list(policyList, { params, query: { limit: "100" } }),
    sessionKeys: api.list(sessionKeyList, { params, query: { limit: "50" } }),
    result: evaluate(api, account.account, request),
  });
}

async function evaluate(api: ApiReader, account: string, { query }: PageRequest): Promise<Result> {
  const entered = PREFLIGHT_KEYS.flatMap((key) => {
    const value = query[key]?.trim() ?? "";
    return value === "" ? [] : [[key, value]];
  });
  if (entered.length === 0) return null;
  return api.evaluate<Verdict>("/preflight", { account, ...Object.fromEntries(entered), include: "parts" });
}

function spendGauge({ token, attempted, spent, max_per_day }: SpendCheck, page: PageContext): Html {
  if (max_per_day === null)
    return html`<p>Spends ${amount(page, attempted, token)}${findToken(page, token) === null && html` of ${tokenLabel(page, token)}`}, which has no limit.</p>`;
  return html`<div class="spend">${gauge({
    label: token === ZERO_ADDRESS ? "Native coin, after it" : "Token, after it",
    used: BigInt(spent) + BigInt(attempted),
    limit: BigInt(max_per_day),
    text: html`${amount(page, (BigInt(spent) + BigInt(attempted)).toString(), token)} of ${amount(page, max_per_day, token)}`,
  })}<p class="under">Already spent in the current window: ${amount(page, spent, token)}. This adds ${amount(page, attempted, token)}.</p></div>`;
}

/** A sentence about what the call changes. */
function updateTitle(
  { policy_type, target, selector, token, suggested_value }: PolicyUpdate,
  page: PageContext,
): Html {
  switch (policy_type) {
    case "ACCOUNT_FROZEN":
      return html`Release the account`;
    case "TARGET_ALLOWLIST":
      return html`Allow the target ${addressLink(page, target)}`;
    case "FUNCTION_ALLOWLIST":
      return html`Allow the function <code>${selector}</code> of ${addressLink(page, target)}`;
    case "SPEND_LIMIT":
      return suggested_value === "0"
        ? html`Remove the limit of ${tokenLabel(page, token)}`
        : html`Raise the limit of ${tokenLabel(page, token)} to ${amount(page, suggested_value, token)} a day`;
    default:
      return html`Change the policy`;
  }
}

/** A line for a shell. Everything in it is hex or a number from the API, so that it needs no quotes. */
function formatCast({ to, data }: PolicyUpdate, from: string, page: PageContext): string {
  return `cast send ${to} ${data} --from ${from} --chain ${page.site.chain.chainId} --rpc-url "$RPC_URL"`;
}

function copyable(label: string, text: string): Html {
  return html`<div class="snippet"><h4>${label}</h4><pre tabindex="0"><code data-copy="${text}">${text}</code></pre></div>`;
}

function updateItem(update: PolicyUpdate, account: string, page: PageContext): Html {
  const by = update.policy_type === "ACCOUNT_FROZEN" ? "the account or its guardian" : "the account";
  return html`<li><h3>${updateTitle(update, page)}</h3>
${facts([
  [`From: ${by}`, addressLink(page, account)],
  ["To: the policy module", addressLink(page, update.to)],
])}${copyable("Data", update.data)}${copyable("With cast; add the option of your wallet, such as --ledger", formatCast(update, account, page))}</li>`;
}

function updatesCard(verdict: Verdict, account: string, page: PageContext): Html | null {
  const { allowed, reasons, required_policy_updates: updates } = verdict;
  if (allowed) return null;
  if (updates.length === 0)
    return card(
      "Fixing calls",
      html`<p class="empty">No policy can change this: use another key, target or call data.</p>`,
      { id: "fix" },
    );
  const them = updates.length === 1 ? "it" : "them";
  const isPartial = reasons.length > updates.length;
  return card(
    updates.length === 1 ? "Fixing call" : "Fixing calls",
    html`${isPartial && notice("warn", "There are more reasons than calls: one call may remove several, but no policy makes a session key valid or its forbidden target allowed.")}<p class="note soft">Ready to sign. The account itself must send ${them}; the owner of a PolicyAccount calls the function of the same name on the account instead.</p><ol class="updates">${updates.map((each) => updateItem(each, account, page))}</ol>`,
    { id: "fix" },
  );
}

function verdictCard(
  { body, call }: { readonly body: Verdict; readonly call: ApiCall },
  page: PageContext,
): Html {
  const [first, ...others] = (body.reason_parts ?? []).map((parts) => renderSentence(page, parts));
  const reasons =
    first !== undefined &&
    html`<h3>Why not</h3><ol class="reasons"><li>${first} <span class="soft">The contract reverts with this.</span></li>${others.map((each) => html`<li>${each}</li>`)}</ol>`;
  const spends =
    body.spend_checks.length > 0 &&
    html`<h3>What it spends</h3>${body.spend_checks.map((each) => spendGauge(each, page))}`;
  const session = call.body?.session_key;
  return card(
    "Verdict",
    html`<div role="status" class="verdict ${body.allowed ? "good" : "bad"}"><p>${status(body.allowed ? "Allowed" : "Not allowed", body.allowed ? "good" : "bad")} ${renderSentence(page, body.action_parts ?? [])}</p></div>
${facts([
  ["From", addressLink(page, call.body?.account)],
  ["Target", addressLink(page, call.body?.target?.toLowerCase())],
  ...(session === undefined ? [] : ([["Signed by", addressLink(page, session.toLowerCase())]] as const)),
])}${reasons}${spends}${sourceLinks(page, call)}`,
    { id: "verdict" },
  );
}

function render(
  { account, policies, sessionKeys, result }: Awaited<ReturnType<typeof load>>,
  page: PageContext,
): PageView {
  const targets = policies.records.flatMap(({ policy_type, allowed, target }) =>
    policy_type === "TARGET_ALLOWLIST" && allowed === true && target !== null ? [target] : [],
  );
  const keys = sessionKeys.records.filter(({ state }) => state === "ACTIVE");
  const form = preflightForm(page, {
    account: account.account,
    problem: result !== null && "problem" in result ? result.problem : null,
    targets: [...new Set(targets)],
    sessionKeys: keys.map(({ session_key }) => session_key),
  });
  const verdict = result !== null && "body" in result ? result : null;
  const path = recordPath(page, "account", account.account) ?? "";
  return {
    kicker: html`<a href="${path}">Account</a>`,
    title: `Preflight for ${shorten(account.account)}`,
    afterTitle: account.frozen ? status("FROZEN") : undefined,
    lead: "Whether the policies of the account let a planned transaction pass, every rule that it breaks, and the calls that would change that.",
    main: html`<div class="columns"><div>${card("Planned transaction", form, { id: "transaction" })}</div><div>${
      verdict === null
        ? notice(
            "info",
            `${result === null ? "Enter a transaction" : "Correct the marked field"}; the verdict appears here.`,
          )
        : verdictCard(verdict, page)
    }</div></div>
${verdict !== null && updatesCard(verdict.body, account.account, page)}`,
  };
}

export const preflightPage = definePage({
  path: "/accounts/:id/preflight",
  query: PREFLIGHT_KEYS,
  findExample: async (get) => ({
    params: { id: await findActiveAccount(get) },
    query: { target: `0x${"ab".repeat(20)}`, value: "1", data: "0x12345678" },
  }),
  load,
  render,
});
