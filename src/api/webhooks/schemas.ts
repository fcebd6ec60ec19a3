// JSON Schemas of webhooks in requests and responses, and the parser of their filters.
import { EVENT_TYPES, type EventFilter } from "../../protocol/event-filter.ts";
import {
  closedObject,
  type JsonSchema,
  listOf,
  nullable,
  schemaOf,
  titledRecord,
  wordOf,
} from "../../schema/json-schema.ts";
import { addressParameter } from "../../schema/parameter.ts";
import { FINALITIES } from "../../store/index/event-logs.ts";
import { SUBJECT_PARAMETERS } from "../events/endpoint.ts";

const ACTIONS = ["pause", "resume", "replay", "rotate", "test", "delete"] as const;

const text: JsonSchema = { type: "string" };
const time: JsonSchema = { type: "string", format: "date-time" };

export const WEBHOOK_FILTER = schemaOf<Readonly<Record<string, unknown>>>({
  type: "object",
  description: "Filters as in GET /events: only events that pass all of them.",
  properties: {
    types: {
      type: "array",
      items: { type: "string", enum: EVENT_TYPES },
      minItems: 1,
      maxItems: EVENT_TYPES.length,
    },
    ...Object.fromEntries(
      SUBJECT_PARAMETERS.map(({ name, kind, description }) => [name, { ...kind.json, description }]),
    ),
  },
  additionalProperties: false,
});

/** The keys are those of the schema. */
export function parseWebhookFilter(given: Readonly<Record<string, unknown>>): EventFilter {
  const subjects = SUBJECT_PARAMETERS.flatMap(({ name, kind }) =>
    given[name] === undefined ? [] : [[name, kind.parse(String(given[name]), `filter.${name}`)]],
  );
  const types = (given.types ?? null) as readonly string[] | null;
  return { types, subjects: Object.fromEntries(subjects) };
}

// Each is asked for its signer before the owner has a response.
const ACCOUNTS_MAX = 10;

const FROM = schemaOf<string>({
  type: "string",
  maxLength: 512,
  description: "A cursor, a block number, genesis, or head, which is the default.",
});

export const REGISTRATION = {
  type: "object",
  properties: {
    owner: {
      ...addressParameter.json,
      description: "The account whose events are delivered; signs the registration.",
    },
    accounts: {
      type: "array",
      items: addressParameter.json,
      maxItems: ACCOUNTS_MAX,
      description:
        "Policy accounts of the owner, whose events are delivered as well: their signer() is the owner.",
    },
    url: {
      type: "string",
      maxLength: 2_048,
      description: "The URL to which messages are sent by POST; https:// only.",
    },
    filter: WEBHOOK_FILTER,
    finality: {
      type: "string",
      enum: FINALITIES,
      description: "The finality as in GET /events; default instant.",
    },
    from: FROM,
  },
  required: ["owner", "url"],
  additionalProperties: false,
} as const satisfies JsonSchema;

export const LISTING = closedObject({
  owner: { ...addressParameter.json, description: "The owner, who signs the request." },
});

export const MANAGEMENT = closedObject(
  { action: wordOf(ACTIONS) },
  {
    from: {
      ...FROM,
      description: "The position at which a replay begins: a cursor, a block number, genesis or head.",
    },
  },
);

const RECORD = {
  id: text,
  owner: nullable(text),
  accounts: { type: "array", items: text, description: "Policy accounts of the owner that were registered." },
  name: nullable({ type: "string", description: "The name in the operator's configuration." }),
  host: { type: "string", description: "The host of the URL, which is not shown." },
  status: { type: "string", enum: ["active", "paused", "disabled"] },
  disabled_reason: nullable({
    type: "string",
    enum: ["gone", "failing", "position", "unconfigured"],
    description:
      "The receiver responded 410; ten attempts failed; the cursor is of another deployment; the file of the operator no longer names it.",
  }),
  filter: { type: "object" },
  finality: { type: "string", enum: FINALITIES },
  cursor: { type: "string", description: "Everything up to here is delivered." },
  public_keys: listOf(text, {
    description: "Ed25519, the newest first; any of them may sign.",
  }),
  delivered: { type: "string", description: "Number of messages." },
  failures: { type: "integer", description: "Failed attempts of the message that is next." },
  retry_at: nullable(time),
  pending_since: nullable(time),
  last_error: nullable(text),
  last_success_at: nullable(time),
  created_at: time,
} as const;

const SECRET = nullable({
  type: "string",
  description: "The symmetric secret, shown only after registration and rotation.",
});
const TEST = titledRecord("WebhookTest", {
  delivered: { type: "boolean" },
  status: nullable({ type: "integer" }),
  error: nullable(text),
});

export const WEBHOOK = titledRecord("Webhook", RECORD);
export const WEBHOOK_LIST = titledRecord("WebhookList", { webhooks: listOf(WEBHOOK) });
export const REGISTERED = titledRecord("RegisteredWebhook", { ...RECORD, secret: SECRET });
export const MANAGED = titledRecord("ManagedWebhook", { ...RECORD, secret: SECRET, test: nullable(TEST) });
