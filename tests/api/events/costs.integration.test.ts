// The cost of a page of events does not depend on how long the history is, nor on what the cursor or the filter says.
// Long histories: no test of main sees the plans.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EventStart } from "../../../src/api/events/event-page.ts";
import { createEventReader } from "../../../src/api/events/read-events.ts";
import { tables } from "../../../src/protocol/domains.ts";
import {
  EVENT_SUBJECTS,
  EventLinks,
  type EventSubject,
  selectLinks,
} from "../../../src/protocol/event-filter.ts";
import type { RunRead } from "../../../src/schema/reads/read.ts";
import { openPipelinedReader } from "../../../src/store/fast/pipelined-reader.ts";
import { selectBlockLogs } from "../../../src/store/index/block-rows.ts";
import {
  END_OF_BLOCK,
  type EventLogsQuery,
  FINALITIES,
  selectAncestor,
  selectEventLogs,
} from "../../../src/store/index/event-logs.ts";
import { readDeploymentIdentity } from "../../../src/store/index/prepare.ts";
import { openIndexReader } from "../../../src/store/index/reader.ts";
import { createRowIndexes, createRowTables } from "../../../src/store/index/row-tables.ts";
import { SHARED_HISTORY_MS_MAX } from "../../support/index/simulated-history.ts";
import { measureStatementCost } from "../../support/index/statement-cost.ts";
import { openTestDatabase } from "../../support/index/test-index.ts";
import { isFullDepth } from "../../support/test-depth.ts";
import { openReadStage, type ReadStage } from "../api-stage.ts";

// Four logs each: a million of them at full depth.
const LOG_BLOCKS = isFullDepth() ? 250_000 : 5_000;
const MIDDLE = LOG_BLOCKS / 2;
const ABANDONED = 5_000;
const CHAIN_TABLES = ["logs", "blocks", "abandoned_blocks"];
const NOW = 1_800_000_000;
const BLOCK_MAX = 2 ** 48 - 1;
const HASH = `0x${"1".padStart(64, "0")}` as const;
const OTHER_TOPIC = `0x${"0c".repeat(32)}` as const;
const FILL_MS_MAX = 180_000;

let opened: Awaited<ReturnType<typeof openTestDatabase>>;

beforeAll(async () => {
  opened = await openTestDatabase();
  const { database } = opened;
  const fill = (text: string) =>
    database.transaction((session) => session.query(text), { statementTimeoutMs: FILL_MS_MAX });
  await database.transaction(async (session) => {
    await createRowTables(session, tables);
    await createRowIndexes(session, tables);
  });
  await fill(`insert into checkpoint values (true, ${LOG_BLOCKS}, '\\x01', ${NOW}, ${LOG_BLOCKS})`);
  await fill("insert into deployment values (true, 1, 1, '{}')");
  await fill(`insert into blocks select n, '\\x01', ${NOW}, 4 from generate_series(1, ${LOG_BLOCKS}) n`);
  await fill(
    `insert into logs select i / 4 + 1, i % 4, 0, '\\x00', '\\x00', decode(repeat('0a', 32), 'hex'), decode(repeat('0b', 200), 'hex')
     from generate_series(0, ${LOG_BLOCKS * 4 - 1}) i`,
  );
  await fill(
    `insert into abandoned_blocks select decode(lpad(to_hex(i), 64, '0'), 'hex'), i, i - 1, decode(lpad(to_hex(i - 1), 64, '0'), 'hex')
     from generate_series(1, ${ABANDONED}) i`,
  );
}, FILL_MS_MAX);
afterAll(() => opened?.drop());

describe.each([
  // As right after the first indexing, before anything has collected statistics.
  ["without statistics", "select 1"],
  ["with statistics", "analyze"],
])("a page of events, %s", (_title, statement) => {
  const QUERY: EventLogsQuery = {
    position: { block: MIDDLE, hash: HASH, logIndex: 2 },
    before: null,
    lastLogBlock: MIDDLE - 1,
    quietSince: MIDDLE - 1,
    finality: "instant",
    topics0: null,
    logsMax: 100,
  };
  /** For every log and its block a page of the table, and one of each level of its index. */
  const pagesOf = (logs: number) => 100 + 5 * logs;

  beforeAll(async () => {
    await opened.database.query(statement);
  }, FILL_MS_MAX);

  it.each<[string, Partial<EventLogsQuery>]>([
    ["from the middle", {}],
    ["of final events", { finality: "finalized" }],
    ["of safe events", { finality: "safe" }],
    [
      "from genesis",
      { position: { block: -1, hash: null, logIndex: END_OF_BLOCK }, lastLogBlock: null, quietSince: -1 },
    ],
    ["of a type that there is not", { topics0: [OTHER_TOPIC], logsMax: 1_000 }],
    ["of no type at all", { topics0: [], logsMax: 1_000 }],
    [
      "at the head",
      { position: { block: LOG_BLOCKS, hash: HASH, logIndex: END_OF_BLOCK }, quietSince: LOG_BLOCKS },
    ],
    ["backwards from the middle", { before: { block: MIDDLE, logIndex: 2 } }],
    ["backwards from the head", { before: { block: BLOCK_MAX, logIndex: END_OF_BLOCK } }],
    [
      "backwards from the head, of final events",
      { before: { block: BLOCK_MAX, logIndex: END_OF_BLOCK }, finality: "finalized" },
    ],
    [
      "backwards from the head, of safe events",
      { before: { block: BLOCK_MAX, logIndex: 0 }, finality: "safe" },
    ],
    [
      "backwards, of a type that there is not",
      { before: { block: MIDDLE, logIndex: END_OF_BLOCK }, topics0: [OTHER_TOPIC], logsMax: 1_000 },
    ],
    ["backwards from genesis", { before: { block: 0, logIndex: 0 } }],
    // The contents of a crafted cursor.
    [
      "after the last block that can be",
      { position: { block: BLOCK_MAX, hash: HASH, logIndex: 0 }, quietSince: 0 },
    ],
    ["with a last log that cannot be", { lastLogBlock: BLOCK_MAX, quietSince: BLOCK_MAX }],
    [
      "quiet since the beginning",
      { position: { block: LOG_BLOCKS, hash: HASH, logIndex: 0 }, quietSince: 0 },
    ],
    [
      "quiet since the middle, up to the last block that can be",
      { position: { block: BLOCK_MAX, hash: HASH, logIndex: 0 }, quietSince: MIDDLE },
    ],
    ["that was never quiet", { position: { block: 0, hash: HASH, logIndex: 0 }, quietSince: LOG_BLOCKS }],
  ])("visits only the logs that a page returns or searches: %s", async (_name, query) => {
    const whole = { ...QUERY, ...query };
    const cost = await measureStatementCost(opened.database, selectEventLogs(whole), CHAIN_TABLES);
    expect(cost.scanned).toEqual([]);
    expect(cost.removed).toBe(0);
    expect(cost.pages).toBeLessThan(pagesOf(whole.logsMax));
  });

  it("visits the logs of a page's blocks for its rows", async () => {
    const limits = { logsMax: 1_000, logBytesMax: 1_000_000, rowBytesMax: 1_000_000 };
    const blocks = Array.from({ length: 25 }, (_, at) => ({ number: MIDDLE + 7 * at, hash: HASH }));
    const cost = await measureStatementCost(opened.database, selectBlockLogs(blocks, limits), CHAIN_TABLES);
    expect(cost.scanned).toEqual([]);
    expect(cost.pages).toBeLessThan(pagesOf(100));
  });

  it("visits few pages to find the ancestor of an abandoned branch", async () => {
    const nine = `0x${(9).toString(16).padStart(64, "0")}` as const;
    const cost = await measureStatementCost(opened.database, selectAncestor(nine), CHAIN_TABLES);
    expect(cost.scanned).toEqual([]);
    expect(cost.pages).toBeLessThan(200);
  });

  it("visits few pages for a branch that never was", async () => {
    const cost = await measureStatementCost(opened.database, selectAncestor(OTHER_TOPIC), CHAIN_TABLES);
    expect(cost.scanned).toEqual([]);
    expect(cost.pages).toBeLessThan(20);
  });
});

describe("what links events to things", () => {
  const EVENTS = 1_000;
  const VERSIONS = 20_000;

  it("reads one linked row for each event, however often it was changed", async () => {
    const { database } = opened;
    await database.query(
      `insert into merchants (merchant_id, owner, payout_address, metadata_uri, metadata_hash, active, block_number, tx_hash, log_index, valid_from, valid_to)
       select 7, '\\x', '\\x', '', '\\x', true, i, '\\x', 0, i, nullif(i + 1, ${VERSIONS + 1}) from generate_series(1, ${VERSIONS}) i`,
    );
    await database.query("analyze merchants");
    const links = new EventLinks();
    for (let block = 1; block <= EVENTS; block += 1) {
      const event = { name: "MerchantUpdated", contract: "CommerceRegistry", address: "0x" as const };
      links.add({ ...event, args: { merchantId: 7n }, blockNumber: BigInt(block) }, ["account"]);
    }
    const cost = await measureStatementCost(database, selectLinks(links, EVENTS), ["merchants"]);
    expect(cost.scanned).toEqual([]);
    expect(cost.removed).toBe(0);
    expect(cost.pages).toBeLessThan(5 * EVENTS);
  });
});

describe("the statements of a history", () => {
  let stage: ReadStage;
  beforeAll(async () => {
    stage = await openReadStage();
  }, SHARED_HISTORY_MS_MAX);
  afterAll(() => stage?.close());

  it(
    "uses few statement texts for a history, since the server keeps each of them",
    async () => {
      const reader = openPipelinedReader(stage.database);
      const { read } = openIndexReader({ quick: reader, slow: reader });
      const texts = new Set<string>();
      const run: RunRead = (statement, use) => {
        texts.add(statement.sql.text);
        return read(statement, use);
      };
      const readEvents = createEventReader({
        run,
        readDeployment: () => readDeploymentIdentity(stage.database),
      });
      const subjects = Object.keys(EVENT_SUBJECTS) as EventSubject[];
      try {
        let links = 0;
        for (const [at, subject] of subjects.entries()) {
          let from: EventStart = { end: "genesis" };
          for (let hasMore = true; hasMore; ) {
            const filter = { types: null, subjects: { [subject]: "1" } };
            const linkedSubjects = subjects.slice(0, at + 1);
            const page = await readEvents({
              ...{ from, filter: { types: null, subjects: {} }, finality: "instant", client: null },
              ...{ limit: 40 + 7 * at, linkedSubjects },
            });
            await readEvents({ from, filter, finality: "finalized", limit: 10, client: null });
            await readEvents({
              from: { end: "head" },
              order: "desc",
              filter,
              finality: "safe",
              limit: 9,
              client: null,
            });
            links += page.events.filter(({ event }) => event.linked !== undefined).length;
            from = { cursor: page.progress.cursor };
            hasMore = page.hasMore;
          }
        }
        expect(links).toBeGreaterThan(100);
        // Each finality with and without types in both orders, the links, and an ancestor.
        expect(texts.size).toBeLessThanOrEqual(4 * FINALITIES.length + 2);
      } finally {
        await reader.close();
      }
    },
    SHARED_HISTORY_MS_MAX,
  );
});
