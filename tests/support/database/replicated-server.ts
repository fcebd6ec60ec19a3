// One PostgreSQL of a replicated cluster: a primary or a standby on a data folder, which tests kill, restart and promote.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresBinaries } from "@sextant/embedded-postgres/binaries";
import { waitForProcessExit } from "@sextant/embedded-postgres/processes";
import { SERVER_ENVIRONMENT, type ServerAccount } from "@sextant/embedded-postgres/server-account";
import { startWatchdog } from "@sextant/embedded-postgres/watchdog";
import { Client, type QueryResultRow } from "pg";
import { silentLog } from "../quiet-log.ts";

type ServerPlace = {
  readonly dataFolder: string;
  readonly port: number;
  readonly binaries: PostgresBinaries;
  readonly account: ServerAccount;
};

const START_MS_MAX = 60_000;
const CHECK_EVERY_MS = 50;
const STOP_MS_MAX = 20_000;
// Another server took the port or the killed one's children still hold its memory: it starts when they are gone.
const STARTS_MAX = 5;

export class ReplicatedServer {
  readonly url: string;
  readonly port: number;
  readonly #place: ServerPlace;
  #process: ChildProcess | null = null;

  constructor(place: ServerPlace) {
    this.#place = place;
    this.port = place.port;
    this.url = `postgres://sextant@127.0.0.1:${place.port}/postgres`;
  }

  get isRunning(): boolean {
    return this.#process !== null && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  get pid(): number {
    const pid = this.#process?.pid;
    if (pid === undefined || !this.isRunning) throw new Error("the server does not run");
    return pid;
  }

  /** Accepts connections when this resolves. */
  async start(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      this.#process = this.#spawn();
      if (await this.#becomesReady(this.#process)) return;
      if (attempt === STARTS_MAX) throw new Error(`PostgreSQL did not start: ${this.#readLog()}`);
      await sleep(CHECK_EVERY_MS * attempt);
    }
  }

  /** SIGKILL for the server and the processes of its sessions, as when the machine stops. */
  async kill(): Promise<void> {
    const { pid } = this;
    const children = listChildren(pid);
    process.kill(pid, "SIGKILL");
    for (const child of children) signalIfAlive(child, "SIGKILL");
    for (const gone of [pid, ...children]) {
      if (!(await waitForProcessExit(gone, STOP_MS_MAX))) throw new Error(`process ${gone} does not end`);
    }
    await this.#waitForExit();
  }

  /** SIGSTOP for the same processes: connections stay open, and nothing responds on them. Only `kill` ends it. */
  freeze(): void {
    const { pid } = this;
    // First the server, so that it starts no session meanwhile.
    signalIfAlive(pid, "SIGSTOP");
    for (const child of listChildren(pid)) signalIfAlive(child, "SIGSTOP");
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Fast shutdown: ends all sessions, and standbys receive everything first. Nothing happens if it does not run. */
  async stop(): Promise<void> {
    if (!this.isRunning) return;
    this.#process?.kill("SIGINT");
    await this.#waitForExit();
  }

  /** Makes a standby the primary of a new timeline; accepts writes when this resolves. */
  async promote(): Promise<void> {
    await this.query("SELECT pg_promote(true, 60)");
  }

  /** A standby that no longer receives what the primary writes, and so loses it when it is promoted. */
  async stall(): Promise<void> {
    await this.configure("primary_conninfo", "");
    await this.#until("SELECT count(*) = 0 AS done FROM pg_stat_wal_receiver");
  }

  /** Starts again as a standby, of the primary that it finds. Its own writes must all have been received there. */
  async demote(): Promise<void> {
    await this.stop();
    await writeFile(join(this.#place.dataFolder, "standby.signal"), "");
    await this.start();
  }

  /** Waits until the standby has applied everything up to the position. */
  async waitForReplay(position: string): Promise<void> {
    await this.#until(`SELECT pg_last_wal_replay_lsn() >= '${position}'::pg_lsn AS done`);
  }

  /** Sets what only the server's configuration can, and loads it. */
  async configure(setting: string, value: string): Promise<void> {
    await this.query(`ALTER SYSTEM SET ${setting} TO '${value}'`);
    await this.query("SELECT pg_reload_conf()");
  }

  async query<R extends QueryResultRow>(sql: string): Promise<R[]> {
    const client = new Client({ connectionString: this.url, connectionTimeoutMillis: STOP_MS_MAX });
    client.on("error", () => undefined);
    try {
      await client.connect();
      return (await client.query<R>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  async #until(sql: string): Promise<void> {
    for (const untilMs = Date.now() + START_MS_MAX; Date.now() < untilMs; await sleep(CHECK_EVERY_MS)) {
      const [row] = await this.query<{ done: boolean | null }>(sql);
      if (row?.done) return;
    }
    throw new Error(`not in time: ${sql}`);
  }

  #spawn(): ChildProcess {
    const { binaries, dataFolder, account } = this.#place;
    const log = openSync(this.#logFile, "a", 0o600);
    const child = spawn(binaries.postgres, ["-D", dataFolder], {
      ...account,
      cwd: "/",
      env: SERVER_ENVIRONMENT,
      detached: true,
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    if (child.pid === undefined) throw new Error("PostgreSQL could not be spawned");
    // Stops the server when this process is killed; it never starts one.
    const folders = { folder: dataFolder, dataFolder, account, socketFolder: "", logFile: this.#logFile };
    const watchdog = startWatchdog(child.pid, { ...folders, socketFolderIsTemporary: false }, silentLog);
    child.once("exit", () => watchdog.stop());
    return child;
  }

  /** False when it exited instead. */
  async #becomesReady(child: ChildProcess): Promise<boolean> {
    for (const untilMs = Date.now() + START_MS_MAX; Date.now() < untilMs; await sleep(CHECK_EVERY_MS)) {
      if (child.exitCode !== null || child.signalCode !== null) return false;
      const isReady = await this.query("SELECT 1").then(
        () => true,
        () => false,
      );
      if (isReady) return true;
    }
    throw new Error(`PostgreSQL is not ready in time: ${this.#readLog()}`);
  }

  get #logFile(): string {
    return `${this.#place.dataFolder}.log`;
  }

  #readLog(): string {
    return readFileSync(this.#logFile, "utf8").slice(-2_000);
  }

  async #waitForExit(): Promise<void> {
    const child = this.#process;
    if (!child || !this.isRunning) return;
    await new Promise((resolve) => child.once("exit", resolve));
  }
}

function listChildren(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    return text.split(" ").filter(Boolean).map(Number);
  } catch {
    // Without /proc: sessions notice by themselves that the server is gone.
    return [];
  }
}

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended with its parent.
  }
}
