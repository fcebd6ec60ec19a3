// The subjects of an event, by its arguments and by the rows that they name as of its block; and filters by type and subject.
import type { AbiEvent } from "viem";
import { createEventCodec } from "../lib/abi/codec.ts";
import type { Hex } from "../lib/hex.ts";
import type { IntentTerms } from "../schema/domain.ts";
import { joinSql, rawSql, type SqlText, sql } from "../schema/sql.ts";
import { TRUST_SUBJECTS } from "./domains/commerce.ts";
import { domains } from "./domains.ts";

/** The kinds of subjects of an event. */
export type EventSubject = "agent" | "intent" | "account" | "merchant" | "service" | "solver";

/** An event as filters see it; arguments as decoded or as text. */
export type FilteredEvent = {
  readonly name: string;
  readonly contract: string;
  readonly address: Hex;
  readonly args: Readonly<Record<string, unknown>>;
  /** The subjects from the rows that it names; absent if no filter needs them. */
  readonly linked?: LinkedNames;
};

/** Values from linked rows: names of subjects, and the terms of an intent, whose events do not have them. */
type LinkedSubject = EventSubject | keyof IntentTerms;

type Link = {
  /** Joined to `k`, which has the keys and the blocks. */
  readonly joins: readonly string[];
  /** Expressions that name the subject, by its id or by its address. */
  readonly names: Readonly<Partial<Record<LinkedSubject, readonly string[]>>>;
};

/** The version of a row as of the block: no rule of the protocol deletes one, so that it is the last that began. */
function rowOf(table: string, alias: string, key: string, value: string): string {
  return `left join lateral (select * from ${table} x where x.${key} = ${value} and x.valid_from <= k.block order by x.valid_from desc limit 1) ${alias} on true`;
}

// Found by address; the index has current rows only. Operators never change, and an update keeps the block of
// registration.
function solverOf(alias: string, operator: string): string {
  return `left join lateral (select * from solvers x where x.operator = ${operator} and x.valid_to is null and x.block_number <= k.block limit 1) ${alias} on true`;
}

const ID = "k.key::numeric";
const MERCHANT = ["hex_text(m.owner)", "hex_text(m.payout_address)"] as const;
const merchantOf = (id: string) => rowOf("merchants", "m", "merchant_id", id);

/** The columns that a quote and its receipt share; `t` is the row. Their columns never change. */
const SALE = {
  merchant: ["t.merchant_id::text", ...MERCHANT],
  service: ["t.service_numeric_id::text"],
  agent: ["hex_text(t.agent)"],
} as const;
const SALE_ACCOUNTS = ["hex_text(t.agent)", "hex_text(t.facilitator)", ...MERCHANT] as const;

const LINKS = {
  intent: {
    joins: [
      rowOf("intents", "i", "intent_id", ID),
      // One bid: an intent may have any number of them.
      "left join lateral (select x.solver from bids x where x.intent_id = i.intent_id and x.chain_bid_id = i.selected_bid_id and x.valid_from <= k.block limit 1) b on true",
      solverOf("s", "b.solver"),
    ],
    names: {
      agent: ["hex_text(i.owner)"],
      account: ["hex_text(i.owner)", "hex_text(b.solver)"],
      solver: ["hex_text(b.solver)", "s.solver_id::text"],
      input_token: ["hex_text(i.input_token)"],
      output_token: ["hex_text(i.output_token)"],
      amount_in_max: ["i.amount_in_max::text"],
      amount_out_min: ["i.amount_out_min::text"],
    },
  },
  agent: {
    joins: [rowOf("agents", "a", "agent_id", ID)],
    names: { agent: ["hex_text(a.owner)"], account: ["hex_text(a.owner)"] },
  },
  solver: {
    joins: [rowOf("solvers", "s", "solver_id", ID)],
    names: { solver: ["hex_text(s.operator)"], account: ["hex_text(s.operator)"] },
  },
  operator: {
    joins: [solverOf("s", "stored_hex(x.operator, k.key)")],
    names: { solver: ["s.solver_id::text"] },
  },
  attestor: {
    joins: [rowOf("attestors", "t", "attestor_id", ID)],
    names: { account: ["hex_text(t.operator)"] },
  },
  attestation: {
    joins: [rowOf("attestations", "t", "attestation_id", ID)],
    names: { account: ["hex_text(t.attester)"] },
  },
  facilitator: {
    joins: [rowOf("facilitators", "t", "facilitator_id", ID)],
    names: { account: ["hex_text(t.facilitator)"] },
  },
  merchant: { joins: [merchantOf(ID)], names: { merchant: MERCHANT, account: MERCHANT } },
  service: {
    joins: [rowOf("services", "t", "service_numeric_id", ID), merchantOf("t.merchant_id")],
    names: { merchant: ["t.merchant_id::text", ...MERCHANT], account: MERCHANT },
  },
  quote: {
    joins: [
      rowOf("quotes", "t", "quote_hash", "stored_hex(x.quote_hash, k.key)"),
      merchantOf("t.merchant_id"),
    ],
    names: { ...SALE, account: SALE_ACCOUNTS },
  },
  receipt: {
    joins: [rowOf("receipts", "t", "receipt_id", ID), merchantOf("t.merchant_id")],
    names: { ...SALE, account: SALE_ACCOUNTS },
  },
  dispute: {
    joins: [
      rowOf("disputes", "d", "dispute_id", ID),
      rowOf("receipts", "t", "receipt_id", "d.receipt_id"),
      merchantOf("t.merchant_id"),
    ],
    names: { ...SALE, account: ["hex_text(d.opener)", ...SALE_ACCOUNTS] },
  },
} as const satisfies Record<string, Link>;

type LinkName = keyof typeof LINKS;

const LINK_BY_ARGUMENT: Readonly<Record<string, LinkName>> = {
  intentId: "intent",
  agentId: "agent",
  solverId: "solver",
  solver: "operator",
  attestorId: "attestor",
  // An argument of attestations; no other event has one of this name.
  id: "attestation",
  merchantId: "merchant",
  serviceNumericId: "service",
  quoteHash: "quote",
  receiptId: "receipt",
  disputeId: "dispute",
};

const gives = (link: LinkName, subject: LinkedSubject) => subject in LINKS[link].names;

/** Whether rows can say that an event with these arguments is about such a thing. */
function canLinkTo(args: ReadonlySet<string>, subject: EventSubject): boolean {
  if (args.has("subjectType") && TRUST_SUBJECTS.some((kind) => gives(kind, subject))) return true;
  return Object.keys(LINK_BY_ARGUMENT).some((name) => {
    const link = LINK_BY_ARGUMENT[name];
    return link !== undefined && args.has(name) && gives(link, subject);
  });
}

/** The subjects of an event by the rows that it names: ids as decimal text, addresses in lower case. */
type LinkedNames = Readonly<Partial<Record<LinkedSubject, ReadonlySet<string>>>>;

type EventAtBlock = FilteredEvent & { readonly blockNumber: bigint };
type Key = { readonly key: string; readonly block: string; readonly events: EventAtBlock[] };

/** The rows that events name, gathered so that one statement reads them all. */
export class EventLinks {
  /** Grouped by link, then by key and block: many events name the same. */
  readonly #keys = new Map<LinkName, Map<string, Key>>();

  /** Notes what has to be read to know whether the event is about things of these kinds; false if nothing has. */
  add(event: EventAtBlock, subjects: readonly LinkedSubject[]): boolean {
    let isNoted = false;
    for (const [link, key] of linksOf(event)) {
      if (!subjects.some((subject) => gives(link, subject))) continue;
      const keys = this.#keys.get(link) ?? new Map<string, Key>();
      this.#keys.set(link, keys);
      const block = event.blockNumber.toString();
      const noted = keys.get(`${key} ${block}`) ?? { key, block, events: [] };
      keys.set(`${key} ${block}`, noted);
      noted.events.push(event);
      isNoted = true;
    }
    return isNoted;
  }

  /**
   * One select of (link, position, subject, name) for every link, in one order. Links without keys cost next to
   * nothing, and the server keeps each text that it ever prepared: selects that depend on the events would fill its
   * memory.
   */
  selects(): readonly SqlText[] {
    const links = Object.keys(LINKS) as LinkName[];
    return links.map((link) => selectLink(link, [...(this.#keys.get(link)?.values() ?? [])]));
  }

  /** The rows of those selects, by event. */
  decode(rows: readonly Readonly<Record<string, unknown>>[]): ReadonlyMap<FilteredEvent, LinkedNames> {
    const lists = new Map([...this.#keys].map(([link, keys]) => [link as string, [...keys.values()]]));
    const found = new Map<FilteredEvent, Partial<Record<LinkedSubject, Set<string>>>>();
    for (const { link, position, subject, name } of rows) {
      for (const event of lists.get(String(link))?.[Number(position) - 1]?.events ?? []) {
        const names = found.get(event) ?? {};
        found.set(event, names);
        const known = names[subject as LinkedSubject] ?? new Set<string>();
        names[subject as LinkedSubject] = known.add(String(name));
      }
    }
    return found;
  }
}

function linksOf({ args }: FilteredEvent): readonly (readonly [LinkName, string])[] {
  const links: (readonly [LinkName, string])[] = [];
  for (const argument in args) {
    const link = LINK_BY_ARGUMENT[argument];
    if (link !== undefined) links.push([link, String(args[argument])]);
  }
  // A number beyond the kinds that the protocol has is about nothing that is known.
  const kind = "subjectType" in args ? TRUST_SUBJECTS[Number(args.subjectType)] : undefined;
  if (kind !== undefined) links.push([kind, String(args.subjectId)]);
  return links;
}

function selectLink(link: LinkName, keys: readonly Key[]): SqlText {
  const { joins, names }: Link = LINKS[link];
  const values = Object.entries(names).flatMap(([subject, expressions]) =>
    expressions.map((expression) => `('${subject}', ${expression})`),
  );
  // As texts, of which the planner expects as many parts whatever they are. The length of an array it sees, and would
  // plan each execution for it, which takes several times as long as the execution.
  const keyList = keys.map(({ key }) => key).join(",");
  const blockList = keys.map(({ block }) => block).join(",");
  return sql`select ${rawSql(`'${link}'`)} as link, k.position, v.subject, v.name
    from (select p.key, p.block::bigint as block, p.position
      from rows from (string_to_table(${keyList}, ','), string_to_table(${blockList}, ',')) with ordinality p(key, block, position)) k
    ${rawSql(joins.join("\n    "))}
    cross join lateral (values ${rawSql(values.join(", "))}) v(subject, name) where v.name is not null`;
}

/** The selects as one statement, with the hash of a block from the same snapshot. */
export function selectLinks(links: EventLinks, block: number): SqlText {
  const hash = sql`select null as link, null::bigint as position, null as subject, encode(b.hash, 'hex') as name from blocks b where b.number = ${String(block)}::bigint`;
  return joinSql([hash, ...links.selects()], " union all ");
}

export type EventFilter = {
  /** Names of events; null for every type. */
  readonly types: readonly string[] | null;
  /** All of them must match. Ids are decimal text, addresses lower-case. */
  readonly subjects: Readonly<Partial<Record<EventSubject, string>>>;
  /** Accounts of which one at least must take part, as the subject `account` means it; absent for no such condition. */
  readonly participants?: readonly Hex[];
};

type SubjectRule = {
  /** The argument that names the subject by its id. */
  readonly id: string | null;
  /** All arguments that name it, by id or by address. */
  readonly args: readonly string[];
  /** Its name as the subject of a trust signal. */
  readonly trustSubject?: (typeof TRUST_SUBJECTS)[number];
  /** Whether an account that emits the event itself counts. */
  readonly emitter?: boolean;
};

/** The event's own arguments. */
export const EVENT_SUBJECTS: Readonly<Record<EventSubject, SubjectRule>> = {
  agent: { id: "agentId", args: ["agentId", "agent"], trustSubject: "agent" },
  intent: { id: "intentId", args: ["intentId"] },
  // Everyone who takes part. Tokens and targets of calls do not.
  account: {
    id: null,
    args: [
      ...["account", "owner", "operator", "agent", "solver", "attester", "payer", "opener", "reporter"],
      ...["merchant", "payoutAddress", "facilitator", "guardian", "sessionKey"],
    ],
    emitter: true,
  },
  merchant: { id: "merchantId", args: ["merchantId", "merchant"], trustSubject: "merchant" },
  service: { id: "serviceNumericId", args: ["serviceNumericId"], trustSubject: "service" },
  solver: { id: "solverId", args: ["solverId", "solver"] },
};

type EventType = {
  readonly name: string;
  readonly topic0: Hex;
  readonly args: ReadonlySet<string>;
  readonly isFromAnyEmitter: boolean;
};

const eventTypes: readonly EventType[] = domains.flatMap(({ abi, anyEmitter, events }) =>
  abi
    .filter((item): item is AbiEvent => item.type === "event" && item.name in events)
    .map((item) => ({
      name: item.name,
      topic0: createEventCodec(item).topic0,
      args: new Set(item.inputs.map(({ name = "" }) => name)),
      isFromAnyEmitter: anyEmitter,
    })),
);

/** The names of all events of the protocol, sorted. */
export const EVENT_TYPES: readonly string[] = [...new Set(eventTypes.map(({ name }) => name))].sort();

/** The first topics of the events that can match; null if every event can. */
export function topicsOf(filter: EventFilter): readonly Hex[] | null {
  if (isOpen(filter)) return null;
  const subjects = subjectsOf(filter);
  return eventTypes
    .filter(({ name }) => filter.types === null || filter.types.includes(name))
    .filter((type) => subjects.every((subject) => canBeAbout(type, subject)))
    .map(({ topic0 }) => topic0);
}

/** Whether it lets every event pass. */
export function isOpen(filter: EventFilter): boolean {
  return filter.types === null && subjectsOf(filter).length === 0;
}

/** The subjects that an event must have to pass. */
export function subjectsOf({ subjects, participants }: EventFilter): readonly EventSubject[] {
  const named = Object.keys(subjects) as EventSubject[];
  return participants === undefined || "account" in subjects ? named : [...named, "account"];
}

function canBeAbout({ args, isFromAnyEmitter }: EventType, subject: EventSubject): boolean {
  const rule = EVENT_SUBJECTS[subject];
  return (
    canLinkTo(args, subject) ||
    rule.args.some((name) => args.has(name)) ||
    (rule.emitter === true && isFromAnyEmitter) ||
    (rule.trustSubject !== undefined && args.has("subjectType"))
  );
}

export function matchesFilter(event: FilteredEvent, filter: EventFilter): boolean {
  const { types, subjects, participants } = filter;
  if (types !== null && !types.includes(event.name)) return false;
  for (const subject in subjects) {
    const wanted = subjects[subject as EventSubject];
    if (wanted !== undefined && !isAbout(event, subject as EventSubject, wanted)) return false;
  }
  return participants?.some((account) => isAbout(event, "account", account)) ?? true;
}

/** The subjects of the filter about which only rows can decide; empty if the event itself says enough. */
export function undecidedSubjects(event: FilteredEvent, filter: EventFilter): readonly EventSubject[] {
  const { subjects, participants } = filter;
  return subjectsOf(filter).filter((subject) => {
    const wanted = subjects[subject];
    const isDecided = wanted === undefined || isDecidedByArguments(event, subject, wanted);
    if (subject !== "account" || participants === undefined) return !isDecided;
    return !isDecided || !participants.some((account) => isNamed(event, EVENT_SUBJECTS.account, account));
  });
}

/** Whether the event names the subject, or names another one. */
function isDecidedByArguments(event: FilteredEvent, subject: EventSubject, wanted: string): boolean {
  const rule = EVENT_SUBJECTS[subject];
  const namesAnother = rule.id !== null && rule.id in event.args && !wanted.startsWith("0x");
  return namesAnother || isNamed(event, rule, wanted);
}

function isAbout(event: FilteredEvent, subject: EventSubject, wanted: string): boolean {
  return isNamed(event, EVENT_SUBJECTS[subject], wanted) || event.linked?.[subject]?.has(wanted) === true;
}

function isNamed(event: FilteredEvent, rule: SubjectRule, wanted: string): boolean {
  const { args } = event;
  for (const name of rule.args) if (name in args && String(args[name]) === wanted) return true;
  // The contracts of the deployment emit for everyone; only an account emits for itself.
  if (rule.emitter === true && event.contract === "PolicyAccount" && event.address === wanted) return true;
  if (rule.trustSubject === undefined || !("subjectType" in args)) return false;
  return TRUST_SUBJECTS[Number(args.subjectType)] === rule.trustSubject && String(args.subjectId) === wanted;
}
