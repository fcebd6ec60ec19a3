// GET /head: the position of the index, compared with the stored blocks and logs, at the latest block and at earlier ones.
import { afterAll, beforeAll, expect, it } from "vitest";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { openReadStage, type ReadStage } from "./api-stage.ts";
import { expectShape } from "./record-shapes.ts";

let stage: ReadStage;

beforeAll(async () => {
  stage = await openReadStage();
}, SHARED_HISTORY_MS_MAX);
afterAll(() => stage?.close());

type Head = Readonly<Record<string, string | null>>;

async function blocksWithEvents(): Promise<readonly number[]> {
  const rows = await stage.rows("select distinct block_number from logs order by block_number");
  return rows.map(({ block_number }) => Number(block_number));
}

it("shows the checkpoint in /head at the latest block", async () => {
  const head = await stage.body<Head>("/head");
  expectShape(head, {
    block_number: "number",
    block_timestamp: "number",
    previous_event_block: "number",
    next_event_block: "number?",
    indexed_block: "number",
    indexed_timestamp: "number",
    finalized_block: "number",
    start_block: "number",
  });
  const checkpoint = await stage.first("select * from checkpoint");
  const { start_block } = await stage.first("select start_block from deployment");
  expect(head).toMatchObject({
    block_number: checkpoint.block_number,
    block_timestamp: checkpoint.block_timestamp,
    indexed_block: checkpoint.block_number,
    indexed_timestamp: checkpoint.block_timestamp,
    finalized_block: checkpoint.finalized_block,
    next_event_block: null,
    start_block,
  });
});

it("knows the blocks with events around every block, and its time", async () => {
  const { indexed_block, start_block } = await stage.body<Head>("/head");
  const eventful = await blocksWithEvents();
  for (let block = Number(start_block); block <= Number(indexed_block); block += 1) {
    const head = await stage.body<Head>(`/head?block=${block}`);
    const found = {
      previous: head.previous_event_block === null ? undefined : Number(head.previous_event_block),
      next: head.next_event_block === null ? undefined : Number(head.next_event_block),
    };
    expect(found, `block ${block}`).toEqual({
      previous: eventful.findLast((each) => each < block),
      next: eventful.find((each) => each > block),
    });
    if (!eventful.includes(block)) continue;
    const { timestamp } = await stage.first(`select timestamp from blocks where number = ${block}`);
    expect(head.block_timestamp).toBe(timestamp);
  }
}, 60_000);
