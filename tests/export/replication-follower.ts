// A follower of a publication: decodes the protocol of pgoutput and applies it to a copy of the tables in memory.
import { tables } from "../../src/protocol/domains.ts";
import type { Database } from "../../src/store/postgres/database.ts";

/** The tables of a publication: none has what people wrote or paid. */
export const PUBLISHED = ["deployment", "blocks", "logs", "checkpoint", ...tables.map(({ name }) => name)];

/** Column values as text, null for NULL. */
type Tuple = readonly (string | null)[];

type Relation = { readonly name: string; readonly keyColumns: readonly number[] };

/** The operations of a transaction of the stream by table, such as `insert logs`. */
export type FollowedTransaction = Readonly<Record<string, number>>;

const KEY_FLAG = 1;

/** Reads one message of the protocol from its beginning. */
class MessageReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes);
  }

  tag(): string {
    this.#at += 1;
    return String.fromCharCode(this.#bytes[this.#at - 1] ?? 0);
  }

  int16(): number {
    this.#at += 2;
    return this.#bytes.readInt16BE(this.#at - 2);
  }

  int32(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  text(): string {
    const end = this.#bytes.indexOf(0, this.#at);
    const text = this.#bytes.toString("utf8", this.#at, end);
    this.#at = end + 1;
    return text;
  }

  tuple(): Tuple {
    return Array.from({ length: this.int16() }, () => {
      const kind = this.tag();
      if (kind === "n") return null;
      if (kind !== "t") throw new Error(`a column comes as ${kind}, which a copy cannot apply`);
      const length = this.int32();
      this.#at += length;
      return this.#bytes.toString("utf8", this.#at - length, this.#at);
    });
  }

  relation(): readonly [id: number, relation: Relation] {
    const id = this.int32();
    this.text();
    const name = this.text();
    this.tag();
    const columns = Array.from({ length: this.int16() }, () => {
      const flags = this.tag().charCodeAt(0);
      this.text();
      this.int32();
      this.int32();
      return flags;
    });
    const keyColumns = columns.flatMap((flags, index) => ((flags & KEY_FLAG) === 0 ? [] : [index]));
    return [id, { name, keyColumns }];
  }
}

export class ReplicationFollower {
  readonly #database: Database;
  readonly #options: { readonly slot: string; readonly publication: string };
  readonly #relations = new Map<number, Relation>();
  readonly #copies = new Map<string, Map<string, Tuple>>();

  private constructor(database: Database, options: { slot: string; publication: string }) {
    this.#database = database;
    this.#options = options;
  }

  /** Creates the slot and copies the tables, while nothing is written. */
  static async start(
    database: Database,
    options: { readonly slot: string; readonly publication: string; readonly tables: readonly string[] },
  ): Promise<ReplicationFollower> {
    const follower = new ReplicationFollower(database, options);
    await database.query({
      text: "select pg_create_logical_replication_slot($1, 'pgoutput')",
      values: [options.slot],
    });
    for (const table of options.tables) follower.#copies.set(table, await readTable(database, table));
    return follower;
  }

  /** Applies what was committed since the last call; one entry per transaction that changed a table. */
  async follow(): Promise<FollowedTransaction[]> {
    const { slot, publication } = this.#options;
    const { rows } = await this.#database.query<{ data: string }>({
      text: `select encode(data, 'hex') as data from pg_logical_slot_get_binary_changes($1, null, null, 'proto_version', '1', 'publication_names', $2)`,
      values: [slot, publication],
    });
    const transactions: Record<string, number>[] = [];
    for (const { data } of rows) {
      const message = new MessageReader(Buffer.from(data, "hex"));
      const tag = message.tag();
      if (tag === "B") transactions.push({});
      if (tag === "R") this.#relations.set(...message.relation());
      if (!["I", "U", "D"].includes(tag)) continue;
      const done = this.#apply(tag, message);
      const last = transactions.at(-1) ?? {};
      last[done] = (last[done] ?? 0) + 1;
    }
    return transactions.filter((each) => Object.keys(each).length > 0);
  }

  /** The rows of the copy, in a fixed order. */
  rows(table: string): string[] {
    return sortRows(this.#copies.get(table) ?? new Map());
  }

  #apply(tag: string, message: MessageReader): string {
    const relation = this.#relations.get(message.int32());
    if (!relation) throw new Error("a change comes before its relation");
    const copy = this.#copies.get(relation.name);
    if (!copy) throw new Error(`${relation.name} is not followed`);
    const keyOf = (tuple: Tuple) => JSON.stringify(relation.keyColumns.map((index) => tuple[index]));
    if (tag === "D") {
      message.tag();
      if (!copy.delete(keyOf(message.tuple()))) throw new Error(`${relation.name} has no such row to delete`);
      return `delete ${relation.name}`;
    }
    // An update of a key sends the old one first; ours never change.
    if (message.tag() !== "N") throw new Error(`a key of ${relation.name} changed`);
    const tuple = message.tuple();
    if ((tag === "U") !== copy.has(keyOf(tuple)))
      throw new Error(`${relation.name}: ${tag} of ${keyOf(tuple)}`);
    copy.set(keyOf(tuple), tuple);
    return `${tag === "U" ? "update" : "insert"} ${relation.name}`;
  }
}

export async function readSourceRows(database: Database, table: string): Promise<string[]> {
  return sortRows(await readTable(database, table));
}

type SourceColumn = { name: string; is_key: boolean; is_boolean: boolean };

/** As the stream has it: a cast of a boolean to text is longer than its own form. */
function toWireText({ name, is_boolean }: SourceColumn): string {
  return is_boolean ? `left(${name}::text, 1)` : `${name}::text`;
}

async function readTable(database: Database, table: string): Promise<Map<string, Tuple>> {
  const { rows: columns } = await database.query<SourceColumn>({
    text: `select a.attname as name, a.attnum = any(i.indkey) as is_key,
      a.atttypid = 'boolean'::regtype as is_boolean from pg_attribute a
      join pg_index i on i.indrelid = a.attrelid and i.indisprimary
      where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum`,
    values: [table],
  });
  const list = columns.map((column) => `${toWireText(column)} as ${column.name}`).join(", ");
  const { rows } = await database.query<Record<string, string | null>>(`select ${list} from ${table}`);
  const keys = columns.filter(({ is_key }) => is_key);
  return new Map(
    rows.map((row) => [
      JSON.stringify(keys.map(({ name }) => row[name])),
      columns.map(({ name }) => row[name] ?? null),
    ]),
  );
}

function sortRows(rows: ReadonlyMap<string, Tuple>): string[] {
  return [...rows.values()].map((tuple) => JSON.stringify(tuple)).sort();
}
