// COPY … FROM STDIN: the fastest way in, with back-pressure, and given up in order when the source fails.
import { once } from "node:events";
import type { ClientBase, Connection } from "pg";

export type CopySource = Iterable<string> | AsyncIterable<string>;

// What the driver's connection can do beyond its declared type.
type CopyConnection = Connection & {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
};

// Below this, the cost per message dominates; far above it, nothing more is gained.
const CHUNK_LENGTH = 64 * 1024;
// So much may wait to be sent: a process that is busy with something else must not let the server run dry.
const BUFFERED_MAX = 1024 * 1024;
const SPECIAL = /[\\\t\n\r]/;
const SPECIALS = /[\\\t\n\r]/g;
const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** NULL in COPY's text format. */
export const COPY_NULL = "\\N";

/** A value in COPY's text format. Hardly any has something to escape, and looking is cheaper than replacing. */
export function copyText(value: string): string {
  return SPECIAL.test(value)
    ? value.replace(SPECIALS, (character) => ESCAPES[character] ?? character)
    : value;
}

/** One row in COPY's text format; null is NULL. */
export function copyLine(values: readonly (string | null)[]): string {
  return `${values.map((value) => (value === null ? COPY_NULL : copyText(value))).join("\t")}\n`;
}

/** The rows could not be produced; the cause is what their source threw. */
export class CopySourceFailure extends Error {}

/** Resolves with the number of rows the server took. */
export async function copyIn(client: ClientBase, sql: string, source: CopySource): Promise<number> {
  return await new Promise((resolve, reject) => {
    client.query(new CopyIn(sql, source, (error, rows) => (error ? reject(error) : resolve(rows))));
  });
}

// The driver calls these methods by name as the server's messages arrive.
class CopyIn {
  readonly #sql: string;
  readonly #source: CopySource;
  #failure: CopySourceFailure | null = null;
  #rows = 0;
  #over = false;
  callback: (error: unknown, rows: number) => void;

  constructor(sql: string, source: CopySource, callback: (error: unknown, rows: number) => void) {
    this.#sql = sql;
    this.#source = source;
    this.callback = callback;
  }

  submit(connection: Connection): void {
    connection.query(this.#sql);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    this.#send(connection).then(
      () => connection.endCopyFrom(),
      (cause) => {
        this.#failure = new CopySourceFailure("the source of the rows failed", { cause });
        connection.sendCopyFail(this.#failure.message);
      },
    );
  }

  handleCommandComplete(message: { text: string }): void {
    this.#rows = Number(message.text.split(" ")[1]);
  }

  handleError(error: unknown): void {
    this.#over = true;
    // The server only repeats that it was told to give up; what the source said is worth more.
    this.callback(this.#failure ?? error, 0);
  }

  handleReadyForQuery(): void {
    this.#over = true;
    this.callback(null, this.#rows);
  }

  async #send(connection: CopyConnection): Promise<void> {
    for await (const chunk of chunks(this.#source)) {
      // The server gave up half-way: whatever more is sent it would throw away.
      if (this.#over) return;
      connection.sendCopyFromChunk(Buffer.from(chunk));
      if (connection.stream.writableLength > BUFFERED_MAX) await drained(connection);
    }
  }
}

/** Lines joined to chunks worth a message; lines at hand are not waited for one by one, which would cost the most. */
function chunks(source: CopySource): Iterable<string> | AsyncIterable<string> {
  return Symbol.asyncIterator in source ? chunksAwaited(source) : chunksAtHand(source);
}

function* chunksAtHand(source: Iterable<string>): Generator<string> {
  let pending = "";
  for (const line of source) {
    pending += line;
    if (pending.length < CHUNK_LENGTH) continue;
    yield pending;
    pending = "";
  }
  if (pending) yield pending;
}

async function* chunksAwaited(source: AsyncIterable<string>): AsyncGenerator<string> {
  let pending = "";
  for await (const line of source) {
    pending += line;
    if (pending.length < CHUNK_LENGTH) continue;
    yield pending;
    pending = "";
  }
  if (pending) yield pending;
}

async function drained({ stream }: CopyConnection): Promise<void> {
  const settled = new AbortController();
  try {
    // A connection that breaks never drains.
    await Promise.race([
      once(stream, "drain", { signal: settled.signal }),
      once(stream, "close", { signal: settled.signal }),
    ]);
  } finally {
    settled.abort();
  }
}
