// One agent: what it says of itself, what others signal about it, and what its owner paid.

import { type Html, html } from "../../lib/html.ts";
import type { agent } from "../../protocol/reads/registries.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import type { ApiRecord } from "../api-call.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import {
  addressLink,
  block,
  card,
  type Fact,
  facts,
  hash,
  number,
  type TimelineStep,
  time,
  timeline,
  transaction,
} from "../components.ts";
import { type PageContext, type PageRequest, requireParam } from "../context.ts";
import { type EventsData, eventsUpTo, type ListedEvent, readEvents } from "../events.ts";
import { foreignUri, renderForeignText } from "../foreign-text.ts";
import { type List, type ListData, listCard } from "../list.ts";
import { definePage, type PageView } from "../page.ts";
import { sourceLinks } from "../source.ts";
import { agentState } from "./agents.ts";
import { receiptList, signalList, withoutColumns } from "./commerce-lists.ts";
import { changesWithin, unreadNotice } from "./commerce-parts.ts";

type Agent = RecordOf<typeof agent, "provenance">;

type AgentData = {
  readonly agent: ApiResult<Agent>;
  readonly signals: ListData;
  readonly receipts: ListData;
  readonly events: EventsData;
};

const aboutAgentList: List = {
  ...withoutColumns(signalList, ["About"]),
  empty: "There is no signal about this agent at this block.",
};

export const paidReceiptList: List = {
  ...withoutColumns(receiptList, ["Agent"]),
  empty: "Nothing paid at this block.",
};

/** A signal may be older than the agent, which has no page at its block. */
function withLinks({ list, ...data }: ListData, agent: Agent): ListData {
  const columns = list.columns.map((column) =>
    column.label === "Block"
      ? {
          ...column,
          cell: ({ block_number }: ApiRecord, page: PageContext) =>
            BigInt(String(block_number)) < BigInt(agent.block_number)
              ? number(block_number)
              : block(page, block_number),
        }
      : column,
  );
  return { ...data, list: { ...list, columns } };
}

const ROWS = "10";
// As the contract numbers what a signal is about.
const AGENT_SUBJECT = "3";

async function load(api: ApiReader, request: PageRequest): Promise<AgentData> {
  const agentId = requireParam(request, "id");
  const agent = await api.get<Agent>("/agents/:agentId", {
    params: { agentId },
    query: { include: "provenance" },
  });
  const { owner, agent_id, block_number } = agent.body;
  const [signals, receipts, events] = await Promise.all([
    api.list(aboutAgentList, { query: { subject_type: AGENT_SUBJECT, subject_id: agent_id, limit: "25" } }),
    api.list(paidReceiptList, { query: { agent: owner, limit: ROWS } }),
    readEvents(api, block_number, { agent: agent_id }),
  ]);
  return { agent, signals, receipts, events };
}

const STEP_TITLES: Readonly<Record<string, string>> = {
  AgentRegistered: "Registered",
  AgentUpdated: "Metadata and capabilities changed",
  AgentRevoked: "Revoked",
};

/** Signals have a list of their own. */
function lifeOf(events: readonly ListedEvent[], page: PageContext): readonly TimelineStep[] {
  return events.flatMap(({ type, block_timestamp, block_number, tx_hash }) => {
    const title = STEP_TITLES[type];
    if (title === undefined) return [];
    return [
      {
        title,
        at: html`${time(block_timestamp)} · block ${block(page, block_number)}`,
        detail: transaction(page, tx_hash),
        state: type === "AgentRevoked" ? "failed" : "done",
      },
    ];
  });
}

function recordFacts(agent: Agent, page: PageContext): readonly Fact[] {
  return [
    ["Owner", addressLink(page, agent.owner)],
    ["Metadata", agent.metadata_uri === "" ? null : foreignUri(agent.metadata_uri)],
    ["Hash of the capabilities", hash(page, agent.capabilities_hash)],
    ["Registered", html`${time(agent.block_timestamp)} · block ${block(page, agent.block_number)}`],
    ["Transaction", transaction(page, agent.tx_hash)],
  ];
}

// Most keys are shorter; the contract takes any length, and a page stays small.
const COPIED_LENGTH_MAX = 400;

/** A part of a key is of no use, so that only a whole one can be copied; the API has the others. */
function publicKey({ pubkey }: Agent): Html {
  if (pubkey === "0x") return html`<p class="soft">It has registered no public key.</p>`;
  const copied = pubkey.length <= COPIED_LENGTH_MAX && html` data-copy="${pubkey}"`;
  return html`<h3>Public key</h3><code class="data" tabindex="0"${copied}>${renderForeignText(pubkey, COPIED_LENGTH_MAX)}</code>`;
}

function render({ agent: found, signals, receipts, events: data }: AgentData, page: PageContext): PageView {
  const { body: agent } = found;
  const record = html`${facts(recordFacts(agent, page))}${publicKey(agent)}${sourceLinks(page, found.call)}`;
  const life = html`${timeline(lifeOf(eventsUpTo(data.events, page), page))}${unreadNotice(data)}`;
  const paidNote = html`<p class="note soft">A receipt names the address that paid. These are those of the owner ${addressLink(page, agent.owner)}, whichever of its agents paid.</p>`;
  return {
    kicker: "Agent",
    title: `Agent #${agent.agent_id}`,
    beside: agentState(agent.revoked),
    lead: html`Acts for ${addressLink(page, agent.owner)}.`,
    main: html`<div class="columns wide-first"><div>${card("Record", record)}</div><div>${card("Life", life)}</div></div>
${listCard("Trust signals about it", withLinks(signals, agent), page, { id: "signals" })}
${listCard("Receipts of its owner", withLinks(receipts, agent), page, { id: "receipts", note: paidNote })}`,
    ...changesWithin(data, page),
  };
}

export const agentPage = definePage({
  path: "/agents/:id",
  findExample: async (get) => {
    const { trust_signals } = (await get("/trust-signals?subject_type=3&limit=1")) as {
      readonly trust_signals: readonly { readonly subject_id: string }[];
    };
    return { params: { id: trust_signals[0]?.subject_id ?? "1" } };
  },
  load,
  render,
});
