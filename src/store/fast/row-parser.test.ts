// Rows parsed from the bytes of a connection equal those of the driver, however the bytes are split.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../tests/support/database/test-database.ts";
import { createLog } from "../../lib/log.ts";
import { type Database, openDatabase } from "../postgres/database.ts";
import { createRowParser, installRowParser, type RawRow } from "./row-parser.ts";

type Message = { readonly row: RawRow } | { readonly other: string };

function int(value: number, bytes: 2 | 4): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(value, 0, bytes);
  return buffer;
}

function bytesOf(message: Message): Buffer {
  if ("other" in message) return framed("N", Buffer.from(message.other));
  const cells = message.row.map((cell) => {
    const bytes = Buffer.from(cell ?? "");
    return Buffer.concat([int(cell === null ? -1 : bytes.length, 4), bytes]);
  });
  return framed("D", Buffer.concat([int(cells.length, 2), ...cells]));
}

function framed(kind: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(kind), int(4 + body.length, 4), body]);
}

/** As sent: messages other than rows as their bytes. */
function sent(message: Message): Message {
  return "row" in message ? message : { other: bytesOf(message).toString("latin1") };
}

function parse(chunks: readonly Buffer[]): Message[] {
  const messages: Message[] = [];
  const read = createRowParser(
    (bytes) => messages.push({ other: bytes.toString("latin1") }),
    (row) => messages.push({ row }),
  );
  for (const chunk of chunks) read(chunk);
  return messages;
}

/** Adjacent messages other than rows may arrive as one. */
function merge(messages: readonly Message[]): (RawRow | string)[] {
  const all: (RawRow | string)[] = [];
  for (const message of messages) {
    const last = all.at(-1);
    if ("row" in message) all.push(message.row);
    else if (typeof last === "string") all[all.length - 1] = last + message.other;
    else all.push(message.other);
  }
  return all;
}

// A lone surrogate has no UTF-8, so PostgreSQL never sends one.
const text = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc.constantFrom("", "é", "\u0080", "\u{1f600}", "x".repeat(127), "x".repeat(128), '\\"\n\t\u2028'),
  fc.nat(70_000).map((length) => "y".repeat(length)),
);
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.array(fc.oneof(fc.constant(null), text), { maxLength: 12 }).map((row) => ({ row })),
  fc.string({ maxLength: 40 }).map((other) => ({ other })),
);

describe("createRowParser", () => {
  it("returns rows in order with all other messages, for chunks of any size", () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1, maxLength: 5 }),
        (messages, sizes) => {
          const bytes = Buffer.concat(messages.map(bytesOf));
          const chunks: Buffer[] = [];
          for (let at = 0; at < bytes.length; ) {
            const size = sizes[chunks.length % sizes.length] ?? 1;
            chunks.push(bytes.subarray(at, at + size));
            at += size;
          }
          expect(merge(parse(chunks))).toEqual(merge(messages.map(sent)));
        },
      ),
    );
  });

  it("parses bytes that arrive one by one", () => {
    const messages = [{ other: "" }, { row: ["1", null, "ü", ""] }, { row: [] }, { other: "end" }];
    const bytes = Buffer.concat(messages.map(bytesOf));
    expect(merge(parse([...bytes].map((byte) => Buffer.from([byte]))))).toEqual(merge(messages.map(sent)));
  });
});

describe("installRowParser", () => {
  let server: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    server = await createTestDatabase();
    const log = createLog({ level: "silent", terminal: false, name: "test" });
    const { connection } = server;
    database = await openDatabase({
      connection,
      schema: "sextant",
      poolMax: 1,
      log,
      applicationName: "test",
    });
  });

  afterAll(async () => {
    await database.close();
    await server.drop();
  });

  it("returns the same rows as an ordinary client", async () => {
    const client = await database.connect("test", { beforeConnect: installRowParser });
    const dataRows: unknown[] = [];
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
    connection.on("dataRow", (row) => dataRows.push(row));
    const query =
      "SELECT n, CASE WHEN n > 1 THEN repeat('ä€', n) END AS t, n = 2 AS b FROM generate_series(1, 3) n";
    const { rows } = await client.query(query);
    expect(rows).toEqual((await database.query(query)).rows);
    // The driver's own messages have more keys: this fails if a later driver no longer uses the hook.
    expect(dataRows[0]).toEqual({ fields: ["1", null, "f"] });
    await client.end();
  });
});
