// Filters of events: by type, and by what an event is about, as its arguments and the rows that they name say.
import type { AbiEvent } from "viem";
import { createEventCodec } from "../lib/abi/codec.ts";
import type { Hex } from "../lib/hex.ts";
import { TRUST_SUBJECTS } from "./domains/trust-signals.ts";
import { domains } from "./domains.ts";
import { canLinkTo, type EventSubject, type FilteredEvent } from "./event-links.ts";

export type { EventSubject, FilteredEvent } from "./event-links.ts";

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
