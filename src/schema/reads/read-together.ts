// Runs several reads with one statement, so that all of them see one state of the index and cost one round trip.
import { Fault } from "../../lib/fault.ts";
import { joinSql, rawSql, type SqlText, sql } from "../sql.ts";
import {
  assembleBody,
  type IndexHead,
  type RequestedRead,
  type ResultRows,
  type RunRead,
  toFirstRecord,
} from "./read.ts";

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
