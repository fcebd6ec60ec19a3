// The fold: order of changes, one load of rows per batch, and errors that name the log.
import { describe, expect, it } from "vitest";
import {
  createMemoryReads,
  LogSequence,
  MEMORY_DEPLOYMENT,
  MEMORY_ZERO_HASH,
  MemoryRows,
  repeatAddressByte,
  repeatHashByte,
} from "../../tests/support/index/memory-index.ts";
import type { RequiredRow } from "../schema/domain.ts";
import { createAddDetails } from "./details/read-details.ts";
import { receipts } from "./domains/commerce.ts";
import { services } from "./domains/merchants.ts";
import { createStoredLogsFold, foldLogs } from "./fold.ts";

const addDetails = createAddDetails(MEMORY_DEPLOYMENT, createMemoryReads({}));
const signal = new AbortController().signal;

const updated = (serviceNumericId: bigint, active: boolean) => ({
  serviceNumericId,
  metadataURI: "",
  metadataHash: repeatHashByte("01"),
  capabilityHash: repeatHashByte("02"),
  active,
});
const registered = (serviceNumericId: bigint) => ({
  ...updated(serviceNumericId, true),
  merchantId: 1n,
  serviceId: "s",
});

describe("a fold", () => {
  it("loads all rows it needs at once, before it changes any", async () => {
    const story = new LogSequence()
      .append("CommerceRegistry", "ServiceRegistered", registered(1n))
      .append("CommerceRegistry", "ServiceUpdated", updated(1n, false))
      .append("CommerceRegistry", "ServiceUpdated", updated(1n, true));
    const rows = new MemoryRows();
    const batch = rows.batch();
    const steps: string[] = [];
    await foldLogs(await addDetails(story.logs, signal), {
      load: (needs: readonly RequiredRow[]) => {
        steps.push(`load ${needs.map(({ table, keyText }) => `${table.name} ${keyText}`).join()}`);
        return batch.load(needs);
      },
      find: batch.find,
      change: (change, origin) => {
        steps.push(`${change.table.name} ${origin.block_number}`);
        batch.change(change, origin);
      },
    });
    expect(steps).toEqual([
      "load services 1,services 1",
      "services 1",
      "commerce_totals 1",
      "activity_hours 1",
      "services 2",
      "commerce_totals 2",
      "services 3",
      "commerce_totals 3",
    ]);
    expect(rows.one(services).active).toBe(true);
  });

  it("returns the same rows for the same logs every time", async () => {
    const story = new LogSequence()
      .append("CommerceRegistry", "ServiceRegistered", registered(1n))
      .append("CommerceRegistry", "ServiceUpdated", updated(1n, false));
    const detailed = await addDetails(story.logs, signal);
    const runs = [new MemoryRows(), new MemoryRows()];
    for (const rows of runs) await foldLogs(detailed, rows.batch());
    expect(String(runs[0])).toBe(String(runs[1]));
  });

  it("records the block, transaction and log that created a row, and an update does not change them", async () => {
    const tx = repeatHashByte("e7");
    const rows = await new LogSequence()
      .append("CommerceRegistry", "ServiceRegistered", registered(4n), { block: 5, tx, index: 3 })
      .append("CommerceRegistry", "ServiceUpdated", updated(4n, false), { block: 6 })
      .rows();
    expect(rows.one(services)).toMatchObject({ block_number: 5n, tx_hash: tx, log_index: 3, active: false });
  });

  it("names the log that could not be folded, and the cause", async () => {
    const story = new LogSequence().append("CommerceRegistry", "FulfillmentRecorded", {
      receiptId: 8n,
      fulfillmentHash: MEMORY_ZERO_HASH,
    });
    const error: unknown = await story.rows().catch((failure: unknown) => failure);
    expect(error).toMatchObject({
      message: "CommerceRegistry.FulfillmentRecorded, log 0 of block 1, could not be folded",
      cause: { message: "receipt 8 is fulfilled, but was never recorded" },
    });
  });

  it("skips logs of other contracts", async () => {
    const story = new LogSequence().append("CommerceRegistry", "ServiceRegistered", registered(1n), {
      emitter: repeatAddressByte("66"),
    });
    expect(await addDetails(story.logs, signal)).toEqual([]);
    const rows = new MemoryRows();
    await createStoredLogsFold(MEMORY_DEPLOYMENT)(
      story.logs.map((log) => ({ log, details: null })),
      rows.batch(),
    );
    expect([...rows.of(services), ...rows.of(receipts)]).toEqual([]);
  });
});
