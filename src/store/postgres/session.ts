// Statements and transactions on one connection.
import type { ClientBase, QueryResult } from "pg";
import { createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { Fault } from "../../lib/fault.ts";
import type { ResultRows } from "../../schema/reads/read.ts";
import { type PipelineStep, runPipeline } from "../fast/pipeline.ts";
import { RawRowQuery } from "../fast/raw-row-query.ts";
import { type DatabaseTarget, isConnectionBroken, SQLSTATE, sqlState, toDatabaseFault } from "./errors.ts";

type StatementValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | Uint8Array
  | Date
  | readonly StatementValue[];

/** A named statement is prepared once per connection; a name must always have the same text. */
export type SqlStatement = {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly StatementValue[];
};

export type PreparedStatement = {
  readonly name: string;
  readonly text: string;
  readonly values: readonly StatementValue[];
};

export type StatementResult<R> = { readonly rows: R[]; readonly count: number };

export type Session = {
  query<R extends object = Record<string, unknown>>(
    statement: string | SqlStatement,
  ): Promise<StatementResult<R>>;
  /** Executes all steps in order, without waiting for the server in between; rows that they return are dropped. */
  sendPipeline(steps: readonly PipelineStep[]): Promise<void>;
};

export type StoredRow = Record<string, NonNullable<unknown> | null>;

/** The methods of a session or a database that most readers need. */
export type QueryRunner = Pick<Session, "query">;

export type TransactionOptions = {
  readonly isolation?: "read committed" | "repeatable read" | "serializable";
  readonly access?: "read write" | "read only";
  readonly statementTimeoutMs?: number;
};

/** `target` is named in errors. */
export type StatementLimits = {
  readonly target: DatabaseTarget;
  readonly statementTimeoutMs: number;
  /** We made the session read-only: a rejected write is a defect of ours, not a sign that the server was demoted. */
  readonly readOnly?: boolean;
};

// Statements that may wait in one transaction; a loop that forgets to await exceeds it soon.
const WAITING_MAX = 10_000;
// The server times out first; this is for a server that no longer responds at all.
const RESPONSE_MARGIN_MS = 5_000;
// The maximum of a Node timer.
const TIMER_MS_MAX = 2 ** 31 - 1;

// Connections that failed themselves, as opposed to errors thrown by the work on them.
const brokenClients = new WeakSet<ClientBase>();

/** Runs one statement on a connection, which must not be used concurrently. */
export async function runStatement<R extends object>(
  client: ClientBase,
  statement: string | SqlStatement,
  limits: StatementLimits,
): Promise<StatementResult<R>> {
  const { rows, rowCount } = await send<R>(client, statement, limits);
  return { rows, count: rowCount ?? 0 };
}

/** Statements on one connection, within the same limits. */
export function openStatements(client: ClientBase, limits: StatementLimits): QueryRunner {
  return { query: (statement) => runStatement(client, statement, limits) };
}

/**
 * Runs a statement on a pipelined connection, which may be used concurrently, and resolves with the result of `use`.
 *
 * `use` runs as soon as the last row has arrived. Rows passed through a promise would survive the garbage collector's
 * young generation, and collecting them would cost as much as reading them.
 */
export function queryRawRows<T>(
  client: ClientBase,
  statement: PreparedStatement,
  use: (result: ResultRows) => T,
  limits: StatementLimits,
): Promise<T> {
  const timeoutMs = responseMsMax(limits.statementTimeoutMs, 1);
  return new Promise((resolve, reject) => {
    const query = new RawRowQuery(statement, timeoutMs, (error, result) => {
      if (error) return reject(recordFailure(client, error, limits));
      try {
        resolve(use(result));
      } catch (failure) {
        reject(failure);
      }
    });
    client.query(query);
  });
}

/** The rows of a statement in pages. Needs a transaction, whose snapshot all pages share; one at a time in a session. */
export async function* readByCursor(
  session: QueryRunner,
  pageRows: number,
  { text, values = [] }: SqlStatement,
): AsyncGenerator<readonly StoredRow[], void, void> {
  await session.query({ text: `declare paged_rows no scroll cursor for ${text}`, values });
  try {
    for (;;) {
      const { rows } = await session.query<StoredRow>(`fetch ${pageRows} from paged_rows`);
      if (rows.length > 0) yield rows;
      if (rows.length < pageRows) break;
    }
  } finally {
    // A failed transaction has closed the cursor already, and its own error is the one to report.
    await session.query("close paged_rows").catch(() => undefined);
  }
}

/** The connection can be reused afterwards unless mustDiscardConnection says otherwise. */
export async function runTransaction<T>(
  client: ClientBase,
  work: (session: Session) => Promise<T>,
  options: TransactionOptions & StatementLimits,
): Promise<T> {
  const { target, isolation = "read committed", access = "read write", statementTimeoutMs } = options;
  const limits = { target, statementTimeoutMs, readOnly: access === "read only" };
  // One at a time and in order, even if the work starts several statements at once; COMMIT comes last.
  const queue = createConcurrencyLimit({ runningMax: 1, waitingMax: WAITING_MAX });
  let isOpen = true;
  const inOrder = async <R>(task: () => Promise<R>): Promise<R> => {
    if (!isOpen) throw new Error("the transaction of this session has ended");
    return await queue.run(task);
  };
  const session: Session = {
    query: (statement) => inOrder(() => runStatement(client, statement, limits)),
    sendPipeline: (steps) => inOrder(() => sendSteps(client, steps, limits)),
  };

  await runStatement(
    client,
    `BEGIN ISOLATION LEVEL ${isolation} ${access}; SET LOCAL statement_timeout TO ${statementTimeoutMs}`,
    limits,
  );
  try {
    const result = await work(session);
    const { command } = await inOrder(() => send(client, "COMMIT", limits));
    // After a failed statement the server responds to COMMIT with ROLLBACK, and no error.
    if (command !== "COMMIT") {
      throw new Fault(
        "INTERNAL",
        "The transaction was rolled back, because an error inside it was not rethrown.",
      );
    }
    return result;
  } catch (error) {
    // If this fails too, the first error is reported, and the connection is discarded: see mustDiscardConnection.
    if (!brokenClients.has(client))
      await inOrder(() => send(client, "ROLLBACK", limits)).catch(() => undefined);
    throw error;
  } finally {
    isOpen = false;
  }
}

/** A transaction whose steps are known in advance, sent at once with its COMMIT, which the server skips after an error. */
export async function commitPipeline(
  client: ClientBase,
  steps: readonly PipelineStep[],
  limits: StatementLimits,
): Promise<void> {
  const begin = [
    { text: "BEGIN ISOLATION LEVEL read committed read write" },
    { text: `SET LOCAL statement_timeout TO ${limits.statementTimeoutMs}` },
  ];
  try {
    await sendSteps(client, [...begin, ...steps, { text: "COMMIT" }], limits);
  } catch (error) {
    if (!brokenClients.has(client)) await send(client, "ROLLBACK", limits).catch(() => undefined);
    throw error;
  }
}

/** After a failure: whether the connection is broken or still inside a transaction. */
export function mustDiscardConnection(client: ClientBase): boolean {
  return brokenClients.has(client) || client.getTransactionStatus() !== "I";
}

async function sendSteps(
  client: ClientBase,
  steps: readonly PipelineStep[],
  limits: StatementLimits,
): Promise<void> {
  if (steps.length === 0) return;
  try {
    await runPipeline(client, steps, responseMsMax(limits.statementTimeoutMs, steps.length));
  } catch (error) {
    throw recordFailure(client, error, limits);
  }
}

async function send<R extends object>(
  client: ClientBase,
  statement: string | SqlStatement,
  limits: StatementLimits,
): Promise<QueryResult<R>> {
  const { name, text, values } = typeof statement === "string" ? { text: statement } : statement;
  const config = {
    text,
    ...(name === undefined ? {} : { name }),
    ...(values === undefined ? {} : { values: [...values] }),
    query_timeout: responseMsMax(limits.statementTimeoutMs, 1),
  };
  try {
    const result: QueryResult<R> | QueryResult<R>[] = await client.query<R>(config);
    // Several statements in one text have several results; the last one counts.
    return Array.isArray(result) ? (result.at(-1) ?? result[0]) : result;
  } catch (error) {
    throw recordFailure(client, error, limits);
  }
}

function recordFailure(client: ClientBase, error: unknown, { target, readOnly }: StatementLimits): unknown {
  if (readOnly && sqlState(error) === SQLSTATE.readOnlyTransaction) return error;
  if (isConnectionBroken(error)) brokenClients.add(client);
  return toDatabaseFault(error, target);
}

function responseMsMax(statementTimeoutMs: number, statements: number): number {
  return statementTimeoutMs === 0
    ? 0
    : Math.min(statementTimeoutMs * statements + RESPONSE_MARGIN_MS, TIMER_MS_MAX);
}
