// Search finds every kind of record by its id, its address and its hash, and says what each is.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readSearchText } from "../../src/explorer/pages/search.ts";
import { pages } from "../../src/explorer/pages.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { type ExplorerStage, openExplorerStage } from "./explorer-stage.ts";

let stage: ExplorerStage;

beforeAll(async () => {
  stage = await openExplorerStage();
}, SHARED_HISTORY_MS_MAX);
afterAll(() => stage?.close());

/** The page that a search leads to, otherwise what it lists. */
async function search(q: string): Promise<string> {
  const response = await stage.get(`/explorer/search?q=${encodeURIComponent(q)}`);
  return response.headers.get("location") ?? (await response.text());
}

async function first(path: string, key: string): Promise<Readonly<Record<string, unknown>>> {
  const body = (await (await stage.get(path)).json()) as Record<string, Record<string, unknown>[]>;
  const [found] = body[key] ?? [];
  if (!found) throw new Error(`${path} is empty`);
  return found;
}

/** The only hit leads to its page, if it has one. */
function expectFound(result: string, kind: string, path: string, id: string): void {
  const hasPage = pages.some((page) => page.path === `${path}/:id`);
  if (hasPage && result.startsWith("/")) expect(result).toBe(`/explorer${path}/${id}`);
  else expect(result).toContain(`${kind} <code title="${id}">`);
}

describe("by id", () => {
  it.each([
    ["intent", "Intent", "/intents", "intents", "intent_id"],
    ["solver", "Solver", "/solvers", "solvers", "solver_id"],
    ["merchant", "Merchant", "/merchants", "merchants", "merchant_id"],
    ["service", "Service", "/services", "services", "service_numeric_id"],
    ["receipt", "Receipt", "/receipts", "receipts", "receipt_id"],
    ["dispute", "Dispute", "/disputes", "disputes", "dispute_id"],
    ["facilitator", "Facilitator", "/facilitators", "facilitators", "facilitator_id"],
    ["attestation", "Attestation", "/attestations", "attestations", "attestation_id"],
    ["attestor", "Attestor", "/attestors", "attestors", "attestor_id"],
  ])("finds the %s, by name and among others", async (word, kind, path, key, idKey) => {
    const id = String((await first(`${path}?limit=1`, key))[idKey]);
    expectFound(await search(`${word} ${id}`), kind, path, id);
    expectFound(await search(`${kind}s #${id}`), kind, path, id);
    expectFound(await search(id), kind, path, id);
    expect(await search(`${word} 99999999`)).toContain("Nothing has this id");
  });

  it("finds agents and blocks", async () => {
    expectFound(await search("agent 1"), "Agent", "/agents", "1");
    expect(await search("block 5")).toBe("/explorer/blocks/5");
    expect(await search(String(stage.head))).toBe(`/explorer/blocks/${stage.head}`);
    expect(await search("1")).toContain('Block <code title="1">');
    expect(await search(`block ${stage.head + 1}`)).toContain("Nothing has this id");
    expect(await search("block 999999999999999999999999")).toContain("Nothing has this id");
  });

  it("understands what people type", () => {
    expect(readSearchText(" Merchant #3 ")).toEqual({ text: "3", wanted: "merchant" });
    expect(readSearchText("receipts 1,200")).toEqual({ text: "1200", wanted: "receipt" });
    expect(readSearchText("#15")).toEqual({ text: "15", wanted: null });
    expect(readSearchText(`tx 0x${"ab".repeat(32)}`).wanted).toBe("transaction");
    expect(readSearchText("weather 5").wanted).toBeNull();
    expect(readSearchText("constructor 5").wanted).toBeNull();
  });
});

describe("by address", () => {
  it.each([
    ["Solver", "/solvers", "solvers", "operator", "solver_id"],
    ["Attestor", "/attestors", "attestors", "operator", "attestor_id"],
    ["Merchant", "/merchants", "merchants", "owner", "merchant_id"],
    ["Facilitator", "/facilitators", "facilitators", "facilitator", "facilitator_id"],
  ])("finds the account and the %s", async (kind, path, key, column, idKey) => {
    const record = await first(`${path}?limit=1`, key);
    const listed = await search(String(record[column]).toUpperCase().replace("0X", "0x"));
    expect(listed).toContain("Account <code");
    expect(listed).toContain(`${kind} <code title="${record[idKey]}">`);
    expect(listed).toMatch(/is its (operator|owner|address)/);
  });

  it("finds agents by their owner, and only what is wanted", async () => {
    const agent = (await (await stage.get("/agents/1")).json()) as { owner: string };
    expect(await search(agent.owner)).toContain('Agent <code title="1">');
    const unused = `0x${"ab".repeat(20)}`;
    expect(await search(unused)).toMatch(/Account|^\/explorer\/accounts\//);
    expect(await search(`merchant ${unused}`)).toContain("No record of this kind");
  });
});

describe("by hash", () => {
  it("finds a transaction, a quote, a schema, a subject and a capability", async () => {
    const event = await first("/events?limit=1", "events");
    expect(await search(String(event.tx_hash))).toBe(`/explorer/transactions/${event.tx_hash}`);
    const receipt = await first("/receipts?limit=1", "receipts");
    expectFound(await search(String(receipt.quote_hash)), "Quote", "/quotes", String(receipt.quote_hash));
    const schema = await first("/attestations/schemas?limit=1", "schemas");
    expect(await search(String(schema.schema_hash))).toBe(`/explorer/schemas/${schema.schema_hash}`);
    const attestation = await first("/attestations?limit=1", "attestations");
    expectFound(
      await search(String(attestation.subject)),
      "Attestation",
      "/attestations",
      String(attestation.attestation_id),
    );
    const service = await first("/services?limit=1", "services");
    expect(await search(String(service.capability_hash))).toMatch(/Service <code|^\/explorer\/services\//);
  });

  it.each([
    ["/catalogs", "catalog_json", "catalog_hash"],
    ["/quote-requests", "quote_request_json", "request_hash"],
    ["/quote-responses", "quote_response_json", "response_hash"],
  ])("finds a document of %s", async (path, textKey, hashKey) => {
    const response = await fetch(stage.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ [textKey]: JSON.stringify({ path }) }),
    });
    const { [hashKey]: hash = "" } = (await response.json()) as Record<string, string>;
    expect(await search(hash)).toBe(`/explorer/documents/${hash}`);
  });

  it("says that nothing has it, at the block that is shown", async () => {
    expect(await search(`0x${"12".repeat(32)}`)).toContain("No transaction, quote, document");
    const event = await first("/events?type=IntentFilled&limit=1", "events");
    const before = Number(event.block_number) - 1;
    const response = await stage.get(`/explorer/search?q=${event.tx_hash}&block=${before}`);
    expect(await response.text()).toContain("at this block");
  });
});

describe("by name", () => {
  const dataUri = (name: string) => `data:application/json,${encodeURIComponent(JSON.stringify({ name }))}`;

  async function publish(text: string): Promise<string> {
    const response = await fetch(`${stage.url}/catalogs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ catalog_json: text }),
    });
    return ((await response.json()) as { catalog_hash: string }).catalog_hash;
  }

  it.each([
    ["merchants", "merchant_id", "metadata_hash", "/merchants"],
    ["services", "service_numeric_id", "metadata_hash", "/services"],
    ["facilitators", "facilitator_id", "metadata_hash", "/facilitators"],
    ["agents", "agent_id", "capabilities_hash", "/agents"],
  ])(
    "shows the name of the hosted document that a record of %s has the hash of, and finds it",
    async (table, id, column, path) => {
      const name = `Harbour <i>${table}`;
      const hash = await publish(JSON.stringify({ name, more: "x".repeat(50_000) }));
      const { rows } = await stage.database.query<{ id: string }>(
        `update ${table} set ${column} = stored_hex(${column}, '${hash}'), metadata_uri = 'ipfs://elsewhere' where valid_to is null and ${id} = (select max(${id}) from ${table}) returning ${id}::text as id`,
      );
      const record = rows[0]?.id ?? "";
      const shown = `<bdi class="foreign">Harbour &lt;i&gt;${table}</bdi>`;
      const read = async (page: string) => (await stage.get(`/explorer${page}`)).text();
      expect(await read(`/documents/${hash}`)).toContain(shown);
      const marked = `<span title="The name in the document whose hash this record has: anyone may have written it.">${shown}</span>`;
      for (const page of [`${path}/${record}`, path]) expect(await read(page), page).toContain(marked);
      const listed = await search(`hARBOUR <I>${table}`);
      expect(listed).toContain(`href="/explorer${path}/${record}"`);
      expect(listed).toContain(marked);
    },
  );

  it("opens no record because of a name, even if it is the only one, and lists it as third-party text", async () => {
    await stage.database.query({
      text: "update merchants set metadata_uri = $1 where valid_to is null and merchant_id = 1",
      values: [dataUri("Quay")],
    });
    const response = await stage.get("/explorer/search?q=quay");
    expect([response.status, response.headers.get("location")]).toEqual([200, null]);
    const listed = await response.text();
    expect(listed).toContain('<a href="/explorer/merchants/1">Merchant <code title="1">#1</code></a>');
    expect(listed).toContain('</a> <bdi class="foreign">Quay</bdi>');
  });

  it("lists the whole name first, then names that begin with the text", async () => {
    const names = ["x-quay-2", "quay-23", "Quay-2"];
    for (const [index, given] of names.entries())
      await stage.database.query({
        text: "update merchants set metadata_uri = $1 where merchant_id = $2",
        values: [dataUri(given), String(index + 1)],
      });
    const listed = await search("quay-2");
    const shown = [...listed.matchAll(/<bdi class="foreign">([^<]*quay[^<]*)<\/bdi><\/li>/gi)];
    expect(shown.map(([, given]) => given)).toEqual(["Quay-2", "quay-23", "x-quay-2"]);
  });

  it("finds the tokens and contracts of the deployment", async () => {
    for (const [text, kind, label] of [
      ["usdc", "Token", "USDC"],
      ["IntentBook", "Contract", "IntentBook"],
    ] as const) {
      const listed = await search(text);
      expect(listed).toMatch(
        new RegExp(`<li>${kind} <a [^>]*href="/explorer/accounts/0x[0-9a-f]{40}"><span[^>]*>${label}<`),
      );
      expect(listed).not.toContain("No name that was looked through");
    }
  });

  it("looks through five hundred of a kind for a name, says so, and leads on until all were looked through", async () => {
    await stage.database.query({
      text: `insert into agents select (jsonb_populate_record(a, jsonb_build_object('agent_id', 1000 + n, 'metadata_uri', $1::text))).*
        from (select a from agents a where valid_to is null limit 1) one(a), generate_series(1, 730) n`,
      values: [dataUri("One of many")],
    });
    await stage.database.query({
      text: "update agents set metadata_uri = $1 where agent_id = 1",
      values: [dataUri("Oldest of them")],
    });
    let path = "/explorer/search?q=oldest";
    for (let requests = 1; ; requests += 1) {
      const text = await (await stage.get(path)).text();
      if (text.includes("Oldest of them")) {
        expect(requests).toBe(2);
        expect(text).toContain('href="/explorer/agents/1"');
        break;
      }
      expect(text).toContain("There are more names: looked through those of 500 agents");
      const [, next = ""] = /rel="next" href="([^"]+)"/.exec(text) ?? [];
      path = next.replaceAll("&amp;", "&");
    }
    // Among the newest hundred a name that is exactly the text is enough; others follow it.
    await stage.database.query({
      text: "update agents set metadata_uri = $1 where agent_id = 1400",
      values: [dataUri("Many")],
    });
    const exact = await search("many");
    expect(/<bdi class="foreign">[^<]*<\/bdi><\/li>/.exec(exact)?.[0]).toBe(
      '<bdi class="foreign">Many</bdi></li>',
    );
    const many = await search("one of many");
    expect(many.match(/One of many/g)).toHaveLength(100);
    expect(many).toContain("Search the next ones");
  });

  it("rejects a position that is not of a search", async () => {
    expect((await stage.get("/explorer/search?q=name&from=x")).status).toBe(400);
    expect((await stage.get("/explorer/search?q=name&from=x.x.x.x.x.x")).status).toBe(400);
  });
});
