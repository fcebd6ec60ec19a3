// Cursors that no page or stream has issued: whatever they say, the response is a page after their place, an undo, or a 400.
import { createHash } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatCursor, identifyDeployment } from "../../../src/api/events/event-page.ts";
import type { Hex } from "../../../src/lib/hex.ts";
import { END_OF_BLOCK, FINALITIES } from "../../../src/store/index/event-logs.ts";
import { openEventStreamClient } from "../../support/http/event-stream-client.ts";
import { startTestApi, type TestApi } from "../../support/http/test-api.ts";
import { MEMORY_DEPLOYMENT } from "../../support/index/memory-index.ts";
import { runsOf } from "../../support/test-depth.ts";
import { EventIndex } from "./event-index.ts";

const DEPLOYMENT = identifyDeployment(MEMORY_DEPLOYMENT);
const BLOCK_MAX = 2 ** 48 - 1;
const CHECKSUM_BYTES = 4;
// More than the history has events; a reader that is sent round and round needs more.
const PAGES_MAX = 60;

let index: EventIndex;
let api: TestApi;
/** Block hashes of all branches, in order. */
const hashes: Hex[] = [];
/** Hashes of the blocks that were not deleted as empty and final, by number. */
let stored: ReadonlyMap<number, string>;

beforeAll(async () => {
  index = await EventIndex.open();
  api = await startTestApi(index.database);
  const keepHashes = () => {
    for (let block = 0; block <= index.head; block += 1) hashes.push(index.hashOf(block) ?? "0x");
  };
  // Two branches that are gone, one below the other, and empty blocks that are deleted.
  await index.extend([1, 0, 2, 1, 1, 1, 3, 1], 6);
  keepHashes();
  await index.rollback(3);
  await index.extend([1, 2, 0, 1], 6);
  keepHashes();
  await index.rollback(5);
  await index.extend([2, 0, 1, 0, 0, 1, 1], 6);
  keepHashes();
  const { rows } = await index.database.query<{ number: string; hash: string }>(
    "select number, '0x' || encode(hash, 'hex') as hash from blocks",
  );
  stored = new Map(rows.map(({ number, hash: text }) => [Number(number), text]));
});
afterAll(async () => {
  await api?.close();
  await index?.drop();
});

const hash = () =>
  fc.oneof(
    fc.constantFrom(...hashes),
    fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`),
  );
const block = fc
  .oneof(fc.nat(20), fc.constantFrom(BLOCK_MAX, BLOCK_MAX - 1, 2 ** 31, 2 ** 32), fc.maxSafeNat())
  .map((number) => Math.min(number, BLOCK_MAX));
const logIndex = fc.oneof(
  fc.nat(6),
  fc.constantFrom(END_OF_BLOCK, END_OF_BLOCK - 1, END_OF_BLOCK + 1, 2 ** 32 - 1),
);
const cursor = () =>
  fc.record({
    deployment: fc.constant(DEPLOYMENT),
    ...{ block, logIndex, finalized: block, hash: fc.option(hash()) },
    lastLogBlock: fc.option(fc.record({ number: block, hash: hash() })),
  });

type Page = {
  readonly undo: { readonly block_number: string } | null;
  readonly events: readonly { readonly id: string; readonly cursor: string }[];
  readonly progress: { readonly cursor: string };
  readonly has_more: boolean;
};

async function readPage(from: string, query = ""): Promise<{ status: number; page: Page }> {
  const response = await fetch(`${api.url}/events?limit=3&from=${from}${query}`);
  return { status: response.status, page: (await response.json()) as Page };
}

/** Reads on to the end; returns the place of the last undo, and the events after it. */
async function readToEnd(first: Page): Promise<{ undone: number | null; ids: readonly string[] }> {
  let undone: number | null = null;
  let ids: string[] = [];
  let page = first;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    if (page.undo !== null) {
      undone = Number(page.undo.block_number);
      ids = [];
    }
    ids.push(...page.events.map(({ id }) => id));
    if (!page.has_more) return { undone, ids };
    const next = await readPage(page.progress.cursor);
    expect(next.status).toBe(200);
    page = next.page;
  }
  throw new Error("there is no end");
}

const idsAfter = (place: { readonly block: number; readonly logIndex: number }) =>
  index
    .events()
    .filter(({ id, block: at }) => {
      const position = Number(id.split("-")[1]);
      return at > place.block || (at === place.block && position > place.logIndex);
    })
    .map(({ id }) => id);

describe("a crafted cursor", () => {
  it("returns exactly the events after a crafted cursor or after the block of an undo", async () => {
    // A cursor of a removed block, with a number below the ancestor that its branch had.
    const removed = { hash: hashes[8] ?? "0x", block: 3, logIndex: 0, finalized: 0, lastLogBlock: null };
    await fc.assert(
      fc.asyncProperty(cursor(), async (crafted) => {
        const { status, page } = await readPage(formatCursor(crafted));
        // Zeros stand for none.
        const hasHash = crafted.hash !== null && /[1-9a-f]/.test(crafted.hash.slice(2));
        const isFinal = crafted.block <= crafted.finalized;
        const isReplaced = isFinal && hasHash && (stored.get(crafted.block) ?? crafted.hash) !== crafted.hash;
        const isPossible = crafted.logIndex <= END_OF_BLOCK && (hasHash || isFinal) && !isReplaced;
        expect(status).toBe(isPossible ? 200 : 400);
        if (status === 400) return;
        const { undone, ids } = await readToEnd(page);
        if (undone !== null) expect(undone).toBeLessThan(crafted.block);
        expect(ids).toEqual(idsAfter(undone === null ? crafted : { block: undone, logIndex: END_OF_BLOCK }));
      }),
      { numRuns: runsOf(2_000, { min: 250 }), examples: [[{ deployment: DEPLOYMENT, ...removed }]] },
    );
  }, 300_000);

  it("responds with a page or 400 to a cursor with any bytes changed", async () => {
    const { progress } = (await readPage("head")).page;
    const valid = Buffer.from(progress.cursor, "base64url");
    const length = valid.length - CHECKSUM_BYTES;
    const change = fc.record({ at: fc.nat(length - 1), to: fc.nat(255) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 8 }),
        fc.constantFrom(...FINALITIES),
        fc.boolean(),
        async (changes, finality, isStream) => {
          const content = Buffer.from(valid.subarray(0, length));
          for (const { at, to } of changes) content[at] = to;
          const checksum = createHash("sha256").update(content).digest().subarray(0, CHECKSUM_BYTES);
          const text = Buffer.concat([content, checksum]).toString("base64url");
          if (!isStream) {
            const { status } = await readPage(text, `&finality=${finality}&type=IntentSubmitted`);
            return void expect([200, 400]).toContain(status);
          }
          const client = await openEventStreamClient(`${api.url}/events?finality=${finality}`, {
            lastEventId: text,
          });
          try {
            expect(client.status).toBe(200);
            await expect
              .poll(() => client.messages.at(-1)?.event, { timeout: 10_000, interval: 2 })
              .toMatch(/^(progress|rejected)$/);
          } finally {
            client.close();
          }
        },
      ),
      { numRuns: runsOf(800, { min: 100 }) },
    );
  }, 300_000);
});
