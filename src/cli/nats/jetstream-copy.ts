// A copy of the event stream in JetStream: each message is appended after the last one, or not at all.

import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  type PubAck,
  PubHeaders,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { SextantError } from "@sextant/client/errors";
import type { WatchItem } from "@sextant/client/sextant";
import { Fault } from "../../lib/fault.ts";
import { stringifyVisibly } from "../../lib/foreign-text.ts";

/** The last message of the copy. */
type CopyPosition = {
  readonly sequence: number;
  /** Null while the copy is empty. */
  readonly cursor: string | null;
  /** How many undos the copy has had: part of each id, since after two reorgs the same cursor may come again. */
  readonly undoCount: number;
};

/** The copy does not end at the expected position: another one writes, or the server has lost messages. */
export class CopyMovedError extends Error {
  override readonly name = "CopyMovedError";

  constructor() {
    super("The copy does not end where it did; going on from its last message.");
  }
}

type CopyOptions = {
  /** nats:// or tls://, with user and password or a token. */
  readonly url: string;
  readonly stream: string;
  /** The prefix of all subjects. */
  readonly prefix: string;
};

const CONNECT_MS_MAX = 10_000;
const REQUEST_MS_MAX = 5_000;
const RECONNECT_MS = 1_000;
const MESSAGE_ID = /^(\d{1,15}):(?:event|undo|progress):([A-Za-z0-9_-]{1,1024})$/;
// The characters that a subject may have between its dots.
const TOKEN = /^[A-Za-z0-9_-]{1,64}$/;
// Other errors are explained well enough by the server's own message.
const MOVED: ReadonlySet<number> = new Set([
  JetStreamApiCodes.StreamWrongLastSequence,
  JetStreamApiCodes.StreamWrongLastSequenceUnknown,
]);

export class JetStreamCopy {
  readonly #connection: NatsConnection;
  readonly #manager: JetStreamManager;
  readonly #client: JetStreamClient;
  readonly #options: CopyOptions;

  private constructor(connection: NatsConnection, manager: JetStreamManager, options: CopyOptions) {
    this.#connection = connection;
    this.#manager = manager;
    this.#client = jetstream(connection, { timeout: REQUEST_MS_MAX });
    this.#options = options;
  }

  /** Creates the stream if it does not exist. */
  static async open(options: CopyOptions): Promise<JetStreamCopy> {
    assertNames(options);
    const connection = await connectTo(options.url);
    try {
      const manager = await jetstreamManager(connection, { timeout: REQUEST_MS_MAX });
      const copy = new JetStreamCopy(connection, manager, options);
      assertSuitable(await copy.#readOrCreate(), options);
      return copy;
    } catch (error) {
      await connection.close();
      throw toFailure(error);
    }
  }

  /** Whether nothing but a new connection helps. */
  get isClosed(): boolean {
    return this.#connection.isClosed();
  }

  async readPosition(): Promise<CopyPosition> {
    const { stream, prefix } = this.#options;
    const { state } = await this.#manager.streams.info(stream);
    const sequence = state.last_seq;
    if (sequence === 0) return { sequence, cursor: null, undoCount: 0 };
    const last = await this.#manager.streams.getMessage(stream, { last_by_subj: `${prefix}.>` });
    const [, undos, cursor] = MESSAGE_ID.exec(last?.header.get(PubHeaders.MsgIdHdr) ?? "") ?? [];
    if (cursor !== undefined) return { sequence, cursor, undoCount: Number(undos) };
    throw new Fault(
      "CONFIG_INVALID",
      `\`sextant publish\` did not write the last message of the stream ${stream}, or it was deleted: name another stream with --stream.`,
    );
  }

  /** Throws a CopyMovedError, and appends nothing, if the copy no longer ends at the position. */
  async append(item: WatchItem, after: CopyPosition): Promise<CopyPosition> {
    const undoCount = after.undoCount + (item.kind === "undo" ? 1 : 0);
    const payload = stringifyVisibly(recordOf(item));
    this.#assertFits(payload);
    const ack = await this.#publish(subjectOf(this.#options.prefix, item), payload, {
      msgID: `${undoCount}:${item.kind}:${item.cursor}`,
      expect: { streamName: this.#options.stream, lastSequence: after.sequence },
    });
    // The message was there already: it is the very next one if only the acknowledgement was lost.
    if (ack.duplicate && ack.seq !== after.sequence + 1) throw new CopyMovedError();
    return { sequence: ack.seq, cursor: item.cursor, undoCount };
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #publish(
    subject: string,
    payload: string,
    options: NonNullable<Parameters<JetStreamClient["publish"]>[2]>,
  ): Promise<PubAck> {
    try {
      return await this.#client.publish(subject, payload, { ...options, timeout: REQUEST_MS_MAX });
    } catch (error) {
      if (!(error instanceof JetStreamApiError)) throw error;
      if (MOVED.has(error.code)) throw new CopyMovedError();
      throw rejectedBy(error);
    }
  }

  async #readOrCreate(): Promise<StreamInfo> {
    const { stream: name, prefix } = this.#options;
    try {
      return await this.#manager.streams.info(name);
    } catch (error) {
      const isMissing = error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound;
      if (!isMissing) throw error;
      return await this.#manager.streams.add({
        name,
        description: "A copy of Sextant's events; message ids end with cursors.",
        subjects: [`${prefix}.>`],
        retention: RetentionPolicy.Limits,
        storage: StorageType.File,
      });
    }
  }

  #assertFits(payload: string): void {
    const bytesMax = this.#connection.info?.max_payload;
    if (bytesMax === undefined || Buffer.byteLength(payload) <= bytesMax) return;
    throw new Fault(
      "CONFIG_INVALID",
      `An event has more than the ${bytesMax} bytes that the NATS server takes: raise its max_payload.`,
    );
  }
}

function recordOf(item: WatchItem): object {
  if (item.kind === "event") return item.event;
  return item.kind === "undo" ? item.undo : item.progress;
}

function subjectOf(prefix: string, item: WatchItem): string {
  if (item.kind !== "event") return `${prefix}.${item.kind}`;
  if (TOKEN.test(item.event.type)) return `${prefix}.events.${item.event.type}`;
  throw new SextantError("RESPONSE_INVALID", "The stream has an event whose type is not a name.");
}

function assertNames({ stream, prefix }: CopyOptions): void {
  if (!TOKEN.test(stream)) {
    throw new Fault("USAGE_INVALID", "--stream takes letters, digits, - and _, at most 64.");
  }
  if (!prefix.split(".").every((token) => TOKEN.test(token)) || prefix.length > 200) {
    throw new Fault("USAGE_INVALID", "--prefix takes names of letters, digits, - and _, separated by dots.");
  }
}

/** The copy goes on from its last message: whatever deletes that one would make it begin again. */
function assertSuitable({ config }: StreamInfo, { stream, prefix }: CopyOptions): void {
  if (config.retention !== RetentionPolicy.Limits) {
    throw new Fault(
      "CONFIG_INVALID",
      `The stream ${stream} must keep messages by limits, not until they are read.`,
    );
  }
  if (config.subjects.length !== 1 || config.subjects[0] !== `${prefix}.>`) {
    throw new Fault(
      "CONFIG_INVALID",
      `The stream ${stream} must have the one subject ${prefix}.>; name another stream with --stream.`,
    );
  }
}

async function connectTo(url: string): Promise<NatsConnection> {
  const { protocol, hostname, port, username, password } = new URL(url);
  const [name, secret] = [decodeURIComponent(username), decodeURIComponent(password)];
  const credentials = password === "" ? { token: name } : { user: name, pass: secret };
  const server = `${hostname}:${port === "" ? 4222 : port}`;
  try {
    return await connect({
      servers: server,
      name: "sextant publish",
      ...(username === "" ? {} : credentials),
      // Otherwise the server decides whether the connection is encrypted.
      ...(protocol === "tls:" ? { tls: {} } : {}),
      timeout: CONNECT_MS_MAX,
      reconnectTimeWait: RECONNECT_MS,
      maxReconnectAttempts: -1,
    });
  } catch (cause) {
    throw new SextantError(
      "UNREACHABLE",
      `There is no NATS server at ${server}, or it rejects the credentials.`,
      {
        cause,
      },
    );
  }
}

function rejectedBy(error: JetStreamApiError): Fault {
  return new Fault("CONFIG_INVALID", `JetStream rejects the message: ${error.message}.`, { cause: error });
}

function toFailure(error: unknown): unknown {
  if (error instanceof Fault || error instanceof SextantError) return error;
  const text = error instanceof Error ? error.message : "unknown";
  return new Fault("CONFIG_INVALID", `The NATS server has no JetStream for us: ${text}.`, { cause: error });
}
