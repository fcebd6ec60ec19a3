// Pages of records that are older than the logs that one request looks through: their newest events are still there.
// Fast tests of the same rules on a short history: requests in page-requests.test.ts, the life of a receipt in commerce.test.ts.
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { ApiReader } from "../../src/explorer/api-reader.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { type ExplorerStage, findExamplePaths, openExplorerStage } from "./explorer-stage.ts";

// More than the requests of a page look through, from either end.
const OTHER_LOGS = 6_000;

let stage: ExplorerStage;

beforeAll(async () => {
  stage = await openExplorerStage();
  // The middle of the history has as many logs of other contracts as a long history has events of others.
  const { rows } = await stage.database.query<{ block_number: string }>(
    "select block_number from logs order by block_number, log_index offset (select count(*) / 2 from logs) limit 1",
  );
  await stage.database.query(
    `insert into logs select ${rows[0]?.block_number}, 1000000 + i, 0, '\\x00', '\\x00', decode(repeat('0a', 32), 'hex'), '\\x00'
     from generate_series(1, ${OTHER_LOGS}) i`,
  );
}, SHARED_HISTORY_MS_MAX);
afterAll(() => stage?.close());

async function open(path: string): Promise<string> {
  const response = await stage.get(path);
  expect(response.status, path).toBe(200);
  return (await response.text()).replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
}

async function readEvents(filter: string): Promise<number> {
  let count = 0;
  for (let from = "genesis"; ; ) {
    const page = (await (await stage.get(`/events?${filter}&from=${from}`)).json()) as {
      events: unknown[];
      has_more: boolean;
      progress: { cursor: string };
    };
    count += page.events.length;
    if (!page.has_more) return count;
    from = page.progress.cursor;
  }
}

/** The rows of a page of events and of all that it leads to. */
async function countRows(first: string): Promise<number> {
  let rows = 0;
  for (let path: string | undefined = first; path !== undefined; ) {
    const markup: string = await (await stage.get(path.replaceAll("&amp;", "&"))).text();
    rows += markup.match(/<span class="sentence">/g)?.length ?? 0;
    path = /<a rel="next" href="([^"]*)">Older →/.exec(markup)?.[1];
  }
  return rows;
}

async function read(path: string) {
  return (await (await stage.get(path)).json()) as Record<string, Record<string, string>[]>;
}

it("ends the history of a solver's bond with the bond that the page shows", async () => {
  let changed = 0;
  for (const { solver_id } of (await read("/solvers?limit=100")).solvers ?? []) {
    const text = await open(`/explorer/solvers/${solver_id}`);
    const [, bond] = /Bond ([\d,.…]+ \w+) (?:locked|may be)/.exec(text) ?? [];
    const [, newest] = /Bond after it [\d,]+ .*?UTC (?:–|[+-] ?[\d,.…]+ \w+) ([\d,.…]+ \w+)/.exec(text) ?? [];
    if (newest === undefined) expect(text).toMatch(/No change of the bond since block [\d,]+/);
    else expect(newest, text).toBe(bond);
    changed += newest === undefined ? 0 : 1;
  }
  expect(changed).toBeGreaterThan(0);
});

it("has the newest events of a record in its history", async () => {
  let checked = 0;
  for (const kind of ["merchant", "service"]) {
    for (const record of (await read(`/${kind}s?limit=20`))[`${kind}s`] ?? []) {
      const id = record[`${kind}_id`] ?? record.service_numeric_id;
      const [newest] = (await read(`/events?${kind}=${id}&order=desc&limit=1`)).events ?? [];
      if (newest === undefined) continue;
      const text = await open(`/explorer/${kind}s/${id}`);
      const history = text.slice(text.lastIndexOf(" History "));
      expect(history, text).toMatch(new RegExp(` What happened Transaction ${newest.block_number} `));
      checked += 1;
    }
  }
  expect(checked).toBeGreaterThan(2);
});

it("leads from every record whose events it does not show to pages that have all of them", async () => {
  let followed = 0;
  for (const kind of ["merchant", "service"]) {
    for (const record of (await read(`/${kind}s?limit=5`))[`${kind}s`] ?? []) {
      const id = record[`${kind}_id`] ?? record.service_numeric_id ?? "";
      const markup = await (await stage.get(`/explorer/${kind}s/${id}`)).text();
      const [, link] =
        /<a href="([^"]*)">(?:All (?:\d+ )?events →|read them in pages)<\/a>/.exec(markup) ?? [];
      if (link === undefined) continue;
      expect(link).toContain(`${kind}=${id}`);
      const all = await readEvents(`${kind}=${id}`);
      // A link below events that are shown begins with the newest, and a notice with what is older.
      const isWhole = !link.includes("from=");
      const rows = await countRows(link);
      if (isWhole) expect([kind, id, rows]).toEqual([kind, id, all]);
      else expect(rows).toBeLessThanOrEqual(all);
      followed += 1;
    }
  }
  expect(followed).toBeGreaterThan(2);
});

it("says that events are missing only of a receipt whose state the others do not explain", async () => {
  const { disputes = [] } = await read("/disputes?limit=100");
  const disputed = new Set(disputes.map(({ receipt_id }) => receipt_id));
  const { receipts = [] } = await read("/receipts?limit=100");
  for (const { receipt_id, fulfillment_hash } of receipts) {
    const text = await open(`/explorer/receipts/${receipt_id}`);
    const isNoted = text.includes("may be missing here");
    if (fulfillment_hash === null && !disputed.has(receipt_id)) expect(isNoted, text).toBe(false);
    const life = text.slice(text.lastIndexOf(" Life "));
    if (fulfillment_hash !== null && !isNoted) expect(life).toContain(" Fulfilled ");
  }
  expect(receipts.length).toBeGreaterThan(disputed.size);
});

it("reads pages of a long history with at most five requests", async () => {
  const requests = vi.spyOn(ApiReader.prototype, "countRequest");
  const costly: string[] = [];
  for (const { path } of await findExamplePaths(stage.url)) {
    requests.mockClear();
    expect((await stage.get(path)).status, path).toBeLessThan(400);
    if (requests.mock.calls.length > 5) costly.push(`${path}: ${requests.mock.calls.length}`);
  }
  expect(costly).toEqual([]);
});
