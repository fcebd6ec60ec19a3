// Hex of rows that are stored as bytes: PostgreSQL would take 0x text for other bytes, without an error.
import { afterAll, beforeAll, expect, it } from "vitest";
import { writeReads } from "../../src/api/write-service.ts";
import { tables } from "../../src/protocol/domains.ts";
import { EventLinks, selectLinks } from "../../src/protocol/event-filter.ts";
import { VERSIONED_TABLES } from "../../src/protocol/event-page.ts";
import { indexReads } from "../../src/protocol/reads.ts";
import type { Read, ReadInput } from "../../src/schema/reads/read.ts";
import type { SqlText } from "../../src/schema/sql.ts";
import { createRowsBeforeQuery } from "../../src/store/index/block-rows.ts";
import { buildReadText } from "../../src/store/index/reader.ts";
import { type EmptyIndex, openEmptyIndex } from "../support/index/empty-index.ts";

const ADDRESS = `0x${"ab".repeat(20)}`;
const HASH = `0x${"cd".repeat(32)}`;
const TEXTS = ["1", ADDRESS, HASH, `${ADDRESS}-${ADDRESS}`, "true", "day"];

let index: EmptyIndex;
beforeAll(async () => {
  index = await openEmptyIndex();
});
afterAll(() => index.drop());

/** A value that the parameter accepts. */
function sampleValue({ name, kind }: Read["parameters"][number]): ReadInput["values"][string] {
  if (name === "cursor") return undefined;
  const [word] = (kind.json.enum ?? []) as readonly string[];
  for (const text of word === undefined ? TEXTS : [String(word)]) {
    try {
      return kind.parse(text, name);
    } catch {
      // The next text may be of its form.
    }
  }
  throw new Error(`no value for the parameter ${name}`);
}

/** The statements of a read with its required parameters, and with each of the others in turn. */
function statementsOf(read: Read): SqlText[] {
  const required = read.parameters.filter((each) => each.required);
  const others = [null, ...read.parameters.filter((each) => !each.required)];
  return others.flatMap((other) => {
    const given = [...required, ...(other === null ? [] : [other])];
    const values = Object.fromEntries(
      given.flatMap((each) => {
        const value = sampleValue(each);
        return value === undefined ? [] : [[each.name, value]];
      }),
    );
    const input = { values, provenance: read.provenance, requirements: read.requirements === true };
    return [null, { block: 1n, time: null }].map((asOf) => read.plan({ ...input, asOf }).sql);
  });
}

/** The types that PostgreSQL gives the parameters of a statement. */
async function typesOf({ text }: SqlText): Promise<string[]> {
  return index.database.transaction(async (session) => {
    await session.query(`prepare parameters_of_read as ${buildReadText(text)}`);
    const { rows } = await session.query<{ types: string[] }>(
      "select parameter_types::text[] as types from pg_prepared_statements where name = 'parameters_of_read'",
    );
    await session.query("deallocate parameters_of_read");
    return rows[0]?.types ?? [];
  });
}

/** The types of the parameters of every statement that reads rows. */
async function typesOfReads(): Promise<string[]> {
  const sessionKeys = indexReads.find(({ operationId }) => operationId === "listSessionKeys");
  const cursor = [ADDRESS];
  const statements = [
    ...[...indexReads, ...writeReads].flatMap(statementsOf),
    createRowsBeforeQuery(VERSIONED_TABLES).select([], 1, { logsMax: 1, logBytesMax: 1, rowBytesMax: 1 }),
    selectLinks(new EventLinks(), 1),
    sessionKeys?.plan({ values: { address: ADDRESS, cursor }, asOf: null, provenance: false }).sql,
  ].filter((each) => each !== undefined);
  const texts = new Map(statements.map((each) => [each.text, each]));
  const types = [];
  for (const statement of texts.values()) types.push(...(await typesOf(statement)));
  expect([texts.size > 100, types.length > 500]).toEqual([true, true]);
  return types;
}

it("no read compares bytes with a value that it has not converted", async () => {
  expect((await typesOfReads()).filter((type) => type.startsWith("bytea"))).toEqual([]);
});

it("every read works on rows of the version before, whose hex is text", async () => {
  const types = await typesOfReads();
  for (const { name, columns } of tables) {
    const changes = Object.entries(columns)
      .filter(([, { isHex }]) => isHex)
      .map(([each]) => `alter ${each} type text collate "C" using hex_text(${each})`);
    if (changes.length > 0) await index.database.query(`alter table ${name} ${changes.join(", ")}`);
  }
  expect(await typesOfReads()).toEqual(types);
});
