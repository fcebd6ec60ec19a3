// Writes blocks of events as the indexer does, by its store, and reports when each was committed.
import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "../../src/lib/hex.ts";
import { claimSchema } from "../../src/store/index/prepare.ts";
import { openIndexStore } from "../../src/store/index/store.ts";
import { acquireLock } from "../../src/store/postgres/advisory-lock.ts";
import { encodeProtocolLog, MEMORY_DEPLOYMENT } from "../../tests/support/index/memory-index.ts";
import { type BenchDatabaseTarget, openBenchDatabase } from "../harness/bench-database.ts";
import { createDerivedValues } from "../history/derived-values.ts";
import { serveSteps } from "./control.ts";

/** Times of the wall clock, which all processes share. */
export type Commit = { readonly block: number; readonly committedMs: number; readonly tookMs: number };

const GENESIS_SECONDS = 1_767_225_600;

const place = JSON.parse(process.argv[2] ?? "") as BenchDatabaseTarget;
const database = await openBenchDatabase(place);
const lock = await acquireLock(database, "bench", { waitMs: 0 });
if (!lock) throw new Error("the lock is taken");
await claimSchema(database, MEMORY_DEPLOYMENT);
const store = openIndexStore(database, lock, []);
const values = createDerivedValues(7);
let head = 0;
await writeBlock(0);

async function writeBlock(events: number): Promise<Commit> {
  head += 1;
  const block = { number: head, hash: values.hash("block", head), timestamp: GENESIS_SECONDS + head };
  const logs = Array.from({ length: events }, (_, index) => ({
    log: { ...encodeEvent(head, index), blockHash: block.hash },
    details: null,
  }));
  const batch = {
    tip: block,
    blocks: [{ ...block, logCount: events }],
    logs,
    finalized: Math.max(0, head - 64),
    safe: Math.max(0, head - 32),
  };
  const startedMs = performance.now();
  const prepared = await store.prepare(batch, async () => undefined, null);
  await prepared.write();
  const endedMs = performance.now();
  return { block: head, committedMs: performance.timeOrigin + endedMs, tookMs: endedMs - startedMs };
}

function encodeEvent(block: number, index: number) {
  const owner: Hex = values.address("owner", index);
  const args = { intentId: BigInt(block * 1_000 + index), owner, nonce: 1n };
  const at = { block, timestamp: GENESIS_SECONDS + block, index };
  return encodeProtocolLog("IntentBook", "IntentSubmitted", args, at);
}

/** At an even pace, however long a commit takes; 0 writes as fast as it can. */
async function write({ blocks = 0, events = 0, paceMs = 0 }): Promise<Commit[]> {
  const commits: Commit[] = [];
  const startedMs = performance.now();
  for (let n = 0; n < blocks; n += 1) {
    const waitMs = startedMs + n * paceMs - performance.now();
    if (paceMs > 0 && waitMs > 0) await sleep(waitMs);
    commits.push(await writeBlock(events));
  }
  return commits;
}

await serveSteps({ write }, {}, async () => {
  await lock.release();
  await database.close();
});
