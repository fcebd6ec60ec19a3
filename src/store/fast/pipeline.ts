// Statements and rows in one go: sent without waiting for any answer, carried out in order, and refused together.
import type { ClientBase, Connection } from "pg";

/** A statement, or rows for a COPY … FROM STDIN: see copyMessages. */
export type PipelineStep =
  | { readonly text: string; readonly values?: readonly (string | number)[] }
  | { readonly copy: string; readonly messages: readonly Buffer[] };

// What the driver's connection can do beyond its declared type.
type CopyConnection = Connection & { endCopyFrom(): void };

/**
 * Resolves when the server has done all of it; rejects with the first step that failed, after which it does nothing
 * more. To be run inside a transaction, which then leaves no trace of the steps before either.
 *
 * A write of thirty tables that waits for an answer after each statement waits most of its time for a process that is
 * busy with the next batch. Sent at once, the server always has something to do, and the network is waited for once.
 */
export function runPipeline(
  client: ClientBase,
  steps: readonly PipelineStep[],
  timeoutMs: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(new Script(steps, timeoutMs, (error) => (error ? reject(error) : resolve())));
  });
}

// The driver calls these methods by name as the server's messages arrive.
class Script {
  readonly #steps: readonly PipelineStep[];
  /** Read by the driver. */
  readonly query_timeout: number;
  callback: (error: unknown) => void;

  constructor(steps: readonly PipelineStep[], timeoutMs: number, callback: (error: unknown) => void) {
    this.#steps = steps;
    this.query_timeout = timeoutMs;
    this.callback = callback;
  }

  // Nothing is followed by a Sync but the last step: after an error the server passes over everything up to it, rows
  // that were meant for a COPY included.
  submit(connection: Connection): void {
    const { stream } = connection;
    stream.cork();
    for (const step of this.#steps) {
      const copies = "copy" in step;
      connection.parse({ name: "", text: copies ? step.copy : step.text, types: [] }, true);
      connection.bind({ values: copies ? [] : (step.values ?? []).map(String) }, true);
      connection.execute(null, true);
      if (!copies) continue;
      for (const message of step.messages) stream.write(message);
      (connection as CopyConnection).endCopyFrom();
    }
    connection.sync();
    stream.uncork();
  }

  handleError(error: unknown): void {
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  // That a step was done is of no interest before all are; rows that a statement returns are not asked for.
  handleCommandComplete(): void {}
  handleCopyInResponse(): void {}
  handleDataRow(): void {}
  handleEmptyQuery(): void {}
}
