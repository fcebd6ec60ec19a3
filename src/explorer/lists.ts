// The lists that have a page of their own: the columns of each, and what its page says.
import { type Html, html } from "../lib/html.ts";
import type { dispute, facilitator, merchant, receipt, service, signal } from "../protocol/reads/commerce.ts";
import type { intent } from "../protocol/reads/intents.ts";
import type { agent, attestation, attestor, solver } from "../protocol/reads/registries.ts";
import type { RecordOf } from "../schema/reads/record.ts";
import {
  badge,
  number,
  type PageKind,
  price,
  recordLink,
  seconds,
  status,
  time,
  unknown,
} from "./components.ts";
import type { PageContext } from "./context.ts";
import { addNames, findName, namedLink, readMetadataName, renderGivenName, type WithName } from "./fields.ts";
import {
  foreignUri,
  formatPercent,
  formatSeconds,
  kindName,
  renderForeignText,
  SIGNAL_KINDS,
  SIGNAL_SUBJECTS,
} from "./format.ts";
import type { List } from "./list.ts";
import { defineListPage } from "./page.ts";

type ListedIntent = RecordOf<typeof intent>;

// A longer list is harder to use than a text field.
const PAIR_TOKENS_MAX = 8;

/** Every pair of two tokens of the deployment, as the filter takes it. */
function listPairs({ site }: PageContext): readonly (readonly [string, string])[] {
  const tokens = Object.entries(site.chain.tokens);
  if (tokens.length > PAIR_TOKENS_MAX) return [];
  return tokens.flatMap(([input, { symbol: from }]) =>
    tokens
      .filter(([output]) => output !== input)
      .map(([output, { symbol: to }]) => [`${input}-${output}`, `${from} → ${to}`] as const),
  );
}

/** The price up to which the owner trades. */
export const limitPrice = (
  each: Pick<ListedIntent, "amount_in_max" | "amount_out_min" | "input_token" | "output_token">,
  page: PageContext,
): Html =>
  price(
    page,
    { units: each.amount_out_min, token: each.output_token },
    { units: each.amount_in_max, token: each.input_token },
    true,
  );

/** A fill completes an intent, although it may take less than the most that the owner gives. */
function fillShare({ fill, amount_in_max }: ListedIntent): Html {
  if (fill === null) return html`<span class="soft">no</span>`;
  const share = formatPercent(BigInt(fill.amount_in), BigInt(amount_in_max));
  return html`complete${share !== null && html`<span class="under" title="Of the most that the owner gives"><span class="number">${share}</span> taken</span>`}`;
}

/** The deadline counts as long as the intent is open, and tells when it expired; later only its page has room for it. */
export function deadlineOf(
  { status: state, deadline }: Pick<ListedIntent, "status" | "deadline">,
  place: "list" | "page" = "list",
): Html {
  if (state === "OPEN" || state === "EXPIRED") return time(deadline);
  const text = formatSeconds(deadline)?.text ?? deadline;
  return html`<span class="soft" title="No longer counts: ${text}">${place === "list" ? "–" : text}</span>`;
}

export const intentList: List<ListedIntent> = {
  route: "/intents",
  columns: [
    ["Intent", "intent_id"],
    ["State", "status"],
    ["Gives at most", "amount_in_max"],
    ["Wants at least", "amount_out_min"],
    ["Price", limitPrice, "number"],
    ["Fill", fillShare, "number"],
    ["Owner", "owner"],
    ["Deadline", (each) => deadlineOf(each)],
    ["Block", "block_number"],
  ],
  choices: { pair: listPairs },
  hints: { pair: "0x…-0x… tokens" },
  empty: "There is no such intent at this block.",
};

export const intentsPage = defineListPage(intentList, {
  title: "Intents",
  lead: "What owners want done. Solvers compete for each with bids; the owner selects one, and its solver fills the intent.",
  order: "Newest first",
  example: { status: "filled" },
});

/** A share of one, as the API has it, in percent; unknown if there was nothing to win. */
export function percent(share: string | null): Html {
  if (share === null) return unknown();
  return html`<span class="number" title="${share}">${(Number(share) * 100).toFixed(1)} %</span>`;
}

const solverList: List<RecordOf<typeof solver>> = {
  route: "/solvers",
  columns: [
    ["Solver", "solver_id"],
    ["State", "active"],
    ["Operator", "operator"],
    ["Bond", "bond"],
    ["Bids won", (each) => html`${number(each.selected_bids)} of ${number(each.bids)}`, "number"],
    ["Win rate", (each) => percent(each.win_rate), "number"],
    ["Fills", "fills"],
    ["Latency", (each) => seconds(each.avg_latency_seconds), "number"],
    ["Block", "block_number"],
  ],
  empty: "There is no such solver at this block.",
};

export const solversPage = defineListPage(solverList, {
  title: "Solvers",
  lead: "Who competes for intents: what they put up as a bond, how often owners select them, and how fast they fill.",
  order: "By id",
  note: html`<p class="soft note">Bids, wins and fills are those of the operator's address, also from before it registered; bids off the chain do not count. Latency is the mean time from the submission of an intent to its fill.</p>`,
  example: { active: "true" },
});

export const agentState = (isRevoked: boolean) =>
  isRevoked ? status("REVOKED") : badge("Registered", "good");

export const agentList: List<RecordOf<typeof agent>> = {
  route: "/directory/agents",
  path: "/agents",
  columns: [
    ["Agent", "agent_id"],
    ["Owner", "owner"],
    ["State", (each) => agentState(each.revoked)],
    [
      "Metadata",
      ({ metadata_uri: uri }) => {
        const given = readMetadataName(uri);
        return given === null ? foreignUri(uri) : renderForeignText(given);
      },
      "sentence",
    ],
    ["Hash of the capabilities", "capabilities_hash"],
    ["Block", "block_number"],
  ],
  empty: "There is no such agent at this block.",
};

export const attestationState = (isRevoked: boolean) => status(isRevoked ? "REVOKED" : "ACTIVE");

export const attestationList: List<RecordOf<typeof attestation>> = {
  route: "/attestations",
  columns: [
    ["Attestation", "attestation_id"],
    ["State", (each) => attestationState(each.revoked)],
    ["Schema", "schema_hash"],
    ["About", "subject"],
    ["Attester", "attester"],
    ["Made", "timestamp"],
    ["Block", "block_number"],
  ],
  empty: "There is no such attestation at this block.",
};

export const attestationsPage = defineListPage(attestationList, {
  title: "Attestations",
  lead: "Statements about subjects. A schema says what a statement means; the chain has the hash of its data, and whether its attester has revoked it.",
  order: "By id",
  example: {},
});

export const attestorList: List<RecordOf<typeof attestor>> = {
  route: "/attestors",
  columns: [
    ["Attestor", "attestor_id"],
    ["State", "active"],
    ["Operator", "operator"],
    ["Attestations", "attestations"],
    ["Revoked", "revoked_attestations"],
    ["Block", "block_number"],
  ],
  empty: "There is no such attestor at this block.",
};

export const attestorsPage = defineListPage(attestorList, {
  title: "Attestors",
  lead: "Who has registered to make attestations. Attestations of an operator from before its registration count too.",
  order: "By id",
  example: {},
});

// In a column; the page of the record has all of it.
const TEXT_LENGTH_MAX = 48;

const shortText = (value: string) => (value === "" ? unknown() : renderForeignText(value, TEXT_LENGTH_MAX));
type Described = WithName<{ readonly metadata_uri: string }>;

const givenName = ({ given_name, ...record }: Described): Html | null => {
  const given = given_name ?? findName(record, new Map());
  return given && renderGivenName(given, TEXT_LENGTH_MAX);
};

/** A record by its number and its name. */
const withName = (kind: PageKind, id: string, record: Described, page: PageContext) =>
  html`${recordLink(page, kind, id)} ${givenName(record)}`;

/** Metadata by its URI, unless that is all of the metadata. */
const shortUri = ({ metadata_uri: uri }: Described) =>
  uri.startsWith("data:") ? html`<span class="soft">on the chain</span>` : shortText(uri);

const merchantList: List<WithName<RecordOf<typeof merchant>>> = {
  route: "/merchants",
  columns: [
    ["Merchant", (each, page) => withName("merchant", each.merchant_id, each, page)],
    ["State", "active"],
    ["Owner", "owner"],
    ["Paid out to", "payout_address"],
    ["Metadata", shortUri],
    ["Block", "block_number"],
  ],
  empty: "There is no such merchant at this block.",
};

export const merchantsPage = defineListPage(merchantList, {
  title: "Merchants",
  lead: "Who sells. Each merchant is an entry of CommerceRegistry with an owner, an address to pay out to, and what it says about itself.",
  order: "By number",
  complete: addNames,
  example: { active: "true" },
});

export const serviceList: List<WithName<RecordOf<typeof service>>> = {
  route: "/services",
  columns: [
    [
      "Service",
      (each, page) =>
        html`${recordLink(page, "service", each.service_numeric_id)} ${shortText(each.service_id)}`,
    ],
    ["State", "active"],
    ["Merchant", "merchant_id"],
    ["Capability", "capability_hash"],
    ["Metadata", (each) => givenName(each) ?? shortUri(each)],
    ["Block", "block_number"],
  ],
  empty: "There is no such service at this block.",
};

export const servicesPage = defineListPage(serviceList, {
  title: "Services",
  lead: "What merchants offer. An agent gets a quote for a service, pays it, and has a receipt.",
  order: "By number",
  complete: addNames,
  example: { active: "true" },
});

export const facilitatorList: List<WithName<RecordOf<typeof facilitator>>> = {
  route: "/facilitators",
  columns: [
    ["Facilitator", (each, page) => withName("facilitator", each.facilitator_id, each, page)],
    ["State", "active"],
    ["Address", "facilitator"],
    ["Metadata", shortUri],
    ["Block", "block_number"],
  ],
  empty: "There is no such facilitator at this block.",
};

export const facilitatorsPage = defineListPage(facilitatorList, {
  title: "Facilitators",
  lead: "Who settles payments for merchants. Receipts of the rails facilitator and x402 are recorded by one.",
  order: "By number",
  complete: addNames,
  example: { active: "true" },
});

export const receiptList: List<RecordOf<typeof receipt>> = {
  route: "/receipts",
  columns: [
    ["Receipt", "receipt_id"],
    ["Amount", "amount"],
    ["Agent", "agent"],
    ["Merchant", (each, page) => namedLink(page, "merchant", each.merchant_id)],
    ["Service", (each, page) => namedLink(page, "service", each.service_numeric_id)],
    ["Paid by", "payment_rail"],
    ["Delivery", (each) => (each.fulfillment_hash === null ? badge("None yet") : badge("Fulfilled", "good"))],
    ["Block", "block_number"],
  ],
  empty: "There is no such receipt at this block.",
};

export const receiptsPage = defineListPage(receiptList, {
  title: "Receipts",
  lead: "Payments that are settled: who paid whom, for which service, how, and whether it was delivered.",
  order: "Newest first",
  example: { merchant_id: "1" },
});

export const disputeList: List<RecordOf<typeof dispute>> = {
  route: "/disputes",
  columns: [
    ["Dispute", "dispute_id"],
    ["State", "status"],
    ["Receipt", "receipt_id"],
    ["Opened by", "opener"],
    ["Reason", "reason_hash"],
    ["Block", "block_number"],
  ],
  empty: "There is no such dispute at this block.",
};

export const disputesPage = defineListPage(disputeList, {
  title: "Disputes",
  lead: "Receipts that an agent or a merchant contests, and how each ended.",
  order: "Newest first",
  example: { status: "resolved" },
});

type Signal = RecordOf<typeof signal>;

/** A signal about risk warns; the others speak for their subject, or only about it. */
function kindBadge({ kind }: Signal): Html {
  const tone =
    SIGNAL_KINDS[kind] === "risk" ? "warn" : SIGNAL_KINDS[kind] === "verification" ? "good" : "plain";
  return badge(kindName(kind), tone);
}

/** The subject of a signal, as a link if it has a page. */
function subjectLink({ subject_type, subject_id }: Signal, page: PageContext): Html {
  const kind = SIGNAL_SUBJECTS[subject_type];
  if (kind === undefined) return html`Subject type ${subject_type} #${subject_id}`;
  return html`<span class="soft">${kind}</span> ${recordLink(page, kind, subject_id)}`;
}

/** The filter for signals about a record, as the contract numbers what a signal is about. */
export const signalsAbout = (kind: (typeof SIGNAL_SUBJECTS)[number], subject_id: string) => ({
  subject_type: String(SIGNAL_SUBJECTS.indexOf(kind)),
  subject_id,
});

export const signalList: List<Signal> = {
  route: "/trust-signals",
  words: { subject_type: SIGNAL_SUBJECTS, kind: SIGNAL_KINDS },
  columns: [
    ["Signal", (each) => html`<span class="record">#${each.signal_id}</span>`],
    ["Kind", kindBadge],
    ["About", subjectLink],
    ["Reporter", "reporter"],
    ["Hash", "signal_hash"],
    ["Block", "block_number"],
  ],
  empty: "There is no such signal at this block.",
};

export const trustSignalsPage = defineListPage(signalList, {
  title: "Trust signals",
  lead: "What reporters say about merchants, services, facilitators and agents. A signal is the word of its reporter: look who it is.",
  order: "Newest first",
  example: { subject_type: "0" },
});

/** As GET /attestations/schemas has it. */
export type AttestationSchema = {
  readonly schema_hash: string;
  readonly name: string;
  readonly description: string | null;
  readonly json_schema: object;
  readonly recommended_subject: string | null;
  readonly created_at: string;
  readonly updated_at: string;
};
