// One valid request for every route of the indexing API, made from the records of a running local stack.
import { indexReads } from "../../src/protocol/reads.ts";

type ExampleResponse = { readonly status: number; readonly body: unknown };
export type SendExampleRequest = (method: string, target: string, body?: unknown) => Promise<ExampleResponse>;

export type ApiExample = {
  readonly method: string;
  readonly path: string;
  readonly target: string;
  readonly body?: unknown;
  /** Examples of parameters that the request leaves out, and that no field of its response has. */
  readonly more?: Fields;
  readonly response: ExampleResponse;
};

type Fields = Readonly<Record<string, string>>;

// 2100: the example is sent long after it was recorded.
const FAR_FUTURE = "4102444800";

/** Requests every route once, in an order in which written records can be read; throws if a request fails. */
export async function requestAllExamples(send: SendExampleRequest): Promise<readonly ApiExample[]> {
  const api = new ExampleRecorder(send);
  for (const path of ["/health", "/ready", "/metrics", "/openapi.json", "/docs", "/llms.txt", "/verify"])
    await api.read(path);
  await api.read("/head");
  await api.read("/integrity");
  await api.read("/deployments");
  const agent = await api.read("/agents/{agentId}", { agentId: "1" });
  await api.read("/agents", {}, `?owner=${agent.owner}&limit=1`);
  await api.read("/directory/agents", {}, "?revoked=false&limit=1");
  const openIntent = await findUnsettledIntent(api);
  await requestIntentExamples(api, openIntent);
  await requestBidExamples(api, openIntent, agent);
  await requestPolicyExamples(api, openIntent, agent);
  await requestRegistryExamples(api);
  const receipt = await api.findFirst("/receipts?limit=1", "receipts");
  await requestCommerceExamples(api, receipt);
  await requestDocumentExamples(api, receipt);
  await requestWebhookExamples(api, agent);
  await api.read("/events", {}, "?from=genesis&type=IntentSubmitted,IntentFilled&limit=1");
  const call = { name: "get_reputation", arguments: { kind: "merchant", id: "1" } };
  await api.request("POST", "/mcp", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: call });
  return api.examples;
}

/** Sends requests and records those that become examples. */
class ExampleRecorder {
  readonly examples: ApiExample[] = [];
  readonly #send: SendExampleRequest;

  constructor(send: SendExampleRequest) {
    this.#send = send;
  }

  /** Records the request and returns the response's body. */
  async request(method: string, path: string, target: string, body?: unknown): Promise<Fields> {
    const response = await this.#send(method, target, body);
    requireSuccess(`${method} ${target}`, response);
    this.examples.push({ method, path, target, ...(body === undefined ? {} : { body }), response });
    return response.body as Fields;
  }

  /** Adds examples of parameters to the last request. */
  addExamples(more: Fields): void {
    const last = this.examples.pop();
    if (last) this.examples.push({ ...last, more });
  }

  /** Records a GET of a path, with its parameters filled in. */
  read(path: string, values: Fields = {}, query = ""): Promise<Fields> {
    const target = path.replace(/\{(\w+)\}/g, (_match, name: string) => values[name] ?? "");
    return this.request("GET", path, target + query);
  }

  /** Not recorded. */
  async fetch(target: string): Promise<unknown> {
    const response = await this.#send("GET", target);
    requireSuccess(`GET ${target}`, response);
    return response.body;
  }

  async list(target: string, key: string): Promise<readonly Fields[]> {
    return ((await this.fetch(target)) as Record<string, readonly Fields[]>)[key] ?? [];
  }

  async findFirst(target: string, key: string): Promise<Fields> {
    const [first] = await this.list(target, key);
    if (!first) throw new Error(`the simulator left nothing under ${target}`);
    return first;
  }
}

function requireSuccess(request: string, { status, body }: ExampleResponse): void {
  if (status !== 200 && status !== 201) {
    throw new Error(`${request} returned ${status}: ${JSON.stringify(body)}`);
  }
}

async function requestIntentExamples(api: ExampleRecorder, open: Fields): Promise<void> {
  const filled = await api.findFirst("/intents?status=filled&limit=1", "intents");
  await api.read("/intents", {}, "?status=filled&limit=1");
  const { solver } = filled.fill as unknown as { readonly solver: string };
  api.addExamples({ pair: `${filled.input_token}-${filled.output_token}`, solver });
  await api.read("/intents/{id}", { id: filled.intent_id ?? "" });
  // A registration says nothing of the time, so that every run with this seed has the same transaction.
  const { tx_hash = "" } = (await api.fetch("/agents/1?include=provenance")) as Fields;
  await api.read("/tx/{hash}/explain", { hash: tx_hash });

  const metadata = {
    execution_target: open.output_token,
    required_attestation_subject: `0x${"ab".repeat(32)}`,
    required_attestation_schema: `0x${"11".repeat(32)}`,
  };
  await api.request("PUT", "/intents/{id}/metadata", `/intents/${open.intent_id}/metadata`, metadata);
  const reserved = { intent_hash: `0x${"c0ffee".repeat(10)}c0ff`, owner: open.owner, ...metadata };
  await api.request("POST", "/intents/metadata", "/intents/metadata", reserved);
  await api.read("/intents/metadata/{intentHash}", { intentHash: reserved.intent_hash });
}

async function requestBidExamples(api: ExampleRecorder, open: Fields, agent: Fields): Promise<void> {
  const id = open.intent_id ?? "";
  const offer = {
    solver: agent.owner,
    amount_in: open.amount_in_max,
    amount_out: open.amount_out_min,
    valid_until: FAR_FUTURE,
    execution_plan: { steps: ["swap"] },
  };
  const publish = (fee: string) =>
    api.request("POST", "/intents/{id}/bids", `/intents/${id}/bids`, { ...offer, fee });
  const bid = await publish("1000");
  // A second one, so that the list has a second page.
  await publish("2000");
  await api.request("POST", "/bids/{bidId}/select", `/bids/${bid.bid_id}/select`);
  await api.read("/intents/{id}/bids", { id });
}

async function requestPolicyExamples(api: ExampleRecorder, open: Fields, agent: Fields): Promise<void> {
  const account = await findAccountWithPolicies(api);
  await api.read("/accounts/{address}/policies", { address: account }, "?limit=1");
  const address = await findAccountWithSessionKeys(api);
  await api.read("/accounts/{address}", { address });
  await api.read("/accounts/{address}/windows", { address }, "?limit=2");
  await api.read("/accounts/{address}/session-keys", { address });
  const recipient = (agent.owner ?? "").slice(2).padStart(64, "0");
  const data = `0xa9059cbb${recipient}${25_000_000n.toString(16).padStart(64, "0")}`;
  await api.request("POST", "/preflight", "/preflight", {
    account,
    target: open.input_token,
    value: "0",
    data,
  });
}

async function requestRegistryExamples(api: ExampleRecorder): Promise<void> {
  await api.read("/solvers", {}, "?active=true&limit=1");
  await api.read("/solvers/{id}", { id: "1" });
  await api.read("/attestors", {}, "?active=true&limit=1");
  await api.read("/attestors/{id}", { id: "1" });
  const attestation = await api.findFirst("/attestations?limit=1", "attestations");
  await api.read("/attestations", {}, `?subject=${attestation.subject}&limit=1`);
  await api.read("/attestations/{id}", { id: attestation.attestation_id ?? "" });
  const schema = await api.request("POST", "/attestations/schemas", "/attestations/schemas", {
    name: "delivery_time",
    description: "How long a merchant takes to deliver.",
    json_schema: {
      type: "object",
      properties: { seconds: { type: "integer", minimum: 0 } },
      required: ["seconds"],
    },
  });
  await api.read("/attestations/schemas", {}, "?limit=1");
  await api.read("/attestations/schemas/{schemaHash}", { schemaHash: schema.schema_hash ?? "" });
}

async function requestCommerceExamples(api: ExampleRecorder, receipt: Fields): Promise<void> {
  await api.read("/merchants", {}, "?active=true&limit=1");
  await api.read("/merchants/{id}", { id: "1" });
  await api.read("/merchants/{id}/reputation", { id: receipt.merchant_id ?? "" });
  await api.read("/services", {}, `?merchant_id=${receipt.merchant_id}&limit=1`);
  await api.read("/services/{id}", { id: receipt.service_numeric_id ?? "" });
  await api.read("/facilitators", {}, "?active=true&limit=1");
  await api.read("/quotes/{quoteHash}", { quoteHash: receipt.quote_hash ?? "" });
  await api.read("/facilitators/{id}", { id: "1" });
  await api.read("/receipts", {}, `?agent=${receipt.agent}&limit=1`);
  await api.read("/receipts/{id}", { id: receipt.receipt_id ?? "" });
  const dispute = await api.findFirst("/disputes?limit=1", "disputes");
  await api.read("/disputes/{id}", { id: dispute.dispute_id ?? "" });
  const disputed = (await api.fetch(`/receipts/${dispute.receipt_id}`)) as Fields;
  await api.read("/disputes", {}, `?merchant_id=${disputed.merchant_id}&limit=1`);
  // Every other list needs no parameter: a new one gets its example here.
  for (const { path, parameters } of indexReads) {
    const isPlainList =
      parameters.some(({ name }) => name === "limit") && !parameters.some(({ required }) => required);
    if (isPlainList && !api.examples.some((each) => each.path === path)) await api.read(path, {}, "?limit=1");
  }
  await api.read("/analytics/commerce");
  await api.read("/totals", {}, "?interval=hour");
  await api.read("/analytics/volumes", {}, "?interval=hour");
  const { token = "", merchant_id = "", payment_rail = "", facilitator = "" } = receipt;
  api.addExamples({ token, merchant_id, payment_rail, facilitator });
  await api.read("/analytics/flows", {}, `?token=${receipt.token}`);
}

async function requestDocumentExamples(api: ExampleRecorder, receipt: Fields): Promise<void> {
  const catalog = await api.request("POST", "/catalogs", "/catalogs", {
    catalog_json: '{"name":"Weather","services":[{"id":"forecast","price":"10000"}]}',
    merchant_id: receipt.merchant_id,
    service_id: "forecast",
  });
  await readDocument(api, "/catalogs", catalog.catalog_hash);
  const labels = {
    request_id: "request-1",
    merchant_id: receipt.merchant_id,
    service_numeric_id: receipt.service_numeric_id,
    agent: receipt.agent,
  };
  const { request_hash } = await api.request("POST", "/quote-requests", "/quote-requests", {
    quote_request_json: '{"service":"forecast","place":"Lisbon"}',
    ...labels,
  });
  await readDocument(api, "/quote-requests", request_hash);
  await api.read("/documents", {}, `?hash=${catalog.catalog_hash},${request_hash}`);
  const { response_hash } = await api.request("POST", "/quote-responses", "/quote-responses", {
    quote_response_json: '{"price":"10000","token":"USDC"}',
    request_hash,
    ...labels,
  });
  await readDocument(api, "/quote-responses", response_hash);
}

async function requestWebhookExamples(api: ExampleRecorder, agent: Fields): Promise<void> {
  const { owner } = agent;
  const { id = "" } = await api.request("POST", "/webhooks", "/webhooks", {
    owner,
    // Nothing listens there: the example registers a webhook and pauses it.
    url: "http://127.0.0.1:9/hook",
    filter: { types: ["IntentSubmitted", "IntentFilled"] },
    finality: "safe",
    from: "head",
  });
  await api.request("POST", "/webhooks/{id}", `/webhooks/${id}`, { action: "pause" });
  await api.request("POST", "/webhooks/list", "/webhooks/list", { owner });
  await api.read("/webhooks/{id}", { id });
}

async function readDocument(api: ExampleRecorder, path: string, hash = ""): Promise<void> {
  await api.read(`${path}/{hash}`, { hash });
  await api.read(`${path}/{hash}/metadata`, { hash });
}

/** An open intent without a selected bid: only there can one still be selected. */
async function findUnsettledIntent(api: ExampleRecorder): Promise<Fields> {
  for (const intent of await api.list("/intents?status=open&limit=100", "intents")) {
    const bids = await api.list(`/intents/${intent.intent_id}/bids`, "bids");
    if (bids.every(({ status }) => status !== "SELECTED")) return intent;
  }
  throw new Error("the simulator left no open intent without a selected bid");
}

/** No list names the accounts with policies; buyers and owners of intents are the likely ones. */
async function findAccountWithPolicies(api: ExampleRecorder): Promise<string> {
  const accounts = [
    ...(await api.list("/receipts?limit=100", "receipts")).map(({ agent }) => agent),
    ...(await api.list("/intents?limit=100", "intents")).map(({ owner }) => owner),
  ];
  for (const account of new Set(accounts)) {
    if (account && (await api.list(`/accounts/${account}/policies`, "policies")).length > 1) return account;
  }
  throw new Error("no account of the simulator has set a policy");
}

/** An account with so much that its lists have a second page. A page of events may be empty while there are more. */
async function findAccountWithSessionKeys(api: ExampleRecorder): Promise<string> {
  for (let from = "genesis"; ; ) {
    const body = await api.fetch(`/events?from=${from}&type=SessionKeyUpdated&limit=100`);
    const { events, progress, has_more } = body as {
      readonly events: readonly Fields[];
      readonly progress: { readonly cursor: string };
      readonly has_more: boolean;
    };
    for (const account of new Set(events.map(({ address = "" }) => address))) {
      const keys = await api.list(`/accounts/${account}/session-keys`, "session_keys");
      const windows = await api.list(`/accounts/${account}/windows`, "windows");
      if (keys.length > 1 && windows.length > 1) return account;
    }
    if (!has_more) throw new Error("no account of the simulator has two session keys and two limits");
    from = progress.cursor;
  }
}
