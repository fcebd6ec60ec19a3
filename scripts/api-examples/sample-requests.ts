// One good request for every route of the indexing API, made of what the API itself tells about a running economy.
import { indexReads } from "../../src/protocol/reads.ts";

export type ExampleResponse = { readonly status: number; readonly body: unknown };
export type SendExampleRequest = (method: string, target: string, body?: unknown) => Promise<ExampleResponse>;

export type ApiExample = {
  readonly method: string;
  readonly path: string;
  readonly target: string;
  readonly body?: unknown;
  readonly answer: ExampleResponse;
};

type Fields = Readonly<Record<string, string>>;
type List = (target: string, key: string) => Promise<readonly Fields[]>;

/** Asks every route once, in an order in which what is written can be read; throws where an answer is not good. */
export async function requestAllExamples(call: SendExampleRequest): Promise<readonly ApiExample[]> {
  const samples: ApiExample[] = [];
  const fetched = async (target: string): Promise<unknown> => {
    const answer = await call("GET", target);
    if (answer.status !== 200)
      throw new Error(`GET ${target} answers ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const list: List = async (target, key) =>
    ((await fetched(target)) as Record<string, readonly Fields[]>)[key] ?? [];
  const first = async (target: string, key: string, wanted: (record: Fields) => boolean = () => true) => {
    const found = (await list(target, key)).find(wanted);
    if (!found) throw new Error(`the economy has left nothing under ${target}`);
    return found;
  };
  const ask = async (method: string, path: string, target: string, body?: unknown): Promise<Fields> => {
    const answer = await call(method, target, body);
    if (answer.status !== 200 && answer.status !== 201) {
      throw new Error(`${method} ${target} answers ${answer.status}: ${JSON.stringify(answer.body)}`);
    }
    samples.push({ method, path, target, ...(body === undefined ? {} : { body }), answer });
    return answer.body as Fields;
  };
  const read = (path: string, values: Fields = {}, query = "") =>
    ask("GET", path, path.replace(/\{(\w+)\}/g, (_match, name: string) => values[name] ?? "") + query);

  for (const path of ["/health", "/ready", "/metrics", "/openapi.json", "/docs"]) await read(path);

  const agent = await read("/agents/{agentId}", { agentId: "1" });
  await read("/agents", {}, `?owner=${agent.owner}&limit=2`);

  const filled = await first("/intents?status=filled&limit=1", "intents");
  const open = await unsettledIntent(list);
  const id = open.intent_id ?? "";
  await read("/intents", {}, "?status=filled&limit=1");
  await read("/intents/{id}", { id: filled.intent_id ?? "" });
  const { tx_hash = "" } = (await fetched(`/intents/${filled.intent_id}?include=provenance`)) as Fields;
  await read("/tx/{hash}/explain", { hash: tx_hash });

  const metadata = {
    execution_target: open.output_token,
    required_attestation_subject: `0x${"ab".repeat(32)}`,
    required_attestation_schema: `0x${"11".repeat(32)}`,
  };
  await ask("PUT", "/intents/{id}/metadata", `/intents/${id}/metadata`, metadata);
  const reserved = { intent_hash: `0x${"c0ffee".repeat(10)}c0ff`, owner: open.owner, ...metadata };
  await ask("POST", "/intents/metadata", "/intents/metadata", reserved);
  await read("/intents/metadata/{intentHash}", { intentHash: reserved.intent_hash });

  const bid = await ask("POST", "/intents/{id}/bids", `/intents/${id}/bids`, {
    solver: agent.owner,
    amount_in: open.amount_in_max,
    amount_out: open.amount_out_min,
    fee: "1000",
    valid_until: open.deadline,
    execution_plan: { steps: ["swap"] },
  });
  await ask("POST", "/bids/{bidId}/select", `/bids/${bid.bid_id}/select`);
  await read("/intents/{id}/bids", { id });

  const account = await accountWithPolicies(list);
  await read("/accounts/{address}/policies", { address: account }, "?limit=3");
  const data = `0xa9059cbb${(agent.owner ?? "").slice(2).padStart(64, "0")}${25_000_000n.toString(16).padStart(64, "0")}`;
  await ask("POST", "/preflight", "/preflight", { account, target: open.input_token, value: "0", data });

  await read("/solvers", {}, "?active=true&limit=1");
  await read("/solvers/{id}", { id: "1" });
  await read("/attestors", {}, "?active=true&limit=1");
  await read("/attestors/{id}", { id: "1" });
  const attestation = await first("/attestations?limit=1", "attestations");
  await read("/attestations", {}, `?subject=${attestation.subject}&limit=1`);
  await read("/attestations/{id}", { id: attestation.attestation_id ?? "" });
  const schema = await ask("POST", "/attestations/schemas", "/attestations/schemas", {
    name: "delivery_time",
    description: "How long a merchant takes to deliver.",
    json_schema: {
      type: "object",
      properties: { seconds: { type: "integer", minimum: 0 } },
      required: ["seconds"],
    },
  });
  await read("/attestations/schemas", {}, "?limit=1");
  await read("/attestations/schemas/{schemaHash}", { schemaHash: schema.schema_hash ?? "" });

  await read("/merchants", {}, "?active=true&limit=1");
  await read("/merchants/{id}", { id: "1" });
  const receipt = await first("/receipts?limit=1", "receipts");
  await read("/merchants/{id}/reputation", { id: receipt.merchant_id ?? "" });
  await read("/services", {}, `?merchant_id=${receipt.merchant_id}&limit=1`);
  await read("/services/{id}", { id: receipt.service_numeric_id ?? "" });
  await read("/facilitators", {}, "?active=true&limit=1");
  await read("/quotes/{quoteHash}", { quoteHash: receipt.quote_hash ?? "" });
  await read("/receipts", {}, `?agent=${receipt.agent}&limit=1`);
  // Every other list needs no parameter: a new one gets its example here.
  for (const { path, parameters } of indexReads) {
    const isPlainList =
      parameters.some(({ name }) => name === "limit") && !parameters.some(({ required }) => required);
    if (isPlainList && !samples.some((each) => each.path === path)) await read(path, {}, "?limit=1");
  }
  await read("/analytics/commerce");

  const catalog = await ask("POST", "/catalogs", "/catalogs", {
    catalog_json: '{"name":"Weather","services":[{"id":"forecast","price":"10000"}]}',
    merchant_id: receipt.merchant_id,
    service_id: "forecast",
  });
  await read("/catalogs/{hash}", { hash: catalog.catalog_hash ?? "" });
  await read("/catalogs/{hash}/metadata", { hash: catalog.catalog_hash ?? "" });
  const labels = {
    request_id: "request-1",
    merchant_id: receipt.merchant_id,
    service_numeric_id: receipt.service_numeric_id,
    agent: receipt.agent,
  };
  const wanted = await ask("POST", "/quote-requests", "/quote-requests", {
    quote_request_json: '{"service":"forecast","place":"Lisbon"}',
    ...labels,
  });
  await read("/quote-requests/{hash}", { hash: wanted.request_hash ?? "" });
  await read("/quote-requests/{hash}/metadata", { hash: wanted.request_hash ?? "" });
  const offered = await ask("POST", "/quote-responses", "/quote-responses", {
    quote_response_json: '{"price":"10000","token":"USDC"}',
    request_hash: wanted.request_hash,
    ...labels,
  });
  await read("/quote-responses/{hash}", { hash: offered.response_hash ?? "" });
  await read("/quote-responses/{hash}/metadata", { hash: offered.response_hash ?? "" });
  return samples;
}

/** An open intent whose owner has not chosen a bid yet: only there can one still be chosen. */
async function unsettledIntent(list: List): Promise<Fields> {
  for (const intent of await list("/intents?status=open&limit=100", "intents")) {
    const bids = await list(`/intents/${intent.intent_id}/bids`, "bids");
    if (bids.every(({ status }) => status !== "SELECTED")) return intent;
  }
  throw new Error("the economy has left no open intent without a selected bid");
}

/** No list names the accounts that have policies; buyers and owners of intents are the likely ones. */
async function accountWithPolicies(list: List): Promise<string> {
  const people = [
    ...(await list("/receipts?limit=100", "receipts")).map(({ agent }) => agent),
    ...(await list("/intents?limit=100", "intents")).map(({ owner }) => owner),
  ];
  for (const person of new Set(people)) {
    if (person && (await list(`/accounts/${person}/policies`, "policies")).length > 1) return person;
  }
  throw new Error("nobody in the economy has set a policy");
}
