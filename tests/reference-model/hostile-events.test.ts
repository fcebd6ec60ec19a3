// Valid but hostile events: the index stores them and goes on.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAddDetails } from "../../src/protocol/details/read-details.ts";
import { rowDeclaration, tables } from "../../src/protocol/domains.ts";
import { foldLogs } from "../../src/protocol/fold.ts";
import { analyticsReads } from "../../src/protocol/reads/analytics.ts";
import { compileSql } from "../../src/schema/sql.ts";
import { createRowIndexes, createRowTables, recordRowTables } from "../../src/store/index/row-tables.ts";
import { type IndexStore, openIndexStore } from "../../src/store/index/store.ts";
import { acquireLock, type Lock } from "../../src/store/postgres/advisory-lock.ts";
import type { Database } from "../../src/store/postgres/database.ts";
import {
  createMemoryReads,
  LogSequence,
  MEMORY_DEPLOYMENT,
  MEMORY_ZERO_HASH,
  repeatAddressByte,
  repeatHashByte,
} from "../support/index/memory-index.ts";
import { openTestDatabase } from "../support/index/test-index.ts";

const UINT256_MAX = 2n ** 256n - 1n;
const addDetails = createAddDetails(MEMORY_DEPLOYMENT, createMemoryReads({}));

let database: Database;
let lock: Lock | null;
let store: IndexStore;
let close: () => Promise<void>;
let head = 0;

beforeAll(async () => {
  const { database: opened, drop } = await openTestDatabase();
  database = opened;
  lock = await acquireLock(database, "hostile", { waitMs: 0 });
  if (!lock) throw new Error("the lock is taken");
  await lock.transaction(async (session) => {
    await createRowTables(session, tables);
    await createRowIndexes(session, tables);
    await recordRowTables(session, rowDeclaration);
  });
  store = openIndexStore(database, lock, tables);
  const held = lock;
  close = async () => {
    await held.release();
    await drop();
  };
});
afterAll(() => close());

/** Writes events, which `append` puts into one new block. */
async function write(append: (story: LogSequence, block: number) => void): Promise<void> {
  head += 1;
  const story = new LogSequence();
  append(story, head);
  const hash = story.logs[0]?.blockHash ?? repeatHashByte("b0");
  const tip = { number: head, hash, timestamp: 1_767_225_600 + head };
  const logs = await addDetails(story.logs, new AbortController().signal);
  const blocks = [{ ...tip, parentHash: hash, logCount: logs.length }];
  const prepared = await store.prepare(
    { tip, blocks, logs, finalized: 0 },
    (rows) => foldLogs(logs, rows),
    null,
  );
  await prepared.write();
}

const sale = (number: number) => ({
  quoteHash: `0x${number.toString(16).padStart(64, "0")}`,
  merchantId: 1n,
  serviceNumericId: 1n,
  agent: repeatAddressByte("02"),
  token: repeatAddressByte("70"),
  facilitator: repeatAddressByte("f1"),
  amount: UINT256_MAX,
  paymentRail: 3,
  protocolFeeBps: 10_000,
  protocolFeeAmount: UINT256_MAX,
  resourceHash: MEMORY_ZERO_HASH,
});

describe("amounts", () => {
  it("stores sums of many times the largest amount", async () => {
    const sales = 30;
    await write((story, block) => {
      for (let number = 0; number < sales; number += 1) {
        const quote = { expiresAt: UINT256_MAX, paymentNonce: UINT256_MAX, termsHash: MEMORY_ZERO_HASH };
        const args = { ...sale(number), ...quote, x402PayloadHash: MEMORY_ZERO_HASH };
        story.append("CommerceRegistry", "QuoteCommitted", args, { block });
      }
    });
    await write((story, block) => {
      for (let number = 0; number < sales; number += 1) {
        const receipt = {
          receiptId: BigInt(number),
          resultHash: MEMORY_ZERO_HASH,
          fulfillmentHash: MEMORY_ZERO_HASH,
        };
        story.append("CommerceRegistry", "ReceiptRecorded", { ...sale(number), ...receipt }, { block });
      }
    });
    const sum = String(UINT256_MAX * BigInt(sales));
    const totals = await database.query(
      "select quoted_volume, quoted_protocol_fees, settled_volume, settled_protocol_fees from commerce_totals where valid_to is null",
    );
    expect(totals.rows).toEqual([
      { quoted_volume: sum, quoted_protocol_fees: sum, settled_volume: sum, settled_protocol_fees: sum },
    ]);
    for (const table of [
      "token_volumes",
      "rail_volumes",
      "facilitator_volumes",
      "service_volumes",
      "merchant_records",
    ]) {
      const { rows } = await database.query(
        `select settled_volume, protocol_fees from ${table} where valid_to is null`,
      );
      expect(rows, table).toEqual([{ settled_volume: sum, protocol_fees: sum }]);
    }
  });
});

describe("text", () => {
  const bytes = {
    NUL: "610062",
    "broken UTF-8": "61ff62c080f09fa7",
    "half a surrogate pair": "eda080",
    "what COPY would take for its own": Buffer.from("\\N\t\\.\n\r\\x00").toString("hex"),
    "a megabyte": "f09fa7ad".repeat(2 ** 18),
  };

  it.each(Object.entries(bytes))(
    "text with %s is stored, read back and found in the raw log",
    async (_, hex) => {
      const merchantId = BigInt(head + 1);
      const length = hex.length / 2;
      await write((story, block) => {
        const party = { owner: repeatAddressByte("01"), payoutAddress: repeatAddressByte("01") };
        const args = {
          merchantId,
          ...party,
          metadataURI: "x".repeat(length),
          metadataHash: MEMORY_ZERO_HASH,
        };
        story.append("CommerceRegistry", "MerchantRegistered", args, { block });
        const [log] = story.logs.splice(0);
        if (!log) throw new Error("a log was said");
        const data = log.data.replace("78".repeat(length), hex) as `0x${string}`;
        story.logs.push({ ...log, data });
      });
      const { rows } = await database.query<{ metadata_uri: string }>({
        text: "select metadata_uri from merchants where merchant_id = $1",
        values: [merchantId],
      });
      const exact = Buffer.from(hex, "hex");
      expect(rows[0]?.metadata_uri).toBe(exact.toString("utf8").replaceAll("\0", "\ufffd"));
      const raw = await database.query<{ data: string }>({
        text: "select encode(p.data, 'hex') as data from logs l, plain_log(l.topics, l.data, l.details) p where block_number = $1",
        values: [head],
      });
      expect(Buffer.from(raw.rows[0]?.data ?? "", "hex").includes(exact)).toBe(true);
    },
  );

  it("a service whose name has separators shifts no figure of the analytics", async () => {
    const serviceId = "a,999;b,\\";
    await write((story, block) => {
      const hashes = { metadataHash: MEMORY_ZERO_HASH, capabilityHash: MEMORY_ZERO_HASH };
      const args = { serviceNumericId: 1n, merchantId: 7n, serviceId, metadataURI: "", ...hashes };
      story.append("CommerceRegistry", "ServiceRegistered", args, { block });
    });
    const read = analyticsReads.find(({ path }) => path === "/analytics/commerce");
    const plan = read?.plan({ values: {}, asOf: null, provenance: false, requirements: false });
    if (!plan) throw new Error("there is no such read");
    const { text, values } = compileSql(plan.sql)();
    const { rows } = await database.query<Record<string, unknown>>({ text, values: [...values] });
    const columns = Object.keys(rows[0] ?? {});
    const found = { columns, rows: rows.map((row) => Object.values(row)) };
    const body = plan.assemble(found) as Record<string, unknown> | null;
    const settled_volume = String(UINT256_MAX * 30n);
    expect(body?.top_services).toEqual([
      expect.objectContaining({ service_id: serviceId, merchant_id: "7", settled_volume }),
    ]);
  });
});
