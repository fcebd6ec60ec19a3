// Agents as a gallery, and one agent: what it says of itself, what others signal about it, and what its owner paid.
import { type Html, html } from "../../lib/html.ts";
import type { accountSchema } from "../../protocol/reads/accounts.ts";
import type { agent } from "../../protocol/reads/registries.ts";
import type { TypeOf } from "../../schema/json-schema.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import type { ApiReader } from "../api-reader.ts";
import { addressLink, block, card, number, recordLink, timeline, withNoun } from "../components.ts";
import type { PageContext, PageRequest } from "../context.ts";
import { type ListedEvent, readEvents } from "../events.ts";
import { addNames, padKeys, renderGivenName, type WithName, writtenAt } from "../fields.ts";
import { renderForeignText } from "../format.ts";
import { listCard, listPath, listQuery, withoutColumns } from "../list.ts";
import { agentList, agentState, receiptList, signalList, signalsAbout } from "../lists.ts";
import {
  columns,
  defineFilteredPage,
  defineRecordPage,
  exampleFrom,
  lifeSteps,
  readAll,
  recordCard,
  unreadNotice,
  withBlocks,
} from "../page.ts";

type Agent = RecordOf<typeof agent, "provenance">;
type ListedAgent = RecordOf<typeof agent>;
type Counts = TypeOf<typeof accountSchema>["counts"];

// The counts of as many owners are read with a page.
const GALLERY_SIZE = "24";

/** Counts of the owners, by address. */
async function readActivity(api: ApiReader, agents: readonly ListedAgent[]) {
  const size = Number(GALLERY_SIZE);
  const owners = new Set(agents.map(({ owner }) => owner).slice(0, size));
  const found = await Promise.all(
    padKeys(owners, size).map((address) =>
      api.get<TypeOf<typeof accountSchema>>("/accounts/:address", { params: { address } }),
    ),
  );
  return new Map(found.map(({ body }) => [body.account, body.counts]));
}

const counted = (value: string | null, noun: string, plural = `${noun}s`) =>
  value === null ? `more than 1,000 ${plural}` : withNoun(value, noun, plural);

function galleryItem(each: WithName<ListedAgent>, counts: Counts | undefined, page: PageContext): Html {
  const given = each.given_name ?? null;
  const label = html`Agent #${each.agent_id}`;
  const activity =
    counts !== undefined &&
    html`<p>Its owner has ${counted(counts.intents, "intent")}, ${counted(counts.receipts, "receipt")} and ${counted(counts.policies, "policy", "policies")}.</p>`;
  return html`<li><h3>${recordLink(page, "agent", each.agent_id, given === null ? label : renderGivenName(given))} ${agentState(each.revoked)}</h3>
<p class="soft">${given !== null && html`${label} · `}of ${addressLink(page, each.owner)} · block ${block(page, each.block_number)}</p>${activity}</li>`;
}

export const agentsPage = defineFilteredPage({
  title: "Agents",
  lead: "Programs that accounts have registered to act for them. Every agent belongs to one owner, whose policies and payments are on its account page.",
  filters: agentList,
  path: listPath(agentList),
  nav: "Agents",
  lists: [agentList],
  filtered: agentList,
  findExample: async (get) => {
    const { owner } = (await get("/agents/1")) as { readonly owner: string };
    return { query: { owner } };
  },
  load: async (api: ApiReader, request: PageRequest) => {
    const agents = await api.list(agentList, { query: { limit: GALLERY_SIZE, ...listQuery(request) } });
    const [records, activity] = await Promise.all([
      addNames(api, agents.records),
      readActivity(api, agents.records),
    ]);
    return { agents: { ...agents, records }, activity };
  },
  render: ({ agents, activity }, page) => {
    const item = (each: WithName<ListedAgent>) => galleryItem(each, activity.get(each.owner), page);
    return listCard("Newest first", { ...agents, list: { ...agentList, item } }, page, { isPaged: true });
  },
});

const aboutAgentList = {
  ...withoutColumns(signalList, ["About"]),
  empty: "There is no signal about this agent at this block.",
};

export const paidReceiptList = {
  ...withoutColumns(receiptList, ["Agent"]),
  empty: "Nothing paid at this block.",
};

const STEP_TITLES: Readonly<Record<string, string>> = {
  AgentRegistered: "Registered",
  AgentUpdated: "Metadata and capabilities changed",
  AgentRevoked: "Revoked",
};

/** Signals have a list of their own. */
function toStep({ type }: ListedEvent) {
  const title = STEP_TITLES[type];
  return title === undefined ? null : { title, isSetback: type === "AgentRevoked" };
}

// Most keys are shorter; the contract takes any length, and a page stays small.
const COPIED_LENGTH_MAX = 400;

/** A part of a key is of no use, so that only a whole one can be copied; the API has the others. */
function publicKey({ pubkey }: Agent): Html {
  if (pubkey === "0x") return html`<p class="soft">It has registered no public key.</p>`;
  const copied = pubkey.length <= COPIED_LENGTH_MAX && html` data-copy="${pubkey}"`;
  return html`<h3>Public key</h3><code class="data" tabindex="0"${copied}>${renderForeignText(pubkey, COPIED_LENGTH_MAX)}</code>`;
}

export const agentPage = defineRecordPage({
  kind: "agent",
  id: "agent_id",
  documents: ["capabilities_hash"],
  findExample: exampleFrom("/trust-signals?subject_type=3&limit=1", "subject_id"),
  load: (api: ApiReader, { agent_id, owner, block_number }: Agent) =>
    readAll({
      signals: api.list(aboutAgentList, { query: { ...signalsAbout("agent", agent_id), limit: "25" } }),
      receipts: api.list(paidReceiptList, { query: { agent: owner, limit: "10" } }),
      events: readEvents(api, block_number, { agent: agent_id }),
    }),
  state: ({ record }) => agentState(record.revoked),
  lead: ({ record }, page) => html`Acts for ${addressLink(page, record.owner)}.`,
  main: (data, page) => {
    const { record: agent, signals, receipts, events } = data;
    const record = recordCard(
      "Record",
      [
        ["Owner", "owner"],
        ["Metadata", "metadata_uri"],
        ["Hash of the capabilities", "capabilities_hash"],
        ...writtenAt("Registered"),
      ],
      data,
      page,
      publicKey(agent),
    );
    const life = html`${timeline(lifeSteps(events, page, toStep))}${unreadNotice(events, page)}`;
    // A signal may be older than the agent, which has no page at its block.
    const blockLink = ({ block_number: at }: { readonly block_number: string }, shown: PageContext) =>
      BigInt(at) < BigInt(agent.block_number) ? number(at) : block(shown, at);
    const note = html`<p class="note soft">A receipt names the address that paid. These are those of the owner ${addressLink(page, agent.owner)}, whichever of its agents paid.</p>`;
    return html`${columns(record, card("Life", life), true)}
${listCard("Trust signals about it", withBlocks(signals, blockLink), page, { id: "signals" })}
${listCard("Receipts of its owner", withBlocks(receipts, blockLink), page, { id: "receipts", note })}`;
  },
});
