// The explanation of a transaction with very many events has a size limit and says how many events it omits.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { transactionReads } from "../../src/protocol/reads/transactions.ts";
import { createRowIndexes } from "../../src/store/index/row-tables.ts";
import type { Session } from "../../src/store/postgres/session.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { type EmptyIndex, openEmptyIndex } from "../support/index/empty-index.ts";
import {
  encodeProtocolLog,
  MEMORY_DEPLOYMENT,
  repeatAddressByte,
  repeatHashByte,
} from "../support/index/memory-index.ts";
import { measureStatementCost } from "../support/index/statement-cost.ts";

const LOGS = 5_000;
const BYTES_MAX = 512 * 1024;

let index: EmptyIndex;
let api: TestApi;

beforeAll(async () => {
  index = await openEmptyIndex();
  api = await startTestApi(index.database);
  await index.database.query({
    text: "update deployment set contracts = $1",
    values: [JSON.stringify(MEMORY_DEPLOYMENT.contracts)],
  });
  await index.database.query(
    "insert into blocks (number, hash, timestamp, log_count) values (5, '\\x05', 1700000000, 1)",
  );
});
afterAll(async () => {
  await api?.close();
  await index?.drop();
});

async function explained(hash: string, count: number) {
  const args = { intentId: 7n, owner: repeatAddressByte("aa"), nonce: 1n };
  const { address, topics, data } = encodeProtocolLog("IntentBook", "IntentSubmitted", args, {
    block: 5,
    index: 0,
  });
  const bytes = [hash, address, `0x${topics.map((topic) => topic.slice(2)).join("")}`, data];
  await index.database.query("delete from logs");
  await index.database.query({
    text: `insert into logs (block_number, log_index, tx_index, tx_hash, address, topics, data)
           select 5, n, 0, decode($1, 'hex'), decode($2, 'hex'), decode($3, 'hex'), decode($4, 'hex') from generate_series(0, $5::int - 1) n`,
    values: [...bytes.map((each) => each.slice(2)), count],
  });
  const response = await fetch(`${api.url}/tx/${hash}/explain`);
  const text = await response.text();
  expect(response.status).toBe(200);
  return { size: text.length, body: JSON.parse(text) as { summary: string; events: unknown[] } };
}

describe("an explanation", () => {
  it.each([
    ["made now", (session: Session) => createRowIndexes(session, [])],
    [
      "of whole hashes",
      (session: Session) => session.query("create index logs_by_tx_hash on logs (tx_hash)"),
    ],
  ])("finds its transaction by the index %s, and no other one with the same first bytes", async (_, make) => {
    const hash = repeatHashByte("0c");
    await explained(hash, 3);
    await index.database.query("drop index logs_by_tx_hash");
    await index.database.query(
      `insert into logs select 5, 10 + n, 0, decode('0c0c0c0c0c0c0c' || lpad(to_hex(n), 50, '0'), 'hex'), address, topics, data
       from logs, generate_series(1, 5) n where log_index = 0`,
    );
    await index.database.query(
      `insert into logs select 5, 100 + n, 0, sha256(n::text::bytea), address, topics, data
       from logs, generate_series(1, 20000) n where log_index = 0`,
    );
    await index.database.transaction(async (session) => void (await make(session)));
    const [read] = transactionReads;
    const plan = read?.plan({ values: { hash }, asOf: null, provenance: false, requirements: false });
    if (!plan) throw new Error("there is no such read");
    for (const prepare of ["select 1", "analyze logs"]) {
      await index.database.query(prepare);
      const cost = await measureStatementCost(index.database, plan.sql, ["logs"]);
      expect([prepare, cost.scanned, cost.removed <= 5, cost.pages < 40]).toEqual([prepare, [], true, true]);
    }
    const response = await fetch(`${api.url}/tx/${hash}/explain`);
    expect(((await response.json()) as { events: unknown[] }).events).toHaveLength(3);
  });

  it("explains every event of a transaction if all fit", async () => {
    const { body } = await explained(repeatHashByte("01"), 100);
    expect(body.events).toHaveLength(100);
    expect(body.summary).toMatch(/^Transaction contained 100 event\(s\): /);
  });

  it("omits the last events of an explanation beyond its limit and says how many", async () => {
    const { size, body } = await explained(repeatHashByte("02"), LOGS);
    expect(size).toBeLessThanOrEqual(BYTES_MAX);
    expect(size).toBeGreaterThan(BYTES_MAX * 0.9);
    const left = LOGS - body.events.length;
    expect(body.summary).toContain(`the first ${body.events.length} event(s): `);
    expect(body.summary).toMatch(new RegExp(`The ${left} log\\(s\\) after them are left out`));
  });
});
