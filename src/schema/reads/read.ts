// A read of the index: a path, its parameters, one statement, and how its rows become the response body.
import { Fault } from "../../lib/fault.ts";
import { formatMoment } from "../../lib/moment.ts";
import type { JsonSchema, Schema } from "../json-schema.ts";
import type { Operation, Parameter, ParameterValues, ValuesOf } from "../parameter.ts";
import type { WritableTable } from "../record-store.ts";
import { joinSql, rawSql, type SqlText, type SqlValue, sql } from "../sql.ts";

/** The latest indexed block. */
export type IndexHead = {
  /** Increases with every change of the index, over reorgs too: of two states the one with the higher number is newer. */
  readonly revision: bigint;
  readonly number: bigint;
  readonly hash: string;
  /** In seconds. */
  readonly timestamp: bigint;
  readonly finalized: bigint;
  /** First block of the deployment; earlier blocks cannot be read. */
  readonly start: bigint;
};

/** A statement to run; slow ones are shared fairly between clients. */
export type ReadStatement = {
  readonly sql: SqlText;
  readonly cost: ReadCost;
  readonly client?: string;
  /** A block that the server should have; one without it responds only if no other can. */
  readonly atLeast?: bigint | null;
  /**
   * The records of clients that it must show: all of them, as only the primary surely does, or all that this process
   * knows of. Absent if it shows none.
   */
  readonly records?: "primary" | "replayed";
};

/** Runs a statement and returns what `use` makes of its rows and the head, both from one snapshot. */
export type RunRead = <T>(
  statement: ReadStatement,
  use: (head: IndexHead, rows: ResultRows) => T,
) => Promise<T>;

/** The largest block number PostgreSQL and the tables can hold. */
export const BLOCK_MAX = 2n ** 63n - 1n;

/** The block, on a certain fork, that a response reflects. */
export function formatHeadHeaders(head: IndexHead): Readonly<Record<string, string>> {
  return {
    "x-indexed-block": head.number.toString(),
    "x-indexed-block-hash": head.hash,
    "x-indexed-time": formatMoment(Number(head.timestamp)),
  };
}

/** Whether this is the problem of a block before those whose rows are kept. */
export function isBeforeKeptBlocks(problem: string): boolean {
  return /^This data is available from block [0-9]+ on[.:]/.test(problem);
}

/** The text about them in the description of an endpoint. */
export const HEAD_HEADERS: Readonly<Record<string, string>> = {
  "x-indexed-block": "Number of the latest indexed block.",
  "x-indexed-block-hash": "Hash of that block, which identifies the fork.",
  "x-indexed-time": "Time of that block.",
};

/** Rejects a block that is not indexed; `recent` is for rows with history only back to the finalized block. */
export function assertBlockReadable(asOf: AsOf, head: IndexHead, options: { recent: boolean }): void {
  if (asOf === null) return;
  const { block } = asOf;
  const problem =
    block > head.number
      ? `block ${block} is not indexed yet; the index is at ${head.number}.`
      : block < head.start
        ? `block ${block} is before the deployment, which begins at ${head.start}.`
        : options.recent && block < head.finalized
          ? `This data is available from block ${head.finalized} on: give a later block, or none for the newest state.`
          : null;
  if (problem !== null) throw new Fault("INPUT_INVALID", problem);
}

/** The block that the index must have; null takes what there is. */
export type MinBlock = bigint | null;

/** After which time a block that is just being indexed is there. */
export const RETRY_AFTER_SECONDS = 1;

/** Rejects what was read before the index had the block. Numbers count, whatever the fork. */
export function assertBlockReached(minBlock: MinBlock, head: bigint): void {
  if (minBlock !== null && head < minBlock) throw createBlockNotIndexedFault(minBlock, head);
}

export function createBlockNotIndexedFault(minBlock: bigint, head: bigint | null, reason = ""): Fault {
  const at = head === null ? "has not reached" : `is at block ${head} and has not reached`;
  return new Fault(
    "BLOCK_NOT_INDEXED",
    `${reason}The index ${at} block ${minBlock}; try again in a moment.`,
    {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      headers: head === null ? {} : { "x-block-number": head.toString() },
    },
  );
}

export type AtBlock = {
  readonly block: bigint;
  /** In seconds: when states that depend on time are judged; null is the time of the block itself. */
  readonly time: bigint | null;
};

/** The block to read at; null is the latest indexed one. */
export type AsOf = AtBlock | null;

export type ReadInput<Values = ParameterValues<SqlValue>> = {
  /** Parsed parameters by name; absent parameters have no key. */
  readonly values: Values;
  readonly asOf: AsOf;
  /** Whether the block was found by a time, which may lead to another one on the next page: cursors then name it. */
  readonly isDated?: boolean;
  readonly provenance: boolean;
  /** Whether records show what execution requires, for reads that have it. */
  readonly requirements?: boolean;
};

/**
 * The cost of a statement for the database. `quick` reads hardly more rows than it returns, however large the tables
 * are, which tests/api/read-costs.integration.test.ts enforces. `slow` is everything else; it runs on its own
 * connections, so that no quick read waits behind it.
 */
export type ReadCost = "quick" | "slow";

export type ReadPlan<Body = unknown> = {
  readonly sql: SqlText;
  readonly cost: ReadCost;
  /** The body; null responds 404. */
  readonly assemble: (rows: ResultRows) => Body | null;
  /** The same with as many records as fit into the bytes, at least one; absent if nothing can be left out. */
  readonly assembleWithin?: (rows: ResultRows, bytesMax: number) => unknown;
};

export type Read = Operation<SqlValue> & {
  /** Whether every record comes from a log of the chain, so that `include` applies. */
  readonly provenance: boolean;
  /** Whether `include=requirements` applies too. */
  readonly requirements?: boolean;
  /** Whether its rows belong to no block: it has no parameter `block`, and ignores it like any unknown key. */
  readonly unversioned?: boolean;
  /** Whether a contract stores the record, so that `proof` applies. */
  readonly isProvable?: boolean;
  /** Whether it reads rollups with history only back to the finalized block. */
  readonly recentOnly?: boolean;
  /** The client-written tables that it reads: a change to one invalidates its cached responses. */
  readonly writableTables?: readonly WritableTable[];
  /** Whether a client finds here by its key what it has just written: from the primary, past the cache with no-cache. */
  readonly showsOwnWrites?: boolean;
  readonly responseSchema: JsonSchema;
  /** The error message of a 404; null if the record always exists. */
  readonly notFoundMessage: string | null;
  readonly plan: (input: ReadInput) => ReadPlan;
};

/** A read whose plan gets values with the types of its parameters, and makes the body that its schema describes. */
export function defineIndexRead<const Parameters extends readonly Parameter<SqlValue>[], Body>(
  declared: Omit<Read, "parameters" | "responseSchema" | "plan"> & {
    readonly parameters: Parameters;
    readonly responseSchema: Schema<Body>;
    readonly plan: (input: ReadInput<ValuesOf<Parameters>>) => ReadPlan<Body>;
  },
): Read {
  // The router has parsed each value by its kind.
  return declared as unknown as Read;
}

/** The names that `include` takes. */
export function includableParts({ provenance, requirements = false }: Read): readonly string[] {
  return [...(provenance ? ["provenance"] : []), ...(requirements ? ["requirements"] : [])];
}

/** The rows of a statement. Cells in the order of the columns: numbers as text, booleans, JSON as objects. */
export type ResultRows = {
  /** A name that begins with _ is internal to the statement: no record shows it. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
};

/** A record, made from a row here and nowhere else. */
export type ResultRow = Readonly<Record<string, unknown>>;

/** The rows as objects, or the first few of them; the caller knows what its statement selects. */
export function toRecords<Row extends object = ResultRow>(
  { columns, rows }: ResultRows,
  countMax = rows.length,
): Row[] {
  const visible = visibleColumnsOf(columns);
  const records: Row[] = [];
  for (const cells of rows) {
    if (records.length >= countMax) break;
    const record: Record<string, unknown> = {};
    for (const { name, at } of visible) record[name] = cells[at];
    records.push(record as Row);
  }
  return records;
}

type VisibleColumn = { readonly name: string; readonly at: number };

// Repeated statements have the same column list each time.
const visibleColumns = new WeakMap<readonly string[], readonly VisibleColumn[]>();

function visibleColumnsOf(columns: readonly string[]): readonly VisibleColumn[] {
  const known = visibleColumns.get(columns);
  if (known) return known;
  const visible = columns.flatMap((name, at) => (name.startsWith("_") ? [] : [{ name, at }]));
  visibleColumns.set(columns, visible);
  return visible;
}

export type RequestedRead = { readonly read: Read; readonly input: ReadInput };

/** The body of a response; throws the fault of one that the API does not have. */
export function assembleBody(
  { read, input }: RequestedRead,
  plan: Pick<ReadPlan, "assemble">,
  head: IndexHead,
  rows: ResultRows,
): unknown {
  assertBlockReadable(input.asOf, head, { recent: read.recentOnly === true });
  const body = plan.assemble(rows);
  if (body === null) throw new Fault("NOT_FOUND", read.notFoundMessage ?? "There is no such record.");
  return body;
}

/** The first record; null if there is no row. */
export function toFirstRecord<Row extends object = ResultRow>(rows: ResultRows): Row | null {
  return toRecords<Row>(rows, 1)[0] ?? null;
}

/** The cell of a column that records do not show. */
export function readHiddenColumn({ columns, rows }: ResultRows, row: number, name: string): unknown {
  return rows[row]?.[columns.indexOf(name)];
}

/** A block that names the chain up to it, and what was read there. */
export type PinnedHead = Pick<IndexHead, "number" | "hash">;

type ReadResult = { readonly body: unknown } | { readonly error: unknown };

type TogetherOptions = {
  readonly client: string;
  /** Called when the rows are there, because another request may have pinned a block meanwhile. */
  readonly findPin: () => PinnedHead | null;
};

type Together = { readonly head: PinnedHead; readonly results: readonly ReadResult[] };

/**
 * The result of each read, and the block at which they were read: the pinned one, or the head if none is pinned. Throws
 * PinLostFault if a reorg has replaced the pinned block.
 */
export async function readTogether(
  run: RunRead,
  reads: readonly RequestedRead[],
  { client, findPin }: TogetherOptions,
): Promise<Together> {
  let first: PinnedHead | null = null;
  const pinAt = (head: PinnedHead) => {
    first = findPin() ?? first ?? head;
    return first;
  };
  try {
    return await readGroup(run, reads, client, pinAt);
  } catch (error) {
    if (!(error instanceof Fault && error.code === "TIMED_OUT") || reads.length < 2) throw error;
  }
  // Together they took longer than a statement may: each gets that time for itself.
  const done = await Promise.all(reads.map((each) => readGroup(run, [each], client, pinAt)));
  const [{ head }] = done as [Together];
  return { head, results: done.flatMap(({ results }) => results) };
}

async function readGroup(
  run: RunRead,
  reads: readonly RequestedRead[],
  client: string,
  pinAt: (head: PinnedHead) => PinnedHead,
): Promise<Together> {
  const found = await runTogether(run, { reads, client, pin: null }, (head, assemble) => {
    const pin = pinAt(head);
    return pin.hash === head.hash ? { head, results: assemble() } : pin;
  });
  // At the head nearly always: a read as of an earlier block can cost more.
  return "results" in found ? found : readAtPin(run, reads, client, found);
}

function readAtPin(
  run: RunRead,
  reads: readonly RequestedRead[],
  client: string,
  pin: PinnedHead,
): Promise<Together> {
  // Totals are kept for recent blocks only: they have to be read again, with everything else.
  const needsRecent = reads.some(({ read, input }) => read.recentOnly === true && input.asOf === null);
  const pinned = reads.map(({ read, input }) => ({
    read,
    input:
      read.unversioned === true ? input : { ...input, asOf: input.asOf ?? { block: pin.number, time: null } },
  }));
  return runTogether(run, { reads: pinned, client, pin }, (head, assemble, pinnedHash) => {
    // Blocks without events are deleted once they are final; a final block is not replaced.
    if (pinnedHash !== pin.hash && pin.number > head.finalized) throw new PinLostFault();
    if (needsRecent && pin.number < head.finalized) throw new PinLostFault();
    return { head: pin, results: assemble() };
  });
}

export class PinLostFault extends Fault {
  constructor() {
    super("BLOCK_NOT_INDEXED", "A reorg replaced the block that was being read; try again.", {
      retryAfterSeconds: 1,
    });
  }
}

type Statement = {
  readonly reads: readonly RequestedRead[];
  readonly client: string;
  readonly pin: PinnedHead | null;
};

type UseResults<T> = (
  head: IndexHead,
  assemble: () => readonly ReadResult[],
  /** The hash that the pinned block has now; null without the block. */
  pinnedHash: string | null,
) => T;

function runTogether<T>(run: RunRead, { reads, client, pin }: Statement, use: UseResults<T>): Promise<T> {
  // A plan that cannot be made, such as for a wrong combination of filters, fails alone.
  const planned = reads.map((each) => ({ each, plan: attempt(() => each.read.plan(each.input)) }));
  const plans = planned.flatMap(({ plan }) => ("body" in plan ? [plan.body] : []));
  const blocks = [pin?.number ?? null, ...reads.map(({ input }) => input.asOf?.block ?? null)];
  const statement = {
    sql: joinPlans([selectBlockHash(pin), ...plans.map((plan) => plan.sql)]),
    cost: plans.some(({ cost }) => cost === "slow") ? ("slow" as const) : ("quick" as const),
    client,
    atLeast: blocks.reduce((most, each) => (most === null || (each !== null && each > most) ? each : most)),
    ...(reads.some(({ read }) => read.writableTables !== undefined) && { records: "replayed" as const }),
  };
  return run(statement, (head, result) => {
    const [block, ...parts] = splitRows(result, plans.length + 1);
    const pinnedHash = block === undefined ? null : (toFirstRecord(block)?.hash ?? null);
    const assemble = () => {
      const rows = parts.values();
      return planned.map(({ each, plan }) => {
        if (!("body" in plan)) return plan;
        const own = rows.next().value ?? { columns: [], rows: [] };
        return attempt(() => assembleBody(each, plan.body, head, own));
      });
    };
    return use(head, assemble, pinnedHash === null ? null : `0x${String(pinnedHash)}`);
  });
}

function attempt<T>(make: () => T): { readonly body: T } | { readonly error: unknown } {
  try {
    return { body: make() };
  } catch (error) {
    return { error };
  }
}

function selectBlockHash(pin: PinnedHead | null): SqlText {
  return sql`select encode(b.hash, 'hex') as hash from blocks b where b.number = ${pin?.number.toString() ?? null}::bigint`;
}

/** Each row of the statement belongs to the part that `_part` numbers; the columns of other parts are null in it. */
function joinPlans(parts: readonly SqlText[]): SqlText {
  // `offset 0` keeps each subquery apart, and its condition within: PostgreSQL runs each part once, for its number.
  const joined = parts.map((rows, index) => {
    // The part before is named, although it is never there: otherwise PostgreSQL compares every order of the joins.
    const isOwn = `n.part = ${index}${index === 0 ? "" : ` and p${index - 1}._own is null`}`;
    return sql` left join lateral (select true as _own, s.* from (${rows}) s where ${rawSql(isOwn)} offset 0) ${rawSql(`p${index}`)} on true`;
  });
  const columns = parts.map((_, index) => `p${index}.*`).join(", ");
  const numbers = parts.map((_, index) => `(${index})`).join(", ");
  return sql`select n.part as _part, ${rawSql(columns)} from (values ${rawSql(numbers)}) n(part)${joinSql(joined, "")}`;
}

function splitRows({ columns, rows }: ResultRows, count: number): readonly ResultRows[] {
  const part = columns.indexOf("_part");
  const starts = columns.flatMap((name, at) => (name === "_own" ? [at] : []));
  return Array.from({ length: count }, (_, index) => {
    const start = starts[index] ?? columns.length;
    const end = starts[index + 1] ?? columns.length;
    const own = rows.filter((cells) => String(cells[part]) === String(index) && cells[start] === true);
    return {
      columns: columns.slice(start + 1, end),
      rows: own.map((cells) => cells.slice(start + 1, end)),
    };
  });
}
