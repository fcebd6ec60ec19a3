// DuckDB computes from exported files exactly what the API responds at that block.
// Main covers a part: each type in src/export/parquet-file.test.ts.
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tables } from "../../src/protocol/domains.ts";
import { readRowsAsOf } from "../../src/store/index/as-of.ts";
import { openReadStage, type ReadStage } from "../api/api-stage.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { findFastFolder } from "../support/test-folder.ts";
import { hourlyVolumes, merchantFlows, payerFlows, RANKINGS, SUMMARY } from "./analytics-queries.ts";
import { type ExportQuery, exportInto, openDuckdb } from "./exported-folder.ts";

let stage: ReadStage;
let folder: string;
let query: ExportQuery;
let [startBlock, block] = [0, 0];

beforeAll(async () => {
  stage = await openReadStage();
  folder = await mkdtemp(join(findFastFolder(), "sextant-export-"));
  const { from, to } = await exportInto(folder, stage.database, { step: 64 });
  [startBlock, block] = [from, to - 1];
  query = await openDuckdb(folder);
}, SHARED_HISTORY_MS_MAX);

afterAll(async () => {
  await stage?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

type Volume = Readonly<Record<string, string>>;
type Analytics = Readonly<Record<string, readonly Volume[]>> & { readonly summary: Volume };

describe("DuckDB over the files", () => {
  it("computes GET /analytics/commerce from the files", async () => {
    const api = await stage.body<Analytics>(`/analytics/commerce?block=${block}`);
    expect(await query(SUMMARY)).toEqual([api.summary]);
    expect(Number(api.summary.receipts)).toBeGreaterThan(10);
    for (const [name, sql] of Object.entries(RANKINGS)) expect(await query(sql), name).toEqual(api[name]);
  });

  it("computes GET /analytics/volumes and /analytics/flows from the files", async () => {
    const { volume_by_token: byToken = [] } = await stage.body<Analytics>(
      `/analytics/commerce?block=${block}`,
    );
    expect(byToken.length).toBeGreaterThan(0);
    for (const { token = "" } of byToken) {
      const path = `token=${token}&block=${block}`;
      const series = await stage.body<{ from: string; to: string; volumes: Volume[] }>(
        `/analytics/volumes?interval=hour&${path}`,
      );
      expect(await query(hourlyVolumes(token, series.from, series.to))).toEqual(series.volumes);
      const flows = await stage.body<Analytics>(`/analytics/flows?${path}`);
      const named = (list: readonly Volume[] = []) =>
        list.filter(({ merchant_id, agent }) => merchant_id !== null && agent !== null);
      expect(await query(merchantFlows(token))).toEqual(named(flows.merchants));
      expect(await query(payerFlows(token))).toEqual(named(flows.payers));
    }
  });

  it("reads the rows of every table with history from the files, at every block", async () => {
    const exported = tables.filter(({ history }) => history === "full");
    let compared = 0;
    for (const at of [block, Math.floor((block + startBlock) / 2), startBlock + 5]) {
      for (const table of exported) {
        const columns = Object.keys(table.columns);
        const rows = await stage.database.transaction(async (session) => {
          const all = [];
          for await (const page of readRowsAsOf(session, table, { block: at, count: 0, sample: null }))
            all.push(...page);
          return all;
        });
        const expected = rows.map((row) => columns.map((name) => toText(row[name])).join(" "));
        const found = await query<Record<string, unknown>>(
          `select ${columns.join(", ")} from ${table.name}_at(${at})`,
        );
        const shown = found.map((row) => columns.map((name) => toText(row[name])).join(" "));
        expect(shown.sort(), `${table.name} at ${at}`).toEqual(expected.sort());
        compared += shown.length;
      }
    }
    expect(compared).toBeGreaterThan(500);
  });

  it("reads every log with its decoded event, and every block with logs", async () => {
    const stored = await stage.rows(
      `select count(*)::text as logs, count(distinct block_number)::text as blocks from logs where block_number <= ${block}`,
    );
    const found = await query(
      "select (select count(*) from logs)::varchar as logs, (select count(*) from blocks)::varchar as blocks",
    );
    expect(found).toEqual(stored);
    const events = await query<{ args: string; block_time: string }>(
      "select args, block_time from logs where event = 'ReceiptRecorded' order by block_number, log_index",
    );
    const receipts = await query("select receipt_id, amount from receipts order by receipt_id::bignum");
    const decoded = events.map(({ args }) => JSON.parse(args));
    expect(decoded.map(({ receiptId, amount }) => ({ receipt_id: receiptId, amount }))).toEqual(receipts);
    expect(receipts.length).toBeGreaterThan(10);
    expect(events[0]?.block_time).toMatch(/^2\d{3}-\d\d-\d\d \d\d:\d\d:\d\d/);
  });
});

function toText(value: unknown): string {
  return value === null ? "null" : String(value);
}
