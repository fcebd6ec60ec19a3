// The shape of GET /events: records of events with the rows that they changed, undo after a reorg, and progress.
import type { Hex } from "../lib/hex.ts";
import {
  closedObject,
  type JsonSchema,
  listOf,
  nullable,
  schemaOf,
  type TypeOf,
  titledRecord,
} from "../schema/json-schema.ts";
import { sentenceSchema } from "../schema/sentence.ts";
import type { Table } from "../schema/table.ts";
import { tables } from "./domains.ts";

/** The tables of which any block can be read. */
export const VERSIONED_TABLES: readonly Table[] = tables.filter(({ history }) => history === "full");

export type RowRecord = Readonly<Record<string, string | number | boolean | null>>;

export type RowChangeRecord = {
  readonly table: string;
  /** The columns that identify the row. */
  readonly key: RowRecord;
  /** Null if the event has created the row. */
  readonly before: RowRecord | null;
  readonly after: RowRecord;
};

const ROW_CHANGES_SCHEMA = schemaOf<readonly RowChangeRecord[] | null>({
  ...nullable({ type: "array", items: { title: "RowChange", oneOf: VERSIONED_TABLES.map(changeSchema) } }),
  description:
    "With include=rows: the rows that the event has changed, before and after it. Null if the block is too large.",
});

function changeSchema(table: Table): JsonSchema {
  const jsonOf = (name: string): [string, JsonSchema] => [name, table.columns[name]?.json ?? {}];
  const columns = Object.fromEntries(Object.keys(table.columns).map(jsonOf));
  const row = titledRecord(`${toPascalCase(table.name)}Row`, columns);
  return closedObject({
    table: { type: "string", const: table.name },
    key: closedObject(Object.fromEntries(table.key.map(jsonOf))),
    before: nullable(row),
    after: row,
  });
}

function toPascalCase(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

const text = schemaOf<string>({ type: "string" });
const hex = schemaOf<Hex>(text);

/** An event as clients get it. */
const EVENT = titledRecord(
  "ProtocolEvent",
  {
    id: { ...text, description: "The same whenever this event of this block is delivered." },
    type: text,
    contract: text,
    address: hex,
    args: schemaOf<Readonly<Record<string, string | boolean>>>({
      type: "object",
      additionalProperties: { type: ["string", "boolean"] },
    }),
    description: text,
    tx_hash: hex,
    log_index: { type: "integer" },
    block_number: text,
    block_hash: hex,
    block_timestamp: text,
    cursor: text,
  },
  // Absent unless requested.
  { rows: ROW_CHANGES_SCHEMA, parts: sentenceSchema("description") },
);
export type EventRecord = TypeOf<typeof EVENT>;

/** The hash is null if the block is final and empty. */
const UNDO = {
  title: "EventUndo",
  description: "A reorg removed every event after this block that was delivered before.",
  ...closedObject({ block_number: text, block_hash: nullable(hex), cursor: text }),
};
export type UndoRecord = TypeOf<typeof UNDO>;

const PROGRESS = {
  title: "EventProgress",
  description:
    "Every event up to block_number (with order=desc: from block_number on) has been delivered, whatever the filter; go on from the cursor.",
  ...closedObject(
    { block_number: text, indexed_block: text, finalized_block: text, cursor: text },
    {
      forward_cursor: {
        ...text,
        description:
          "With order=desc: goes on forwards, with what is newer than the first page; for a stream, too.",
      },
    },
  ),
};
export type ProgressRecord = TypeOf<typeof PROGRESS>;

export const EVENT_PAGE = titledRecord("EventPage", {
  undo: nullable(UNDO),
  events: listOf(EVENT),
  progress: PROGRESS,
  has_more: { type: "boolean" },
});
export type EventPage = TypeOf<typeof EVENT_PAGE>;
