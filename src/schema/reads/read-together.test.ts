// Several reads with one statement: they see one state, and later ones the state of the first.
import { afterAll, beforeAll, expect, it } from "vitest";
import { EventIndex } from "../../../tests/api/events/event-index.ts";
import { openSourceReaders } from "../../api/source-readers.ts";
import { Fault } from "../../lib/fault.ts";
import { intentReads } from "../../protocol/reads/intents.ts";
import { headReads } from "../../protocol/reads/totals.ts";
import type { SourceReaders } from "../../store/replicas/read-source.ts";
import {
  PinLostFault,
  type PinnedHead,
  type Read,
  type ReadStatement,
  type RunRead,
  readTogether,
} from "./read.ts";

let index: EventIndex;
let readers: SourceReaders;

beforeAll(async () => {
  index = await EventIndex.open();
  await index.extend([1, 1], 1);
  readers = openSourceReaders(index.database);
});
afterAll(async () => {
  await readers?.close();
  await index?.drop();
});

const reads: readonly Read[] = [...headReads, ...intentReads];
const readOf = (path: string, values: Readonly<Record<string, string | number>> = {}) => {
  const read = reads.find((each) => each.path === path);
  if (read === undefined) throw new Error(`there is no read ${path}`);
  return { read, input: { values, asOf: null, provenance: false } };
};
const readHead = (pin: PinnedHead | null, run: RunRead = readers.index) =>
  readTogether(run, [readOf("/head"), readOf("/intents", { limit: 1 })], { client: "a", findPin: () => pin });

it("gives each read its own rows, and an error to the one that has none", async () => {
  const newest = index.events().at(-1)?.intent ?? "";
  const wanted = [
    readOf("/intents/:id", { id: newest }),
    readOf("/intents/:id", { id: "999" }),
    readOf("/head"),
  ];
  const { results } = await readTogether(readers.index, wanted, { client: "a", findPin: () => null });
  expect(results).toMatchObject([
    { body: { intent_id: newest } },
    { error: { code: "NOT_FOUND" } },
    { body: { block_number: String(index.head) } },
  ]);
});

it("reads as of the pinned block once the head has moved, and rejects a block that a reorg replaced", async () => {
  const newest = index.events().at(-1)?.intent;
  const { head: pin } = await readHead(null);
  await index.extend([2], 1_000);
  const { head, results } = await readHead(pin);
  expect(head).toEqual(pin);
  expect(results).toMatchObject([
    { body: { block_number: pin.number.toString() } },
    { body: { intents: [{ intent_id: newest }] } },
  ]);
  await index.rollback(2);
  await index.extend([1, 1, 1], 1_000);
  await expect(readHead(pin)).rejects.toBeInstanceOf(PinLostFault);
});

it("is a slow statement of the client if one of the reads is slow", async () => {
  const statements: ReadStatement[] = [];
  const run: RunRead = (statement, use) => {
    statements.push(statement);
    return readers.index(statement, use);
  };
  await readHead(null, run);
  const past = readOf("/intents", { limit: 1 });
  const asOf = { ...past, input: { ...past.input, asOf: { block: 1n, time: null } } };
  await readTogether(run, [readOf("/head"), asOf], { client: "b", findPin: () => null });
  expect(statements).toMatchObject([
    { cost: "quick", client: "a", atLeast: null },
    { cost: "slow", client: "b", atLeast: 1n },
  ]);
});

it("gives each read a statement of its own if they take too long together", async () => {
  const statements: ReadStatement[] = [];
  const run: RunRead = async (statement, use) => {
    statements.push(statement);
    if (statements.length === 1) throw new Fault("TIMED_OUT", "The statement took too long.");
    return readers.index(statement, use);
  };
  const { results } = await readHead(null, run);
  expect(statements).toHaveLength(3);
  expect(results).toMatchObject([
    { body: { block_number: String(index.head) } },
    { body: { intents: [{}] } },
  ]);
});

it("reads everything again if totals are no longer kept at the pinned block", async () => {
  const totals = { ...readOf("/head"), read: { ...readOf("/head").read, recentOnly: true } };
  const { head: pin } = await readHead(null);
  const options = { client: "a", findPin: () => pin };
  await index.extend([1], 0);
  await index.extend([1], 0);
  await expect(readTogether(readers.index, [totals], options)).rejects.toBeInstanceOf(PinLostFault);
});
