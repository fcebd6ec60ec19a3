// A PostgreSQL cluster of one primary and streaming replicas, made from the binaries of npm, on loopback.
import { chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { findBinariesPackage, installBinaries } from "@sextant/embedded-postgres/binaries";
import { runProgram } from "@sextant/embedded-postgres/processes";
import { chooseServerAccount, type ServerAccount } from "@sextant/embedded-postgres/server-account";
import { silentLog } from "../quiet-log.ts";
import { findFastFolder } from "../test-folder.ts";
import { copyInitialisedFolder } from "./initialised-folder.ts";
import { ReplicatedServer } from "./replicated-server.ts";

type ReplicaOptions = {
  /** How late the replica shows what it received; 0 by default. */
  readonly applyDelayMs?: number;
};

type ReplicatedPostgresOptions = {
  readonly replicas: readonly ReplicaOptions[];
  /** A commit waits for the first replica that is attached, in the order given. */
  readonly synchronous?: boolean;
  /** No copy of the clusters of other tests, which have one identifier together: replicas tell it apart from them. */
  readonly isUnrelated?: boolean;
  /** Settings of every server, in addition to those of all tests or instead of them. */
  readonly settings?: Readonly<Record<string, string>>;
};

export type ReplicatedPostgres = {
  readonly primary: ReplicatedServer;
  readonly replicas: readonly ReplicatedServer[];
  /** Names all servers, for clients that look for the one that accepts writes. */
  readonly url: string;
  /** Waits until the replicas that run show what the primary has committed so far. */
  catchUp(): Promise<void>;
  /** The running replica with the most of the primary's log, which the others can follow: for after its death. */
  findMostAdvanced(): Promise<ReplicatedServer>;
  /** Makes the replica the primary, as a cluster manager does: others follow it, and are waited for if there are any. */
  failOverTo(replica: ReplicatedServer): Promise<void>;
  stop(): Promise<void>;
};

const TOOL_MS_MAX = 60_000;

const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  // Logical decoding for publications; replicas must have it too, for when they are promoted.
  wal_level: "logical",
  max_wal_senders: "10",
  max_replication_slots: "10",
  // A replica that restarts finds what it missed.
  wal_keep_size: "256MB",
  hot_standby_feedback: "on",
  recovery_target_timeline: "latest",
  // A replica looks for a primary ten times a second, not every five seconds.
  wal_retrieve_retry_interval: "100ms",
  // Not below what initdb used: a replica must not have fewer.
  max_connections: "100",
  shared_buffers: "32MB",
  max_parallel_workers_per_gather: "0",
  io_method: "sync",
  // In the data folder, which is removed: a killed server would leave it in /dev/shm.
  dynamic_shared_memory_type: "mmap",
  jit: "off",
  fsync: "off",
  full_page_writes: "off",
  timezone: "UTC",
};

// Clients and replicas on this machine need no password.
const ACCESS = "host all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n";

export async function startReplicatedPostgres(
  options: ReplicatedPostgresOptions,
): Promise<ReplicatedPostgres> {
  const folder = await mkdtemp(join(findFastFolder(), "sextant-replicated-"));
  const started: ReplicatedServer[] = [];
  const stop = async () => {
    await Promise.all(started.map((server) => server.stop()));
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  try {
    const servers = await prepareServers(folder, options);
    for (const server of servers) {
      await server.start();
      started.push(server);
    }
    const [primary, ...replicas] = servers;
    if (!primary) throw new Error("a cluster has a primary");
    const cluster = new Cluster(primary, replicas, options.synchronous ?? false, stop);
    await cluster.attach();
    return cluster;
  } catch (error) {
    await stop();
    throw error;
  }
}

class Cluster implements ReplicatedPostgres {
  readonly primary: ReplicatedServer;
  readonly replicas: readonly ReplicatedServer[];
  readonly url: string;
  readonly stop: () => Promise<void>;
  readonly #isSynchronous: boolean;
  #current: ReplicatedServer;

  constructor(
    primary: ReplicatedServer,
    replicas: readonly ReplicatedServer[],
    isSynchronous: boolean,
    stop: () => Promise<void>,
  ) {
    this.primary = primary;
    this.replicas = replicas;
    this.stop = stop;
    this.#isSynchronous = isSynchronous;
    this.#current = primary;
    const hosts = [primary, ...replicas].map(({ port }) => `127.0.0.1:${port}`).join(",");
    this.url = `postgres://sextant@${hosts}/postgres?target_session_attrs=read-write`;
  }

  /** Only now the primary waits for replicas: before, nothing could be written. */
  async attach(): Promise<void> {
    if (this.#isSynchronous) await this.#waitForReplicas(this.primary, this.#following(this.primary));
    await this.catchUp();
  }

  async catchUp(): Promise<void> {
    const [row] = await this.#current.query<{ lsn: string }>("SELECT pg_current_wal_lsn()::text AS lsn");
    const running = this.#following(this.#current);
    await Promise.all(running.map((server) => server.waitForReplay(row?.lsn ?? "0/0")));
  }

  async findMostAdvanced(): Promise<ReplicatedServer> {
    const text = "SELECT (pg_last_wal_receive_lsn() - '0/0')::text AS bytes";
    const candidates = await Promise.all(
      this.#following(this.#current).map(async (server) => {
        const [row] = await server.query<{ bytes: string }>(text);
        return { server, bytes: BigInt(row?.bytes ?? 0) };
      }),
    );
    const [first, ...others] = candidates;
    if (!first) throw new Error("no replica is running");
    return others.reduce((best, each) => (each.bytes > best.bytes ? each : best), first).server;
  }

  async failOverTo(replica: ReplicatedServer): Promise<void> {
    if (this.#isSynchronous) await this.#waitForReplicas(replica, this.#following(replica));
    await replica.promote();
    this.#current = replica;
  }

  #following(primary: ReplicatedServer): ReplicatedServer[] {
    return this.replicas.filter((replica) => replica !== primary && replica.isRunning);
  }

  async #waitForReplicas(primary: ReplicatedServer, following: readonly ReplicatedServer[]): Promise<void> {
    const names = following.map(({ port }) => `replica_${port}`).join(", ");
    await primary.configure("synchronous_standby_names", names && `FIRST 1 (${names})`);
  }
}

/** Data folders of all servers, which are copies of one that was never started. */
async function prepareServers(
  folder: string,
  { replicas, settings = {}, isUnrelated = false }: ReplicatedPostgresOptions,
): Promise<ReplicatedServer[]> {
  const account = await chooseServerAccount(join(folder, "data"));
  await chmod(folder, 0o711);
  if (account.uid !== undefined && account.gid !== undefined) await chown(folder, account.uid, account.gid);
  await copyInitialisedFolder(folder);
  const binaries = await installBinaries(await findBinariesPackage(), folder, account, silentLog);
  const primaryFolder = join(folder, "data");
  if (isUnrelated) {
    await rm(primaryFolder, { recursive: true });
    const initialise = ["-D", primaryFolder, "-U", "sextant", "-A", "trust", "-E", "UTF8", "--locale", "C"];
    await run(binaries.initdb, [...initialise, "--no-sync"], account);
  }
  await writeFile(join(primaryFolder, "pg_hba.conf"), ACCESS);
  const ports = await reservePorts(replicas.length + 1);
  const servers: ReplicatedServer[] = [];
  for (const [at, port] of ports.entries()) {
    const dataFolder = at === 0 ? primaryFolder : join(folder, `replica-${at}`);
    if (at > 0) await run("/bin/cp", ["-a", primaryFolder, dataFolder], account);
    servers.push(new ReplicatedServer({ dataFolder, port, binaries, account }));
  }
  for (const [at, port] of ports.entries()) {
    const dataFolder = at === 0 ? primaryFolder : join(folder, `replica-${at}`);
    const others = ports.filter((other) => other !== port);
    await configureServer(dataFolder, {
      ...settings,
      port: String(port),
      recovery_min_apply_delay: `${replicas[at - 1]?.applyDelayMs ?? 0}ms`,
      primary_conninfo: describeSource(port, others),
    });
    if (at > 0) await writeFile(join(dataFolder, "standby.signal"), "");
  }
  return servers;
}

/** All others, so that a replica finds the new primary after a promotion. */
function describeSource(port: number, others: readonly number[]): string {
  const hosts = others.map(() => "127.0.0.1").join(",");
  const source = `host=${hosts} port=${others.join(",")} user=sextant target_session_attrs=primary`;
  return `${source} application_name=replica_${port}`;
}

async function configureServer(dataFolder: string, own: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries({ ...SETTINGS, ...own }).map(([name, value]) => `${name} = '${value}'`);
  await writeFile(join(dataFolder, "postgresql.conf"), `${lines.join("\n")}\n`);
}

async function run(file: string, args: readonly string[], account: ServerAccount): Promise<void> {
  const { succeeded, output } = await runProgram(file, args, { account, timeoutMs: TOOL_MS_MAX });
  if (!succeeded) throw new Error(`${file} failed: ${output}`);
}

/** Held open together, so that all differ. Another process could take one before its server does, which is unlikely. */
async function reservePorts(count: number): Promise<number[]> {
  const probes = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const probe of probes) {
    await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
    const address = probe.address();
    if (address === null || typeof address === "string") throw new Error("the system assigned no port");
    ports.push(address.port);
  }
  await Promise.all(probes.map((probe) => new Promise((resolve) => probe.close(resolve))));
  return ports;
}
