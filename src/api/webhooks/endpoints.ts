// Webhooks over HTTP: an owner registers, lists and manages them with signed writes; a receiver reads its public keys.
import { Fault } from "../../lib/fault.ts";
import { type Hex, parseAddress } from "../../lib/hex.ts";
import {
  defineEndpoint,
  type Endpoint,
  type EndpointRequest,
  type RequestOf,
} from "../../schema/endpoint.ts";
import type { JsonSchema, TypeOf } from "../../schema/json-schema.ts";
import { type Operation, type Parameter, pathParameter } from "../../schema/parameter.ts";
import { countStoredBytes, type StatementRunner, type WriteTransaction } from "../../schema/record-store.ts";
import type { WriteOptions } from "../writes/authority.ts";
import {
  isIndexedAccount,
  type WriteSubject,
  webhooksWriteSubject,
  webhookWriteSubject,
} from "../writes/signed-write.ts";
import {
  assertRoom,
  changeWebhook,
  claimTest,
  createNoWebhookFault,
  createWebhookId,
  describeWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  readChange,
  resolveStart,
  sendTest,
  type WebhookRecordRow,
  type WebhookService,
} from "./records.ts";
import {
  LISTING,
  MANAGED,
  MANAGEMENT,
  parseWebhookFilter,
  REGISTERED,
  REGISTRATION,
  WEBHOOK,
  WEBHOOK_LIST,
} from "./schemas.ts";
import { parseWebhookUrl } from "./send.ts";
import type { KeyGenerations } from "./signing.ts";

type WebhookEndpointsOptions = WriteOptions & {
  /** Null if the operator has not configured webhooks: the routes then respond 404. */
  readonly service: WebhookService | null;
};

type Context = WriteOptions & { readonly service: WebhookService };

/** With a body it is a POST that the owner signs. */
type WebhookEndpoint<Parameters extends readonly Parameter[], Body extends JsonSchema | null> = Omit<
  Operation,
  "tag" | "parameters"
> & {
  readonly parameters: Parameters;
  readonly body: Body;
  readonly status: number;
  readonly response: JsonSchema;
  readonly errorStatuses?: readonly number[];
  /** The body of the response. */
  readonly run: (request: RequestOf<Parameters, Body>, context: Context) => Promise<unknown>;
};

const ID = /^wh_[A-Za-z0-9_-]{22}$/;
const idParameter = pathParameter(
  "id",
  { json: { type: "string", pattern: ID.source }, parse: String },
  "Id of the webhook, as its registration returned it.",
  `wh_${"A".repeat(22)}`,
);

const ENDPOINTS = [
  defineWebhookEndpoint({
    path: "/webhooks",
    operationId: "registerWebhook",
    summary: "Register a webhook for events of what the owner has; signed by the owner",
    description:
      "Delivers events by the Standard Webhooks specification, in order, with undo after a reorg: those in which the owner takes part, and those about records of the owner, or of the policy accounts that are named. In signed mode the owner must be in the index, and the receiver must return the challenge of a message that is sent to it before the response.",
    parameters: [],
    body: REGISTRATION,
    status: 201,
    response: REGISTERED,
    errorStatuses: [401, 403, 404, 409],
    run: register,
  }),
  defineWebhookEndpoint({
    path: "/webhooks/list",
    operationId: "listWebhooks",
    summary: "List the webhooks of an owner; signed by the owner",
    description:
      "The request is signed because only the owner may know where the events go. It changes nothing.",
    parameters: [],
    body: LISTING,
    status: 200,
    response: WEBHOOK_LIST,
    errorStatuses: [401, 403, 404, 409],
    run: list,
  }),
  defineWebhookEndpoint({
    path: "/webhooks/:id",
    operationId: "manageWebhook",
    summary: "Pause, resume, replay, rotate the keys of, test or delete a webhook; signed by its owner",
    description:
      "A replay delivers again from a cursor, with the ids that the messages had. After a rotation the old keys sign in addition to the new ones for 24 hours. A test sends a message of the type webhook.test at once and returns what became of it.",
    parameters: [idParameter],
    body: MANAGEMENT,
    status: 200,
    response: MANAGED,
    errorStatuses: [401, 403, 409],
    run: manage,
  }),
  defineWebhookEndpoint({
    path: "/webhooks/:id",
    operationId: "getWebhook",
    summary: "Get a webhook: its state, and the public keys that sign its messages",
    description:
      "Readable by anyone who knows its id: the owner, and the receiver, to which messages of the type webhook.test name it.",
    parameters: [idParameter],
    body: null,
    status: 200,
    response: WEBHOOK,
    run: async ({ values }, context) =>
      describeWebhook(await findById(context, values.id), context.service.signer),
  }),
];

// Secrets in a response must not stay in a cache on the way.
const PRIVATE = { "cache-control": "no-store" };

export function createWebhookEndpoints(options: WebhookEndpointsOptions): readonly Endpoint[] {
  return ENDPOINTS.map((create) => create(options));
}

function defineWebhookEndpoint<
  const Parameters extends readonly Parameter[],
  const Body extends JsonSchema | null,
>({ status, response, run, ...declared }: WebhookEndpoint<Parameters, Body>) {
  return (options: WebhookEndpointsOptions): Endpoint => {
    const signing = declared.body === null ? null : options.authority;
    const endpoint = defineEndpoint({
      ...declared,
      method: signing === null ? "GET" : "POST",
      tag: "Webhooks",
      responses: { [status]: response },
      security: signing?.security ?? null,
      async handle(request) {
        const body = await run(request, { ...options, service: requireService(options) });
        return { status, body, headers: PRIVATE };
      },
    });
    const signatureHeaders = signing?.headers.filter(({ required }) => required) ?? [];
    return { ...endpoint, parameters: [...endpoint.parameters, ...signatureHeaders] };
  };
}

function requireService({ service }: WebhookEndpointsOptions): WebhookService {
  if (service !== null) return service;
  throw new Fault("NOT_FOUND", "This server delivers no webhooks; read /events instead.");
}

type BodyRequest<Body> = EndpointRequest<unknown, TypeOf<Body>>;

async function register(request: BodyRequest<typeof REGISTRATION>, context: Context) {
  const { service, store, authority } = context;
  const webhook = readRegistration(request.body, service);
  const { owner, accounts, host, finality } = webhook;
  const { claimVersion } = await authority.authorize(request, webhooksWriteSubject("registerWebhook"), owner);
  await Promise.all(accounts.map((each) => authority.requireSigner(each, owner)));
  const position = await resolveStart(service.readEvents, webhook.from, finality);
  const { client } = request;
  // First and by itself: a signature makes us send one request to the receiver, however often it comes.
  const holder = await store.write({ client, tables: [] }, async (rows) => {
    await claimVersion(rows);
    const found = authority.mode === "signed" ? await requireIndexed(rows, [owner, ...accounts]) : owner;
    await assertRoom(rows, { owner, holder: found, host }, service.limits);
    return found;
  });
  if (authority.mode === "signed")
    await service.prove({ webhook: { ...webhook, keys: FIRST_KEYS }, host, owner, client });
  const row = await store.write({ client, tables: ["webhooks"] }, async (rows) => {
    // In signed mode the owner is in the index.
    await rows.charge(countStoredBytes(request.rawBody), async () => authority.mode === "signed");
    return await insertWebhook(rows, { ...webhook, position }, service.limits, holder);
  });
  const secret = service.signer.secretOf(row.id, row.generation);
  return { ...describeWebhook(row, service.signer), secret };
}

/** As a new row has them. */
const FIRST_KEYS: KeyGenerations = { generation: 1, isPreviousValid: false };

function readRegistration(given: TypeOf<typeof REGISTRATION>, { network }: WebhookService) {
  return {
    id: createWebhookId(),
    ...parseWebhookUrl(given.url, { network, allowPrivate: false }),
    owner: parseAddress(given.owner, "owner"),
    filter: parseWebhookFilter(given.filter ?? {}),
    finality: given.finality ?? "instant",
    accounts: (given.accounts ?? []).map((each) => parseAddress(each, "accounts")),
    from: given.from ?? "head",
    name: null,
    allowPrivate: false,
  };
}

/**
 * Keys are free, and slots are few: a webhook is for those who have done something on chain, and counts for the first of
 * them.
 */
async function requireIndexed(rows: StatementRunner, accounts: readonly [Hex, ...Hex[]]): Promise<Hex> {
  for (const account of accounts) if (await isIndexedAccount(rows, account)) return account;
  throw new Fault(
    "WRITE_FORBIDDEN",
    `${accounts[0]} is not in the index, so that there is nothing to deliver. Register an agent, merchant, solver, attestor or facilitator, or submit an intent first.`,
  );
}

async function list(request: BodyRequest<typeof LISTING>, context: Context) {
  const { signer } = context.service;
  const owner = parseAddress(request.body.owner, "owner");
  const write = await authorize(request, context, webhooksWriteSubject("listWebhooks"), owner);
  const rows = await write((transaction) => listWebhooks(transaction, owner));
  return { webhooks: rows.map((row) => describeWebhook(row, signer)) };
}

async function manage(
  request: RequestOf<readonly [typeof idParameter], typeof MANAGEMENT>,
  context: Context,
) {
  const { service } = context;
  const { id, owner, finality } = await findById(context, request.values.id);
  // The operator's webhooks are managed by the operator's command.
  if (owner === null) throw createNoWebhookFault();
  const { action, from } = request.body;
  const write = await authorize(request, context, webhookWriteSubject(id), owner);
  if (action === "test") {
    const webhook = await write((rows) => claimTest(rows, id));
    const test = await sendTest(webhook, service);
    return { ...describeWebhook(await findById(context, id), service.signer), secret: null, test };
  }
  const change = await readChange({ action, from, finality }, service);
  const row = await write((rows) => changeWebhook(rows, id, change));
  const secret = action === "rotate" ? service.signer.secretOf(id, row.generation) : null;
  return { ...describeWebhook(row, service.signer), secret, test: null };
}

/** Checks the signature; what it returns writes, and uses up the version of the signature. */
async function authorize(
  request: BodyRequest<unknown>,
  { store, authority }: Context,
  subject: WriteSubject,
  owner: Hex,
) {
  const { claimVersion } = await authority.authorize(request, subject, owner);
  const scope = { client: request.client, tables: ["webhooks"] } as const;
  return <T>(work: (rows: WriteTransaction) => Promise<T>): Promise<T> =>
    store.write(scope, async (rows) => {
      await claimVersion(rows);
      return await work(rows);
    });
}

async function findById({ store }: Context, id: string): Promise<WebhookRecordRow> {
  const row = ID.test(id) ? await findWebhook(store, id) : null;
  if (row === null) throw createNoWebhookFault();
  return row;
}
