// The tools of the indexing API, called by clients of the old and of the new protocol.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatMoment } from "../../src/lib/moment.ts";
import { openReadStage, type ReadStage } from "../api/api-stage.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { TOOL_CLIENTS, type ToolClient, type ToolResult } from "./tool-clients.ts";

let stage: ReadStage;
beforeAll(async () => {
  stage = await openReadStage();
}, SHARED_HISTORY_MS_MAX);
afterAll(() => stage?.close());

const RESULT_BYTES_MAX = 16 * 1024;

type Page = { readonly intents: readonly { readonly intent_id: string }[] };

function dataOf<T>({ structuredContent }: ToolResult): T {
  return structuredContent.data as T;
}

describe.each(TOOL_CLIENTS)("a client of the %s protocol", (year, connect) => {
  let client: ToolClient;
  beforeAll(async () => {
    client = await connect(`${stage.url}/mcp`);
  });
  afterAll(() => client?.close());

  const get = async (path: string) => (await fetch(stage.url + path)).json();

  it("agrees on its own revision and finds the tools, with the inputs of their routes", async () => {
    expect(client.protocol?.slice(0, 4)).toBe(year);
    const tools = await client.tools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...["find_agents", "get_agent", "find_intents", "get_intent", "list_bids", "get_account_policies"],
      ...["get_account", "list_session_keys", "list_spending_windows", "preflight"],
      ...[
        "explain_transaction",
        "list_merchants",
        "list_services",
        "list_solvers",
        "get_reputation",
        "get_document",
        "analytics",
      ],
      ...["get_commerce_record", "get_activity", "get_integrity", "list_deployments", "describe_tool"],
    ]);
    const find = tools.find(({ name }) => name === "find_intents");
    expect(Object.keys(find?.inputSchema.properties ?? {})).toEqual(
      expect.arrayContaining(["status", "limit", "cursor", "block", "min_block"]),
    );
    expect(find?.annotations).toMatchObject({ readOnlyHint: true });
  });

  it("pages through a list in short results and misses nothing", async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    let calls = 0;
    do {
      const result = await client.call("find_intents", { limit: 3, ...(cursor && { cursor }) });
      expect(Buffer.byteLength(result.content[0]?.text ?? "")).toBeLessThanOrEqual(RESULT_BYTES_MAX);
      expect(JSON.parse(result.content[0]?.text ?? "")).toEqual(result.structuredContent);
      seen.push(...dataOf<Page>(result).intents.map(({ intent_id }) => intent_id));
      cursor = (result.structuredContent.cursor as string | null) ?? undefined;
      calls += 1;
    } while (cursor !== undefined);
    const all = (await get("/intents?limit=100")) as Page;
    expect(seen.slice(0, 100)).toEqual(all.intents.map(({ intent_id }) => intent_id));
    expect(calls).toBeGreaterThan(1);
  });

  it("gets one record, by an id as text or as a number, also as of a block", async () => {
    const { intents } = (await get("/intents?limit=1")) as Page;
    const id = intents[0]?.intent_id ?? "";
    const head = (await get("/head")) as {
      readonly indexed_block: string;
      readonly indexed_timestamp: string;
    };
    const notes = { block: head.indexed_block, time: formatMoment(Number(head.indexed_timestamp)) };
    const expected = { data: await get(`/intents/${id}`), truncated: false, cursor: null, ...notes };
    expect((await client.call("get_intent", { id })).structuredContent).toEqual(expected);
    expect((await client.call("get_intent", { id: Number(id) })).structuredContent).toEqual(expected);
    expect(await client.call("get_intent", { id, block: 0 })).toMatchObject({ isError: true });
  });

  it("finds agents, merchants, services and solvers", async () => {
    for (const [tool, args, path] of [
      ["find_agents", { revoked: false }, "/directory/agents?revoked=false&limit=20"],
      ["get_agent", { agentId: "1" }, "/agents/1"],
      ["list_merchants", { active: true }, "/merchants?active=true&limit=20"],
      ["list_services", { merchant_id: "1" }, "/services?merchant_id=1&limit=20"],
      ["list_solvers", {}, "/solvers?limit=20"],
    ] as const) {
      expect(dataOf(await client.call(tool, args))).toEqual(await get(path));
    }
  });

  it("gets the reputation of each kind, and totals", async () => {
    for (const [kind, path] of [
      ["merchant", "/merchants/1/reputation"],
      ["solver", "/solvers/1"],
    ]) {
      const result = await client.call("get_reputation", { kind, id: "1" });
      expect(dataOf(result)).toEqual(await get(path ?? ""));
    }
    expect(dataOf(await client.call("analytics", {}))).toEqual(await get("/analytics/commerce"));
  });

  it("gets spending windows, records of commerce and activity by kind, as their routes have them", async () => {
    const { receipts } = (await get("/receipts?limit=1")) as {
      readonly receipts: readonly { readonly receipt_id: string; readonly token: string }[];
    };
    const [{ receipt_id: id, token } = { receipt_id: "", token: "" }] = receipts;
    const { account: address = "" } = await stage.first("select account from spend_windows limit 1");
    const calls: readonly [string, Readonly<Record<string, string>>, string][] = [
      ["get_account", { address }, `/accounts/${address}`],
      ["list_session_keys", { address }, `/accounts/${address}/session-keys?limit=20`],
      ["list_spending_windows", { address }, `/accounts/${address}/windows?limit=20`],
      ["get_commerce_record", { kind: "receipt", id }, `/receipts/${id}`],
      ["get_commerce_record", { kind: "dispute", id: "1" }, "/disputes/1"],
      ["get_commerce_record", { kind: "facilitator", id: "1" }, "/facilitators/1"],
      ["get_activity", { kind: "totals", interval: "hour" }, "/totals?interval=hour"],
      ["get_activity", { kind: "volumes", token }, `/analytics/volumes?token=${token}`],
      ["get_activity", { kind: "flows", token }, `/analytics/flows?token=${token}`],
    ];
    for (const [tool, args, path] of calls) {
      const result = await client.call(tool, args);
      expect(result.isError ?? false, path).toBe(false);
      // A long result is cut: what is there is as in the response.
      const data = dataOf<Readonly<Record<string, unknown>>>(result);
      if (result.structuredContent.truncated === false) expect(data, path).toEqual(await get(path));
      else expect(Object.keys(data)).not.toEqual([]);
    }
    expect(dataOf(await client.call("get_integrity", {}))).toMatchObject({
      deployment: { chain_id: "31337" },
    });
  });

  it("checks a transaction before it is sent", async () => {
    const account = `0x${"ab".repeat(20)}`;
    const result = await client.call("preflight", { account, target: account });
    expect(result.isError ?? false).toBe(false);
    expect(dataOf(result)).toMatchObject({ allowed: expect.any(Boolean) });
  });

  it("reads a published document in parts", async () => {
    const text = JSON.stringify({ name: "Weather", notes: "x".repeat(30_000) });
    const published = await fetch(`${stage.url}/catalogs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ catalog_json: text, merchant_id: "1", service_id: "forecast" }),
    });
    const { catalog_hash: hash } = (await published.json()) as { catalog_hash: string };
    let read = "";
    let cursor: string | null = null;
    do {
      const result: ToolResult = await client.call("get_document", {
        kind: "catalog",
        hash,
        ...(cursor !== null && { cursor }),
      });
      read += dataOf<string>(result);
      cursor = result.structuredContent.cursor as string | null;
    } while (cursor !== null);
    expect(read).toBe(text);
  });

  it("gets an error as a result that says what is wrong, with its code", async () => {
    const missing = await client.call("get_intent", { id: "999999" });
    expect(missing).toMatchObject({ isError: true, structuredContent: { status: 404, code: "NOT_FOUND" } });
    expect(missing.content[0]?.text).toMatch(/^\S.*\.$/);
  });
});

it("rejects subscriptions, other methods and bodies that are not JSON-RPC", async () => {
  const send = (method: string, body?: string) =>
    fetch(`${stage.url}/mcp`, {
      method,
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      ...(body === undefined ? {} : { body }),
    });
  expect((await send("GET")).status).toBe(405);
  expect((await send("POST", "{")).status).toBe(400);
  expect((await send("POST", "x".repeat(70_000))).status).toBe(413);
});
