// One agent: what it says of itself, what others signal about it, and what its owner paid.
import { type Html, html } from "../../lib/html.ts";
import type { agent } from "../../protocol/reads/registries.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import type { ApiReader } from "../api-reader.ts";
import { addressLink, block, card, number, timeline } from "../components.ts";
import type { PageContext } from "../context.ts";
import { type ListedEvent, readEvents } from "../events.ts";
import { writtenAt } from "../fields.ts";
import { renderForeignText } from "../foreign-text.ts";
import { listCard, withoutColumns } from "../list.ts";
import { agentState, receiptList, signalList, signalsAbout } from "../lists.ts";
import { exampleFrom } from "../page.ts";
import {
  columns,
  defineRecordPage,
  lifeSteps,
  readAll,
  recordCard,
  unreadNotice,
  withBlocks,
} from "../record-page.ts";

type Agent = RecordOf<typeof agent, "provenance">;

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
  include: "provenance",
  id: "agent_id",
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
    const life = html`${timeline(lifeSteps(events, page, toStep))}${unreadNotice(events)}`;
    // A signal may be older than the agent, which has no page at its block.
    const blockLink = ({ block_number: at }: { readonly block_number: string }, shown: PageContext) =>
      BigInt(at) < BigInt(agent.block_number) ? number(at) : block(shown, at);
    const note = html`<p class="note soft">A receipt names the address that paid. These are those of the owner ${addressLink(page, agent.owner)}, whichever of its agents paid.</p>`;
    return html`${columns(record, card("Life", life), true)}
${listCard("Trust signals about it", withBlocks(signals, blockLink), page, { id: "signals" })}
${listCard("Receipts of its owner", withBlocks(receipts, blockLink), page, { id: "receipts", note })}`;
  },
});
