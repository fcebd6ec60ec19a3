// Pages of transactions, events, documents, trust and integrity show what the API has, and say what is unknown.
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { ApiReader } from "../../src/explorer/api-reader.ts";
import { Fault } from "../../src/lib/fault.ts";
import { formatMoment } from "../../src/lib/moment.ts";
import { PinLostFault } from "../../src/schema/reads/read.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { type ExplorerStage, openExplorerStage } from "./explorer-stage.ts";
import { parsePage } from "./well-formed.ts";

let stage: ExplorerStage;

beforeAll(async () => {
  stage = await openExplorerStage();
}, SHARED_HISTORY_MS_MAX);
afterAll(() => stage?.close());

type Body = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

const read = async (path: string) => (await (await stage.get(path)).json()) as Body;

async function open(path: string, status = 200): Promise<string> {
  const response = await stage.get(path);
  const text = await response.text();
  expect(response.status, path).toBe(status);
  parsePage(text);
  return text;
}

/** The text that a reader sees, in one line. */
const textOf = (markup: string) =>
  markup
    .replace(/<(script|style)[\s\S]*?<\/\1>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");

describe("a transaction", () => {
  it("a transaction shows the sentence of every event, and the rows before and after each", async () => {
    const [event] = (await read("/events?type=IntentFilled&limit=1&include=rows")).events ?? [];
    const text = textOf(await open(`/explorer/transactions/${event?.tx_hash}`));
    expect(text).toMatch(
      /Intent #\d+ filled by solver \S+ : [\d,.…]+ (USDC|WETH) in, [\d,.…]+ (USDC|WETH) out/,
    );
    expect(text).toMatch(/Amount in [\d,.…]+ (USDC|WETH) Amount out [\d,.…]+ (USDC|WETH)/);
    expect(text).toContain("Intents intent id");
    expect(text).toMatch(/Status Open Filled/);
    expect(text).toMatch(/Fills intent id #\d+ created/);
    expect(text).toMatch(/Latency seconds [\d,]+ (s|min|h|days) Surplus out [\d,.…]+ (USDC|WETH)/);
    // The row of the solver also sums what it paid out in different tokens, which says nothing.
    expect(text).toMatch(/Latency seconds total [\d,]+ (s|min|h|days) [\d,]+ (s|min|h|days)/);
    expect(text).not.toContain("Surplus out total");
    const { events = [] } = await read(`/tx/${event?.tx_hash}/explain`);
    expect(text.match(/Rows before and after/g)).toHaveLength(events.length);
  });

  it("shows only fields that have changed", async () => {
    const [event] = (await read("/events?type=SolverBidSelected&limit=1")).events ?? [];
    const text = textOf(await open(`/explorer/transactions/${event?.tx_hash}`));
    expect(text).toMatch(/Selected bid id – \d+/);
    expect(text).not.toContain("Amount in max");
  });

  it("shows transactions with every kind of event", async () => {
    const { events = [] } = await read("/events?limit=1000");
    const types = new Set(events.map(({ type }) => type));
    expect(types.size).toBeGreaterThan(25);
    // Transactions with several kinds first, so that few show them all.
    const typesIn = new Map<unknown, Set<unknown>>();
    for (const { tx_hash, type } of events) {
      typesIn.set(tx_hash, (typesIn.get(tx_hash) ?? new Set()).add(type));
    }
    for (const [hash, inside] of [...typesIn].sort(([, a], [, b]) => b.size - a.size)) {
      const isNew = [...inside].map((type) => types.delete(type)).includes(true);
      if (isNew) await open(`/explorer/transactions/${hash}`);
    }
    expect([...types]).toEqual([]);
  }, 120_000);

  it("says that it is not known, or not yet at a block", async () => {
    const unknown = `0x${"ab".repeat(32)}`;
    expect(await open(`/explorer/transactions/${unknown}`, 404)).toContain(
      "No indexed transaction has this hash.",
    );
    expect(await open("/explorer/transactions/0x12", 400)).toContain("hash must be");
    const [event] = (await read("/events?type=IntentFilled&limit=1")).events ?? [];
    const before = Number(event?.block_number) - 1;
    await open(`/explorer/transactions/${event?.tx_hash}?block=${before}`, 404);
    await open(`/explorer/transactions/${event?.tx_hash}?block=${event?.block_number}`);
  });
});

describe("an attestation", () => {
  it("shows when it was made and revoked, as of the block", async () => {
    const [event] = (await read("/events?type=AttestationRevoked&limit=1")).events ?? [];
    const { id = "" } = { ...(event?.args as Readonly<Record<string, string>> | undefined) };
    const text = textOf(await open(`/explorer/attestations/${id}`));
    expect(text).toMatch(/Made .* Revoked /);
    expect(text).not.toContain("may revoke it");
    const before = textOf(
      await open(`/explorer/attestations/${id}?block=${Number(event?.block_number) - 1}`),
    );
    expect(before).toContain("may revoke it");
    expect(before).toContain(`Attestation #${id} Active`);
  });
});

describe("a solver", () => {
  it("lists its own bids alone, and marks as selected those that still are", async () => {
    let replaced = 0;
    const bidsOf = new Map<string | undefined, Body[string]>();
    for (const { solver_id, operator } of (await read("/solvers?limit=100")).solvers ?? []) {
      const text = await open(`/explorer/solvers/${solver_id}`);
      for (const row of text.slice(text.indexOf('id="newest-bids"')).split("<tr").slice(2)) {
        const [, intent] = /\/intents\/(\d+)"/.exec(row) ?? [];
        const [, bid] = /data-label="Bid".*?#(\d+)/.exec(row) ?? [];
        const bids = bidsOf.get(intent) ?? (await read(`/intents/${intent}/bids?limit=100`)).bids ?? [];
        bidsOf.set(intent, bids);
        const found = bids.find(({ bid_id }) => bid_id === `${intent}-${bid}`);
        expect(found?.solver, row).toBe(operator);
        expect(row.includes("· selected"), `${intent}-${bid}`).toBe(found?.status === "SELECTED");
        if (row.includes("· was selected")) replaced += 1;
      }
    }
    expect(replaced).toBeGreaterThan(0);
  });
});

describe("an attestor", () => {
  it("an attestor shows the counts of the API", async () => {
    const { attestors = [] } = await read("/attestors?limit=100");
    for (const { attestor_id, attestations, revoked_attestations } of attestors.slice(0, 3)) {
      const text = textOf(await open(`/explorer/attestors/${attestor_id}`));
      expect(text).toContain(`Attestations made ${attestations}`);
      expect(text).toContain(`Revoked ${revoked_attestations}`);
    }
  });
});

describe("a schema", () => {
  const publish = async (body: object) => {
    const response = await fetch(`${stage.url}/attestations/schemas`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(201);
    return (await response.json()) as { schema_hash: string };
  };

  it("says whether its hash is that of its text, which may be hostile", async () => {
    const name = '\u202e<script>alert("x")</script>';
    const json_schema = { type: "object", description: `${name}</pre>` };
    const own = await publish({ name: `own ${name}`, json_schema });
    const page = await open(`/explorer/schemas/${own.schema_hash}`);
    expect(page).toContain(">matches<");
    expect(page).not.toMatch(/\u202e|<script>alert/);
    const chosen = `0x${"cd".repeat(32)}`;
    await publish({ name: "chosen", schema_hash: chosen, json_schema });
    expect(await open(`/explorer/schemas/${chosen}`)).toContain("chosen by its publisher");
    expect(await open("/explorer/schemas")).toContain("own ");
  });

  it("leaves the list of schemas readable if one of them looks like a mention of a record", async () => {
    for (const [index, id] of ["x", "9".repeat(78), "1"].entries()) {
      const json_schema = { type: "object", record: "agent", id };
      await publish({ name: `mention ${index}`, json_schema });
    }
    expect(await open("/explorer/schemas")).toContain("mention 2");
  });

  it("the page of an unpublished schema says that it is not published", async () => {
    expect(await open(`/explorer/schemas/0x${"ef".repeat(32)}`)).toContain("No schema is published");
  });
});

describe("a document", () => {
  const publish = async (path: string, body: object) => {
    const response = await fetch(stage.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(201);
    return (await response.json()) as Readonly<Record<string, string>>;
  };

  it("shows a document as it was written, with its hash checked, whatever it says", async () => {
    const hostile =
      '{"a":"<script>alert(1)</script>\u202e","a":1.50,"deep":[[[{}]]],"n":123456789012345678901}';
    const { catalog_hash } = await publish("/catalogs", { catalog_json: hostile, merchant_id: "1" });
    const markup = await open(`/explorer/documents/${catalog_hash}`);
    expect(markup).not.toMatch(/<script>alert|\u202e/);
    const text = textOf(markup);
    expect(text).toContain("matches");
    expect(text).toContain("keccak256 of its bytes");
    expect(text).toContain(`Size ${Buffer.byteLength(hostile)} bytes`);
    expect(text).toContain("Depth 5");
    expect(text).toMatch(/1\.50|123456789012345678901/);
    expect(markup).toContain(`href="/catalogs/${catalog_hash}"`);
    expect(text).toContain("Merchant #1");
    expect(text).toContain("None of the records");
  });

  it("says which record on the chain names it", async () => {
    const { catalog_hash } = await publish("/catalogs", { catalog_json: '{"is":"named"}', merchant_id: "2" });
    await stage.database.query({
      text: "update merchants set metadata_hash = stored_hex(metadata_hash, $1) where merchant_id = 2",
      values: [catalog_hash ?? null],
    });
    const text = textOf(await open(`/explorer/documents/${catalog_hash}`));
    expect(text).toContain("Merchant #2 as metadata hash");
  });

  it("stays small on the page if it is large", async () => {
    const catalog_json = JSON.stringify({ items: Array.from({ length: 9_000 }, (_, id) => `item ${id}`) });
    const { catalog_hash } = await publish("/catalogs", { catalog_json });
    const markup = await open(`/explorer/documents/${catalog_hash}`);
    expect(markup.length).toBeLessThan(150_000);
    expect(textOf(markup)).toContain("The document is longer than this page shows.");
  });

  it("says that it is not hosted", async () => {
    const text = await open(`/explorer/documents/0x${"12".repeat(32)}`, 404);
    expect(text).toContain("No document is hosted here under this hash.");
  });
});

describe("the names of mentioned records", () => {
  it("a name that cannot be read fails no page that mentions it, and a reorg makes the page read again", async () => {
    const findRecord = vi.spyOn(ApiReader.prototype, "findRecord");
    onTestFinished(() => findRecord.mockRestore());
    findRecord.mockRejectedValue(new Fault("TIMED_OUT", "The names took too long."));
    expect(textOf(await open(`/explorer/events?block=${stage.head - 1}`))).toContain("registered by");
    const before = findRecord.mock.calls.length;
    expect(before).toBeGreaterThan(0);
    findRecord.mockRejectedValue(new PinLostFault());
    await open(`/explorer/events?block=${stage.head - 2}`, 503);
    expect(findRecord.mock.calls.length).toBeGreaterThan(2 * before);
  });
});

describe("the list of events", () => {
  const blocksOf = (markup: string) =>
    [
      ...markup.matchAll(
        /data-label="Block"><div class="cell"><a class="record" href="\/explorer\/blocks\/(\d+)/g,
      ),
    ].map(([, number]) => Number(number));
  const nextOf = (markup: string) => /rel="next" href="([^"]+)"/.exec(markup)?.[1]?.replaceAll("&amp;", "&");

  it("lists all events, newest first, over as many pages as it takes", async () => {
    // As of a block with a few pages of events before it: more pages say nothing more.
    const all = (await read("/events?limit=1000")).events ?? [];
    const blocks = all.map(({ block_number }) => Number(block_number));
    const last = blocks[250] ?? 0;
    const shown: number[] = [];
    let pages = 0;
    for (let path: string | undefined = `/explorer/events?block=${last}`; path !== undefined; pages += 1) {
      const markup: string = await open(path);
      shown.push(...blocksOf(markup));
      path = nextOf(markup);
    }
    expect(pages).toBeGreaterThanOrEqual(3);
    expect(shown).toEqual(blocks.filter((number) => number <= last).reverse());
  });

  it("lists the events that a filter finds newest first, or in the order of the chain", async () => {
    const { events = [] } = await read("/events?type=IntentFilled&limit=1000");
    const blocks = events.map(({ block_number }) => Number(block_number));
    const newest = await open("/explorer/events?type=IntentFilled");
    expect(blocksOf(newest)).toEqual(blocks.toReversed().slice(0, 100));
    expect(newest).toContain('href="/explorer/events?type=IntentFilled&amp;order=asc">Oldest first</a>');
    expect(newest).toMatch(
      /aria-sort="descending"><a href="\/explorer\/events\?type=IntentFilled&amp;order=asc"[^>]*>Block/,
    );
    const oldest = await open("/explorer/events?type=IntentFilled&order=asc");
    expect(blocksOf(oldest)).toEqual(blocks.slice(0, 100));
    expect(oldest).toContain('href="/explorer/events?type=IntentFilled">Newest first</a>');
    expect(oldest).toMatch(
      /aria-sort="ascending"><a href="\/explorer\/events\?type=IntentFilled"[^>]*>Block/,
    );
    expect(await open("/explorer/events?type=Strange", 400)).toContain("There is no such choice");
    expect(await open("/explorer/events?from=%3Cscript%3E", 400)).toContain("from must be a cursor");
  });

  it("begins a list of events with a time, and shows the time that led to its block", async () => {
    const { events = [] } = await read("/events?limit=1000");
    const { block_timestamp } = events[Math.floor(events.length / 2)] ?? {};
    const time = formatMoment(Number(block_timestamp));
    const [first = 0] = blocksOf(await open(`/explorer/events?from=${time}`));
    const found = events.find(({ block_number }) => Number(block_number) === first);
    expect(found?.block_timestamp).toBe(block_timestamp);
    expect(await open("/explorer/events?from=2026-13-01", 400)).toContain("from must be a time such as");
    const { headers } = await stage.get(`/explorer/events?at=${time}`);
    const shown = await open(headers.get("location") ?? "");
    expect(shown).toContain(`name="at" value="${time}"`);
    expect(Math.max(...blocksOf(shown))).toBeLessThanOrEqual(Number(first));
  });

  it("the list of events stops at the block that is shown", async () => {
    const middle = Math.floor(stage.head / 2);
    const shown = blocksOf(await open(`/explorer/events?block=${middle}`));
    expect(shown.length).toBeGreaterThan(0);
    expect(Math.max(...shown)).toBeLessThanOrEqual(middle);
  });

  it("the page of a block lists the events of that block alone", async () => {
    const { events = [] } = await read("/events?limit=1000");
    const number = Number(events[40]?.block_number);
    const inBlock = events.filter(({ block_number }) => Number(block_number) === number).length;
    const markup = await open(`/explorer/blocks/${number}`);
    expect(blocksOf(markup)).toEqual(Array.from({ length: inBlock }, () => number));
    expect(textOf(await open(`/explorer/blocks/${number}?block=${number - 1}`))).toContain(
      "It comes after the block that this page shows.",
    );
    await open(`/explorer/blocks/${stage.head + 1}`, 400);
    await open("/explorer/blocks/x", 400);
  });
});

describe("integrity", () => {
  it("shows what was recorded at once, and warns if an audit differs", async () => {
    const before = textOf(await open("/explorer/integrity"));
    expect(before).toContain("No indexer has reported yet");
    expect(before).toContain("No reorg is recorded.");
    await stage.database.query(
      `insert into reorgs values (7, 5, '\\x01', 9, '\\x02', 4, 12), (8, 6, '\\x03', 7, '\\x04', 1, 12)`,
    );
    const head = { number: stage.head + 3, hash: "0x01", timestamp: 2_000_000_000 };
    await stage.database.query({
      text: "insert into indexer_status (status, reported_at) values ($1::jsonb, now())",
      values: [JSON.stringify({ phase: "live", reason: null, head, headSeenAt: 1_900_000_000 })],
    });
    const text = textOf(await open("/explorer/integrity"));
    expect(text).toContain("Blocks behind the chain 3");
    expect(text).toContain(`Head of the chain ${(stage.head + 3).toLocaleString("en-US")} Seen`);
    expect(text).toContain("Reorgs 8 deepest: 12 blocks");
    expect(text).toContain("2030-03-17 17:46:40 UTC");
    expect(text).toMatch(/sextant\.mjs audit --block \d+/);
    await stage.database.query(
      "insert into audits values ('self', 'blocks', 1, null, 10, 10, 1, 'block 3 <b>lacks</b> a log', '1.0.0')",
    );
    const markup = await open("/explorer/integrity");
    expect(markup).toContain("block 3 &lt;b&gt;lacks&lt;/b&gt; a log");
    expect(textOf(markup)).toContain("The last audit found 1 difference between");
  });

  it("names no head of the chain before the block that is indexed", async () => {
    // The report of an indexer may be older than what it has written since.
    const head = { number: stage.head - 2, hash: "0x01", timestamp: 1_900_000_000 };
    await stage.database.query({
      text: "update indexer_status set reported_at = now(), status = $1::jsonb",
      values: [JSON.stringify({ phase: "live", reason: null, head, headSeenAt: 1_900_000_000 })],
    });
    const text = textOf(await open("/explorer/integrity"));
    expect(text).toContain(`Head of the chain ${stage.head.toLocaleString("en-US")} Seen`);
    // The time of that block, and not of the one in the report.
    expect(text).not.toContain("Time of that block 2030");
  });

  it("warns first if the indexer no longer reports, and knows no lag then", async () => {
    const head = { number: stage.head, hash: "0x01", timestamp: 1_900_000_000 };
    const reportBefore = async (seconds: number) => {
      await stage.database.query({
        text: `insert into indexer_status (status, reported_at) values ($1::jsonb, now() - make_interval(secs => $2))
               on conflict (only_row) do update set status = excluded.status, reported_at = excluded.reported_at`,
        values: [JSON.stringify({ phase: "live", reason: null, head, headSeenAt: 1_900_000_000 }), seconds],
      });
      return (await (await stage.get("/integrity")).json()) as Readonly<Record<string, unknown>>;
    };
    expect(await reportBefore(20)).toMatchObject({ indexer: { is_reporting: true }, lag: { blocks: "0" } });
    expect(textOf(await open("/explorer/integrity"))).not.toContain("has not reported");
    const silent = await reportBefore(3 * 86_400);
    expect(silent).toMatchObject({ indexer: { is_reporting: false }, lag: { blocks: null, seconds: null } });
    const markup = await open("/explorer/integrity");
    const [first = ""] = /<p class="notice[\s\S]*?<\/p>/.exec(markup) ?? [];
    expect(first).toContain("notice warn");
    const { reported_at } = silent.indexer as { readonly reported_at: string };
    const since = `${reported_at.slice(0, 19).replace("T", " ")} UTC`;
    expect(textOf(first)).toContain(`The indexer has not reported since ${since}`);
    expect(textOf(markup)).toContain("Blocks behind the chain –");
    expect(textOf(markup)).toContain("Indexer Not reporting");
  });
});
