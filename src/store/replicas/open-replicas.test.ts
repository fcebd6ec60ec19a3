// Reads over replicas, by model servers whose state each test sets: which server responds, and that none leads back.
// tests/api/replicas.integration.test.ts has the same rules over a real cluster.
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { Fault } from "../../lib/fault.ts";
import type { ReadStatement, RunRead } from "../../schema/reads/read.ts";
import { sql } from "../../schema/sql.ts";
import type { Database } from "../postgres/database.ts";
import { openRoutedReads, type RoutedReads } from "./read-router.ts";
import type { SourceReaders } from "./read-source.ts";

/** A server as the router sees it: samples of its state, and reads. */
class ModelServer {
  readonly name: string;
  readonly isReplica: boolean;
  revision = 7n;
  block = 7n;
  position = 10n;
  /** Tells runs of the server apart. */
  startedAt: string;
  cluster = "system/1";
  isDown = false;
  /** The state that connections of reads show, if they lead to another server than the samples. */
  readRevision: bigint | null = null;
  reads = 0;

  constructor(name: string, isReplica: boolean) {
    this.name = name;
    this.isReplica = isReplica;
    this.startedAt = name;
  }

  /** Writes or replays everything up to this block. */
  moveTo(block: bigint): void {
    this.revision = block;
    this.block = block;
    this.position = block + 3n;
  }

  get database(): Database {
    const { name } = this;
    const query = async (statement: string | { readonly text: string }) => this.#respond(statement);
    const client = {
      query,
      end: async () => undefined,
      connection: { stream: { destroy: () => undefined } },
    };
    const connect = async () => {
      this.#assertUp();
      return client;
    };
    const target = { server: name, database: "sextant", user: "sextant" };
    return { schema: "sextant", target, query, connect } as unknown as Database;
  }

  readonly readers: SourceReaders = {
    index: (statement, use) => this.#read(statement, use),
    history: (statement, use) => this.#read(statement, use),
    disconnect: () => undefined,
    close: async () => undefined,
  };

  readonly #read: RunRead = async (_statement, use) => {
    this.#assertUp();
    const revision = this.readRevision ?? this.revision;
    const head = {
      ...{ revision, number: this.block, hash: `0x${revision}` },
      timestamp: 0n,
      finalized: 0n,
      start: 0n,
    };
    const value = use(head, { columns: [], rows: [] });
    this.reads += 1;
    return value;
  };

  #assertUp(): void {
    if (this.isDown) throw new Fault("DATABASE_UNREACHABLE", `PostgreSQL does not respond at ${this.name}.`);
  }

  #respond(statement: string | { readonly text: string }) {
    this.#assertUp();
    const { text } = typeof statement === "string" ? { text: statement } : statement;
    const row = text.includes("pg_control_system")
      ? { cluster: this.cluster }
      : {
          ...{ replica: this.isReplica, server: this.startedAt, position: String(this.position) },
          ...{ revision: String(this.revision), number: String(this.block), hash: String(this.revision) },
        };
    return { rows: [row], rowCount: 1 };
  }
}

type Opened = {
  readonly routed: RoutedReads;
  readonly onReset: ReturnType<typeof vi.fn>;
  readonly onRetry: ReturnType<typeof vi.fn>;
  /** The block that the response of a read is true at. */
  read(needs?: Omit<Partial<ReadStatement>, "sql">): Promise<number>;
  /** Announces changes of the index until the check passes: each announcement makes the router sample its servers. */
  settle(check: () => void): Promise<void>;
};

const closes: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0)) await close();
});

function open(primary: ModelServer, replicas: readonly ModelServer[], lagMsMax = 60_000): Opened {
  const onReset = vi.fn();
  const onRetry = vi.fn();
  const servers = new Map([primary, ...replicas].map((server) => [server.name, server]));
  const routed = openRoutedReads({
    database: primary.database,
    replicas: { databases: replicas.map(({ database }) => database), lagMsMax },
    openReaders: ({ target }) => servers.get(target.server)?.readers ?? primary.readers,
    onState: () => undefined,
    onReset,
    observer: { onRead: () => undefined, onRetry },
    log: silentLog,
  });
  closes.push(() => routed.close());
  return {
    ...{ routed, onReset, onRetry },
    read: (needs = {}) =>
      routed.read({ sql: sql`select 1`, cost: "quick", ...needs }, (head) => Number(head.number)),
    settle: (check) =>
      vi.waitFor(
        () => {
          routed.onIndexChanged();
          check();
        },
        { timeout: 10_000, interval: 5 },
      ),
  };
}

const createPrimary = () => new ModelServer("primary", false);
const createReplica = (name = "replica") => new ModelServer(name, true);

/** A primary and one replica that reads use. */
async function openPair(lagMsMax?: number) {
  const [primary, replica] = [createPrimary(), createReplica()];
  const opened = open(primary, [replica], lagMsMax);
  const expectRotation = (isIn: boolean) =>
    opened.settle(() => expect(opened.routed.replicas[0]?.isInRotation).toBe(isIn));
  await expectRotation(true);
  return { primary, replica, expectRotation, ...opened };
}

it("sends reads to a replica in rotation, and none to the primary", async () => {
  const { primary, replica, read } = await openPair();
  for (let count = 0; count < 5; count += 1) expect(await read()).toBe(7);
  expect([replica.reads, primary.reads]).toEqual([5, 0]);
});

it("reads the primary while no replica has the block that the read needs", async () => {
  const { primary, replica, read, routed, settle } = await openPair();
  primary.moveTo(8n);
  expect(await read({ atLeast: 8n })).toBe(8);
  expect([replica.reads, primary.reads]).toEqual([0, 1]);
  replica.moveTo(8n);
  await settle(() => expect(routed.replicas[0]?.state?.number).toBe(8n));
  expect(await read({ atLeast: 8n })).toBe(8);
  expect([replica.reads, primary.reads]).toEqual([1, 1]);
});

it("never goes back to a replica that is behind what was served", async () => {
  const [primary, ahead, behind] = [createPrimary(), createReplica("ahead"), createReplica("behind")];
  const { routed, read, settle } = open(primary, [ahead, behind]);
  await settle(() => expect(routed.replicas.map(({ isInRotation }) => isInRotation)).toEqual([true, true]));
  const seen: number[] = [];
  for (let block = 8n; block < 18n; block += 1n) {
    primary.moveTo(block);
    ahead.moveTo(block);
    for (let count = 0; count < 4; count += 1) seen.push(await read());
  }
  expect(seen).toEqual(seen.toSorted((left, right) => left - right));
  expect(seen.at(-1)).toBe(17);
  expect(routed.replicas.every(({ isInRotation }) => isInRotation)).toBe(true);
});

it("repeats a read elsewhere if its connection shows an older state than the server was known to have", async () => {
  const { primary, replica, read, onRetry } = await openPair();
  expect(await read()).toBe(7);
  replica.readRevision = 6n;
  expect(await read()).toBe(7);
  expect(primary.reads).toBe(1);
  expect(onRetry).toHaveBeenCalledWith("replica");
});

it("keeps what replicas show while the primary does not show it yet, as a commit waits for a standby", async () => {
  const { primary, replica, read, onReset } = await openPair();
  replica.moveTo(8n);
  // The log is written; the primary shows the commit when the standby has confirmed it.
  primary.position = 11n;
  expect(await read()).toBe(8);
  // Only the primary has what clients write: this read takes what the primary has, after it had time to catch up.
  expect(await read({ records: "primary" })).toBe(7);
  expect(primary.reads).toBe(1);
  for (let count = 0; count < 5; count += 1) expect(await read()).toBe(8);
  expect(onReset).not.toHaveBeenCalled();
  primary.moveTo(8n);
  expect(await read({ records: "primary" })).toBe(8);
});

it("accepts an older state from a primary whose index was created again, and reads replicas of it", async () => {
  const { primary, replica, read, settle, routed, onReset } = await openPair();
  primary.moveTo(20n);
  replica.moveTo(20n);
  await settle(() => expect(routed.replicas[0]?.state?.number).toBe(20n));
  expect(await read()).toBe(20);
  for (const server of [primary, replica]) Object.assign(server, { revision: 1n, block: 3n, position: 40n });
  await settle(() => expect(onReset).toHaveBeenCalled());
  await settle(() => expect(routed.replicas[0]?.state?.number).toBe(3n));
  expect(await read()).toBe(3);
  expect([replica.reads, primary.reads]).toEqual([2, 0]);
});

it("accepts an older state from a primary that lost commits in a fail-over", async () => {
  const { primary, replica, read, settle, routed, onReset } = await openPair();
  primary.moveTo(9n);
  replica.moveTo(9n);
  await settle(() => expect(routed.replicas[0]?.state?.number).toBe(9n));
  expect(await read()).toBe(9);
  primary.startedAt = "another server";
  for (const server of [primary, replica]) server.moveTo(8n);
  expect(await read({ records: "primary" })).toBe(8);
  expect(onReset).toHaveBeenCalled();
  expect(await read()).toBe(8);
});

it("leaves reads of a block that no server has to the replicas", async () => {
  const { primary, replica, read } = await openPair();
  for (let count = 0; count < 5; count += 1) expect(await read({ atLeast: 1_000n })).toBe(7);
  expect([replica.reads, primary.reads]).toEqual([5, 0]);
});

it("reads records of clients from the primary until a replica has replayed the write", async () => {
  const { primary, replica, read, routed, settle } = await openPair();
  await settle(() => expect(routed.replicas[0]?.position).toBe(10n));
  await read({ records: "replayed" });
  expect([replica.reads, primary.reads]).toEqual([1, 0]);
  primary.position = 20n;
  routed.onRecordsWritten();
  await read({ records: "replayed" });
  await settle(() => expect(routed.replicas[0]?.lagMs).toBeGreaterThanOrEqual(0));
  await read({ records: "replayed" });
  expect([replica.reads, primary.reads]).toEqual([1, 2]);
  // Reads that show no records go on over the replica.
  await read();
  expect([replica.reads, primary.reads]).toEqual([2, 2]);
  replica.position = 20n;
  await settle(() => expect(routed.replicas[0]?.position).toBe(20n));
  await read({ records: "replayed" });
  expect([replica.reads, primary.reads]).toEqual([3, 2]);
  // A client may ask for the newest, whatever this process knows of.
  await read({ records: "primary" });
  expect([replica.reads, primary.reads]).toEqual([3, 3]);
});

it("takes a replica that lags out of the rotation, and uses it again once it has caught up", async () => {
  const { primary, replica, read, expectRotation, routed } = await openPair(20);
  primary.moveTo(8n);
  await expectRotation(false);
  expect(routed.replicas[0]?.problem).toContain("too far behind");
  expect(routed.replicas[0]?.lagMs).toBeGreaterThan(20);
  expect(await read()).toBe(8);
  expect([replica.reads, primary.reads]).toEqual([0, 1]);
  replica.moveTo(8n);
  await expectRotation(true);
  await read();
  expect(replica.reads).toBe(1);
});

it("reads the primary when a replica dies, and uses the replica again when it is back", async () => {
  const { primary, replica, read, expectRotation, onRetry } = await openPair();
  replica.isDown = true;
  for (let count = 0; count < 5; count += 1) expect(await read()).toBe(7);
  expect([replica.reads, primary.reads]).toEqual([0, 5]);
  // The first read that failed took it out of the rotation, unless a sample was faster.
  expect(onRetry.mock.calls.length).toBeLessThanOrEqual(1);
  await expectRotation(false);
  replica.isDown = false;
  await expectRotation(true);
  await read();
  expect(replica.reads).toBe(1);
});

it("starts without a replica that cannot be reached, and uses it later", async () => {
  const [primary, replica] = [createPrimary(), createReplica()];
  replica.isDown = true;
  const { routed, read, settle } = open(primary, [replica]);
  await settle(() => expect(routed.replicas[0]?.problem).toContain("does not respond"));
  expect(await read()).toBe(7);
  replica.isDown = false;
  await settle(() => expect(routed.replicas[0]?.isInRotation).toBe(true));
  await read();
  expect([replica.reads, primary.reads]).toEqual([1, 1]);
});

it("still reads replicas while the primary does not respond", async () => {
  const { primary, replica, read } = await openPair();
  primary.isDown = true;
  expect(await read()).toBe(7);
  expect(await read({ atLeast: 9n })).toBe(7);
  expect(replica.reads).toBe(2);
});

it.each<[string, Partial<ModelServer>, string]>([
  ["of another database or cluster", { cluster: "system/2" }, "not a copy of the primary"],
  ["that has what the primary never wrote", { position: 99n }, "has what the primary never wrote"],
])("never reads a server %s, and shows the reason", async (_which, difference, problem) => {
  const [primary, replica] = [createPrimary(), Object.assign(createReplica(), difference)];
  replica.block = 1_000n;
  const { routed, read, settle } = open(primary, [replica]);
  await settle(() => expect(routed.replicas[0]?.problem).toContain(problem));
  expect(routed.replicas[0]?.describe()).toMatchObject({ in_rotation: false });
  expect(await read()).toBe(7);
  expect(replica.reads).toBe(0);
});

it("never reads a server that is a primary itself, but not this one", async () => {
  const [primary, other] = [createPrimary(), new ModelServer("promoted", false)];
  onTestFinished(() => expect(other.reads).toBe(0));
  const { routed, read, settle } = open(primary, [other]);
  await settle(() => expect(routed.replicas[0]?.problem).toContain("neither the primary nor a replica"));
  expect(await read()).toBe(7);
});
