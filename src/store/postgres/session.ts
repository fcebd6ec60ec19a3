// One connection in use: statements one after another, and transactions that end in COMMIT or leave no trace.
import type { ClientBase, QueryResult } from "pg";
import { createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { Fault } from "../../lib/fault.ts";
import type { ResultRows } from "../../schema/reads/result-rows.ts";
import { type PipelineStep, runPipeline } from "../fast/pipeline.ts";
import { RawRowQuery } from "../fast/raw-row-query.ts";
import { type DatabaseTarget, isConnectionBroken, toDatabaseFault } from "./errors.ts";

export type StatementValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | Uint8Array
  | Date
  | readonly StatementValue[];

/** With a name it is prepared once per connection; the same name must always carry the same text. */
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
  /** All of these steps in order, without waiting for the server in between; nothing of what they return is read. */
  sendPipeline(steps: readonly PipelineStep[]): Promise<void>;
};

export type TransactionOptions = {
  readonly isolation?: "read committed" | "repeatable read" | "serializable";
  readonly access?: "read write" | "read only";
  readonly statementTimeoutMs?: number;
};

// What one transaction may have waiting on its connection; a loop that forgets to await would pass it soon.
const WAITING_MAX = 10_000;
// The server ends a statement by its own clock first; this is for a server that no longer answers at all.
const ANSWER_MARGIN_MS = 5_000;
// What a timer can count to.
const TIMER_MS_MAX = 2 ** 31 - 1;

// Told by what the connection itself threw, never by an error that came out of the work done on it.
const broken = new WeakSet<ClientBase>();

/** Runs one statement on a connection; the connection must not be used by anyone else meanwhile. */
export async function runStatement<R extends object>(
  client: ClientBase,
  statement: string | SqlStatement,
  options: { place: DatabaseTarget; statementTimeoutMs: number },
): Promise<StatementResult<R>> {
  const { rows, rowCount } = await send<R>(client, statement, options);
  return { rows, count: rowCount ?? 0 };
}

/**
 * What `use` makes of the rows of a statement, on a pipelined connection that others may use meanwhile.
 *
 * It is called as soon as the last row is there. Rows that a promise carries outlive the garbage collector's young
 * generation: to look after them cost as much as to read them.
 */
export function queryRawRows<T>(
  client: ClientBase,
  statement: PreparedStatement,
  use: (answered: ResultRows) => T,
  options: { place: DatabaseTarget; statementTimeoutMs: number },
): Promise<T> {
  const timeoutMs = answerMsMax(options.statementTimeoutMs, 1);
  return new Promise((resolve, reject) => {
    const query = new RawRowQuery(statement, timeoutMs, (error, answered) => {
      if (error) return reject(failureOn(client, error, options.place));
      try {
        resolve(use(answered));
      } catch (refusal) {
        reject(refusal);
      }
    });
    client.query(query);
  });
}

/** The connection may be used again afterwards unless `mustDiscard` says otherwise. */
export async function runTransaction<T>(
  client: ClientBase,
  work: (session: Session) => Promise<T>,
  options: TransactionOptions & { place: DatabaseTarget; statementTimeoutMs: number },
): Promise<T> {
  const { place, isolation = "read committed", access = "read write", statementTimeoutMs } = options;
  // One at a time and in order: work that runs several statements at once still works, and COMMIT comes last.
  const turn = createConcurrencyLimit({ runningMax: 1, waitingMax: WAITING_MAX });
  let open = true;
  const inTurn = async <R>(task: () => Promise<R>): Promise<R> => {
    if (!open) throw new Error("the transaction of this session has ended");
    return await turn.run(task);
  };
  const session: Session = {
    query: (statement) => inTurn(() => runStatement(client, statement, { place, statementTimeoutMs })),
    sendPipeline: (steps) => inTurn(() => sendSteps(client, steps, { place, statementTimeoutMs })),
  };

  await runStatement(
    client,
    `BEGIN ISOLATION LEVEL ${isolation} ${access}; SET LOCAL statement_timeout TO ${statementTimeoutMs}`,
    options,
  );
  try {
    const result = await work(session);
    const { command } = await inTurn(() => send(client, "COMMIT", options));
    // A transaction in which a statement failed answers COMMIT with ROLLBACK, and no error.
    if (command !== "COMMIT") {
      throw new Fault(
        "INTERNAL",
        "The transaction was rolled back, because an error inside it was not passed on.",
      );
    }
    return result;
  } catch (error) {
    // Should this fail too, the first error is the one to tell, and the connection is discarded: see mustDiscard.
    if (!broken.has(client)) await inTurn(() => send(client, "ROLLBACK", options)).catch(() => undefined);
    throw error;
  } finally {
    open = false;
  }
}

/** A transaction that is known beforehand: sent with its COMMIT in one go, which the server passes over after a failure. */
export async function commitPipeline(
  client: ClientBase,
  steps: readonly PipelineStep[],
  options: { place: DatabaseTarget; statementTimeoutMs: number },
): Promise<void> {
  const begin = [
    { text: "BEGIN ISOLATION LEVEL read committed read write" },
    { text: `SET LOCAL statement_timeout TO ${options.statementTimeoutMs}` },
  ];
  try {
    await sendSteps(client, [...begin, ...steps, { text: "COMMIT" }], options);
  } catch (error) {
    if (!broken.has(client)) await send(client, "ROLLBACK", options).catch(() => undefined);
    throw error;
  }
}

/** After a failure: whether the connection is broken or still inside a transaction. */
export function mustDiscardConnection(client: ClientBase): boolean {
  return broken.has(client) || client.getTransactionStatus() !== "I";
}

async function sendSteps(
  client: ClientBase,
  steps: readonly PipelineStep[],
  options: { place: DatabaseTarget; statementTimeoutMs: number },
): Promise<void> {
  if (steps.length === 0) return;
  try {
    await runPipeline(client, steps, answerMsMax(options.statementTimeoutMs, steps.length));
  } catch (error) {
    throw failureOn(client, error, options.place);
  }
}

async function send<R extends object>(
  client: ClientBase,
  statement: string | SqlStatement,
  options: { place: DatabaseTarget; statementTimeoutMs: number },
): Promise<QueryResult<R>> {
  const { name, text, values } = typeof statement === "string" ? { text: statement } : statement;
  const config = {
    text,
    ...(name === undefined ? {} : { name }),
    ...(values === undefined ? {} : { values: [...values] }),
    query_timeout: answerMsMax(options.statementTimeoutMs, 1),
  };
  try {
    const result: QueryResult<R> | QueryResult<R>[] = await client.query<R>(config);
    // Several statements in one text give several results; the last one is the answer.
    return Array.isArray(result) ? (result.at(-1) ?? result[0]) : result;
  } catch (error) {
    throw failureOn(client, error, options.place);
  }
}

function failureOn(client: ClientBase, error: unknown, place: DatabaseTarget): unknown {
  if (isConnectionBroken(error)) broken.add(client);
  return toDatabaseFault(error, place);
}

function answerMsMax(statementTimeoutMs: number, statements: number): number {
  return statementTimeoutMs === 0
    ? 0
    : Math.min(statementTimeoutMs * statements + ANSWER_MARGIN_MS, TIMER_MS_MAX);
}
