// Webhooks over HTTP: an owner registers, lists and manages them with signed writes; a receiver reads its public keys.
import type { Clock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import { type Hex, parseAddress } from "../../lib/hex.ts";
import type { PublicNetwork } from "../../lib/public-network.ts";
import {
  EVENT_SUBJECTS,
  EVENT_TYPES,
  type EventFilter,
  type EventSubject,
} from "../../protocol/event-filter.ts";
import type { JsonSchema } from "../../schema/column.ts";
import type { Endpoint, EndpointRequest } from "../../schema/endpoint.ts";
import {
  addressParameter,
  closedObject,
  nullable,
  type Parameter,
  requireText,
} from "../../schema/parameter.ts";
import { countStoredBytes } from "../../schema/record-store.ts";
import { FINALITIES, type Finality } from "../../store/index/event-logs.ts";
import { SUBJECT_PARAMETERS } from "../events/endpoint.ts";
import type { ReadEvents } from "../events/read-events.ts";
import type { WriteOptions } from "../writes/authority.ts";
import { webhooksWriteSubject, webhookWriteSubject } from "../writes/sign-write.ts";
import { createTestMessage } from "./messages.ts";
import {
  changeWebhook,
  claimTest,
  createNoWebhookFault,
  describeWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  resolveStart,
  type WebhookChange,
  type WebhookLimits,
  type WebhookRecordRow,
} from "./records.ts";
import { parseWebhookUrl, type SendWebhook } from "./send.ts";
import type { WebhookSigner } from "./signing.ts";

export type WebhookService = {
  readonly signer: WebhookSigner;
  readonly send: SendWebhook;
  readonly readEvents: ReadEvents;
  readonly network: PublicNetwork | null;
  readonly limits: WebhookLimits;
  readonly clock: Clock;
};

type WebhookEndpointsOptions = WriteOptions & {
  /** Null where the operator has not configured webhooks: the routes then respond 404. */
  readonly service: WebhookService | null;
};

const ACTIONS = ["pause", "resume", "replay", "rotate", "test", "delete"] as const;
type Action = (typeof ACTIONS)[number];

const text: JsonSchema = { type: "string" };
const time: JsonSchema = { type: "string", format: "date-time" };

export const WEBHOOK_FILTER: JsonSchema = {
  type: "object",
  description: "As the parameters of GET /events: only events that pass all of them.",
  properties: {
    types: {
      type: "array",
      items: { type: "string", enum: EVENT_TYPES },
      minItems: 1,
      maxItems: EVENT_TYPES.length,
    },
    ...Object.fromEntries(
      Object.entries(SUBJECT_PARAMETERS).map(([name, { kind, description }]) => [
        name,
        { ...kind.json, description },
      ]),
    ),
  },
  additionalProperties: false,
};

const FROM: JsonSchema = {
  type: "string",
  maxLength: 512,
  description: "A cursor, a block number, genesis, or head, which is the default.",
};

const RECORD = {
  id: text,
  owner: nullable(text),
  name: nullable({ type: "string", description: "The name in the operator's configuration." }),
  host: { type: "string", description: "Of the URL, which is not shown." },
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
  public_keys: {
    type: "array",
    items: text,
    description: "Ed25519, the newest first; any of them may sign.",
  },
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
const WEBHOOK: JsonSchema = { title: "Webhook", ...closedObject(RECORD) };
const REGISTERED: JsonSchema = { title: "RegisteredWebhook", ...closedObject({ ...RECORD, secret: SECRET }) };
const MANAGED: JsonSchema = {
  title: "ManagedWebhook",
  ...closedObject({
    ...RECORD,
    secret: SECRET,
    test: nullable({
      title: "WebhookTest",
      ...closedObject({
        delivered: { type: "boolean" },
        status: nullable({ type: "integer" }),
        error: nullable(text),
      }),
    }),
  }),
};

const idParameter: Parameter = {
  name: "id",
  in: "path",
  required: true,
  kind: { json: { type: "string", pattern: "^wh_[A-Za-z0-9_-]{22}$" }, parse: String },
  description: "Id of the webhook, as its registration returned it.",
  example: `wh_${"A".repeat(22)}`,
};

// Secrets in a response must not stay in a cache on the way.
const PRIVATE = { "cache-control": "no-store" };

const ID = /^wh_[A-Za-z0-9_-]{22}$/;

export function createWebhookEndpoints(options: WebhookEndpointsOptions): readonly Endpoint[] {
  return [
    createRegisterEndpoint(options),
    createListEndpoint(options),
    createManageEndpoint(options),
    createGetEndpoint(options),
  ];
}

function createRegisterEndpoint(options: WebhookEndpointsOptions): Endpoint {
  const { store, authority } = options;
  return {
    method: "POST",
    path: "/webhooks",
    operationId: "registerWebhook",
    summary: "Register a webhook for events of what the owner has; signed by the owner",
    description:
      "Delivers events by the Standard Webhooks specification, in order, with undo after a reorg: those in which the owner takes part, and those about the agents, intents, merchants, services, solvers, receipts and disputes of the owner.",
    tag: "Webhooks",
    parameters: authority.headers.filter(({ required }) => required),
    body: {
      type: "object",
      properties: {
        owner: {
          ...addressParameter.json,
          description: "Whose events are delivered; signs the registration.",
        },
        url: {
          type: "string",
          maxLength: 2_048,
          description: "Where messages are sent by POST; https:// only.",
        },
        filter: WEBHOOK_FILTER,
        finality: { type: "string", enum: FINALITIES, description: "As in GET /events; default instant." },
        from: FROM,
      },
      required: ["owner", "url"],
      additionalProperties: false,
    },
    responses: { 201: REGISTERED },
    errorStatuses: [401, 403, 404, 409],
    security: authority.security,
    async handle(request) {
      const service = requireService(options);
      const registration = readRegistration(request, service);
      const { owner, finality, from } = registration;
      const { claimVersion } = await authority.authorize(
        request,
        webhooksWriteSubject("registerWebhook"),
        owner,
      );
      const position = await resolveStart(service.readEvents, from, finality);
      const row = await store.write(writeScope(request), async (rows) => {
        await rows.charge(countStoredBytes(request.rawBody));
        await claimVersion(rows);
        const added = { ...registration, name: null, allowPrivate: false, position };
        return await insertWebhook(rows, added, service.limits);
      });
      const secret = service.signer.secretOf(row.id, row.generation);
      return { status: 201, body: { ...describeWebhook(row, service.signer), secret }, headers: PRIVATE };
    },
  };
}

function createListEndpoint(options: WebhookEndpointsOptions): Endpoint {
  const { store, authority } = options;
  return {
    method: "POST",
    path: "/webhooks/list",
    operationId: "listWebhooks",
    summary: "List the webhooks of an owner; signed by the owner",
    description: "Signed, because only the owner is to know where the events go. It changes nothing.",
    tag: "Webhooks",
    parameters: authority.headers.filter(({ required }) => required),
    body: {
      type: "object",
      properties: { owner: { ...addressParameter.json, description: "Signs the request." } },
      required: ["owner"],
      additionalProperties: false,
    },
    responses: {
      200: { title: "WebhookList", ...closedObject({ webhooks: { type: "array", items: WEBHOOK } }) },
    },
    errorStatuses: [401, 403, 404, 409],
    security: authority.security,
    async handle(request) {
      const { signer } = requireService(options);
      const owner = parseAddress((request.body as { owner: unknown }).owner, "owner");
      const { claimVersion } = await authority.authorize(
        request,
        webhooksWriteSubject("listWebhooks"),
        owner,
      );
      const rows = await store.write(writeScope(request), async (transaction) => {
        await claimVersion(transaction);
        return await listWebhooks(transaction, owner);
      });
      return {
        status: 200,
        body: { webhooks: rows.map((row) => describeWebhook(row, signer)) },
        headers: PRIVATE,
      };
    },
  };
}

function createManageEndpoint(options: WebhookEndpointsOptions): Endpoint {
  const { store, authority } = options;
  return {
    method: "POST",
    path: "/webhooks/:id",
    operationId: "manageWebhook",
    summary: "Pause, resume, replay, rotate the keys of, test or delete a webhook; signed by its owner",
    description:
      "A replay delivers again from a cursor, with new ids. After a rotation the old keys sign beside the new ones for 24 hours. A test sends a message of the type webhook.test at once and returns what became of it.",
    tag: "Webhooks",
    parameters: [idParameter, ...authority.headers.filter(({ required }) => required)],
    body: {
      type: "object",
      properties: {
        action: { type: "string", enum: ACTIONS },
        from: { ...FROM, description: "Where a replay begins: a cursor, a block number, genesis or head." },
      },
      required: ["action"],
      additionalProperties: false,
    },
    responses: { 200: MANAGED },
    errorStatuses: [401, 403, 409],
    security: authority.security,
    async handle(request) {
      const service = requireService(options);
      const found = await requireOwned(options, requireText(request.values, "id"));
      const { id, owner } = found;
      const { action, from } = request.body as { readonly action: Action; readonly from?: string };
      const { claimVersion } = await authority.authorize(request, webhookWriteSubject(id), owner);
      if (action === "test") return await testWebhook(request, { id, claimVersion }, service, options);
      const change = await readChange({ action, from, finality: found.finality }, service);
      const row = await store.write(writeScope(request), async (rows) => {
        await claimVersion(rows);
        return await changeWebhook(rows, id, change);
      });
      const secret = action === "rotate" ? service.signer.secretOf(id, row.generation) : null;
      return {
        status: 200,
        body: { ...describeWebhook(row, service.signer), secret, test: null },
        headers: PRIVATE,
      };
    },
  };
}

function createGetEndpoint(options: WebhookEndpointsOptions): Endpoint {
  return {
    method: "GET",
    path: "/webhooks/:id",
    operationId: "getWebhook",
    summary: "Get a webhook: its state, and the public keys that sign its messages",
    description:
      "For those who know its id: the owner, and the receiver, which messages of the type webhook.test name it.",
    tag: "Webhooks",
    parameters: [idParameter],
    body: null,
    responses: { 200: WEBHOOK },
    async handle(request) {
      const { signer } = requireService(options);
      const row = await findById(options, requireText(request.values, "id"));
      return { status: 200, body: describeWebhook(row, signer), headers: PRIVATE };
    },
  };
}

function requireService({ service }: WebhookEndpointsOptions): WebhookService {
  if (service !== null) return service;
  throw new Fault("NOT_FOUND", "This server delivers no webhooks; read /events instead.");
}

const writeScope = ({ client }: EndpointRequest) => ({ client, tables: ["webhooks"] }) as const;

async function findById({ store }: WebhookEndpointsOptions, id: string): Promise<WebhookRecordRow> {
  const row = ID.test(id) ? await findWebhook(store, id) : null;
  if (row === null) throw createNoWebhookFault();
  return row;
}

/** The operator's webhooks are managed by the operator's command. */
async function requireOwned(
  options: WebhookEndpointsOptions,
  id: string,
): Promise<WebhookRecordRow & { readonly owner: Hex }> {
  const row = await findById(options, id);
  if (row.owner === null) throw createNoWebhookFault();
  return { ...row, owner: row.owner };
}

type Registration = {
  readonly owner: Hex;
  readonly filter: EventFilter;
  readonly finality: Finality;
  readonly from: string;
} & ReturnType<typeof parseWebhookUrl>;

function readRegistration(request: EndpointRequest, { network }: WebhookService): Registration {
  const body = request.body as Readonly<Record<string, unknown>>;
  return {
    ...parseWebhookUrl(String(body.url), { network, allowPrivate: false }),
    owner: parseAddress(body.owner, "owner"),
    filter: parseWebhookFilter((body.filter ?? {}) as Readonly<Record<string, unknown>>),
    finality: (body.finality as Finality | undefined) ?? "instant",
    from: String(body.from ?? "head"),
  };
}

/** The keys are those of the schema. */
export function parseWebhookFilter(given: Readonly<Record<string, unknown>>): EventFilter {
  const subjects = (Object.keys(EVENT_SUBJECTS) as EventSubject[]).flatMap((name) =>
    given[name] === undefined
      ? []
      : [[name, SUBJECT_PARAMETERS[name].kind.parse(String(given[name]), `filter.${name}`)]],
  );
  const types = (given.types ?? null) as readonly string[] | null;
  return { types, subjects: Object.fromEntries(subjects) };
}

async function readChange(
  given: {
    readonly action: Exclude<Action, "test">;
    readonly from: string | undefined;
    readonly finality: Finality;
  },
  { readEvents }: WebhookService,
): Promise<WebhookChange> {
  const { action, from, finality } = given;
  if (action !== "replay") return { action };
  if (from === undefined)
    throw new Fault("INPUT_INVALID", "A replay needs from: a cursor, a block number or genesis.");
  return { action, position: await resolveStart(readEvents, from, finality) };
}

async function testWebhook(
  request: EndpointRequest,
  claimed: {
    readonly id: string;
    readonly claimVersion: Awaited<ReturnType<WriteOptions["authority"]["authorize"]>>["claimVersion"];
  },
  { send, signer, clock }: WebhookService,
  options: WebhookEndpointsOptions,
) {
  const webhook = await options.store.write(writeScope(request), async (rows) => {
    await claimed.claimVersion(rows);
    return await claimTest(rows, claimed.id);
  });
  const result = await send(webhook, createTestMessage(webhook, clock.nowMs()));
  const test = {
    delivered: result.isDelivered,
    status: result.status,
    error: result.isDelivered ? null : result.error,
  };
  const row = await findById(options, claimed.id);
  return { status: 200, body: { ...describeWebhook(row, signer), secret: null, test }, headers: PRIVATE };
}
