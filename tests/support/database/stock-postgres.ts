// A PostgreSQL as Debian ships it, with default settings, in a temporary folder.
import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, readdirSync } from "node:fs";
import { chmod, chown, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runProgram } from "@sextant/embedded-postgres/processes";
import {
  chooseServerAccount,
  SERVER_ENVIRONMENT,
  type ServerAccount,
} from "@sextant/embedded-postgres/server-account";
import { Client } from "pg";

export type StockPostgres = {
  readonly version: string;
  /** Over TCP on loopback, encrypted or not. */
  url(options: { readonly tls: boolean }): string;
  readonly port: number;
  /** For temporary files, removed with the server. */
  readonly folder: string;
  stop(): Promise<void>;
};

// Debian installs its versions side by side, outside of PATH.
const DEBIAN = "/usr/lib/postgresql";
const TOOL_MS_MAX = 60_000;
const START_MS_MAX = 30_000;
const CHECK_EVERY_MS = 100;

/** The programs of the newest version; null if Debian's PostgreSQL is not installed. */
export function findStockPostgres(folder = DEBIAN): string | null {
  return (
    listVersions(folder)
      .sort((one, other) => Number(other) - Number(one))
      .map((version) => join(folder, version, "bin"))
      .find((bin) => ["postgres", "initdb"].every((name) => isRunnable(join(bin, name)))) ?? null
  );
}

function listVersions(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export async function startStockPostgres(bin: string): Promise<StockPostgres> {
  const folder = await mkdtemp(join(tmpdir(), "sextant-stock-"));
  const data = join(folder, "data");
  try {
    const account = await chooseServerAccount(data);
    await chmod(folder, 0o711);
    if (account.uid !== undefined && account.gid !== undefined) await chown(folder, account.uid, account.gid);
    await run(join(bin, "initdb"), ["-D", data, "-U", "sextant", "-A", "trust", "-E", "UTF8"], account);
    const key = join(folder, "server.key");
    const certificate = join(folder, "server.crt");
    const subject = ["-subj", "/CN=localhost", "-keyout", key, "-out", certificate];
    await run(
      "openssl",
      ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...subject],
      account,
    );
    const port = await freePort();
    const options = {
      port: String(port),
      listen_addresses: "127.0.0.1",
      unix_socket_directories: folder,
      ssl: "on",
      ssl_cert_file: certificate,
      ssl_key_file: key,
    };
    const named = Object.entries(options).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const server = spawn(join(bin, "postgres"), ["-D", data, ...named], {
      ...account,
      cwd: "/",
      env: SERVER_ENVIRONMENT,
      stdio: "ignore",
    });
    const url = ({ tls }: { readonly tls: boolean }) =>
      `postgres://sextant@127.0.0.1:${port}/postgres?sslmode=${tls ? "no-verify" : "disable"}`;
    const version = await waitUntilReady(server, url({ tls: false }));
    return {
      version,
      url,
      port,
      folder,
      async stop() {
        await stopServer(server);
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function run(file: string, args: readonly string[], account: ServerAccount): Promise<void> {
  const { succeeded, output } = await runProgram(file, args, { account, timeoutMs: TOOL_MS_MAX });
  if (!succeeded) throw new Error(`${file} failed: ${output}`);
}

/** Another process could take the port before the server does, which is unlikely on a test machine. */
async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === "string") throw new Error("the system assigned no port");
  return address.port;
}

async function waitUntilReady(server: ChildProcess, url: string): Promise<string> {
  const untilMs = Date.now() + START_MS_MAX;
  for (;;) {
    const client = new Client({ connectionString: url });
    try {
      await client.connect();
      const { rows } = await client.query<{ version: string }>(
        "SELECT current_setting('server_version') AS version",
      );
      await client.end();
      return rows[0]?.version ?? "unknown";
    } catch (error) {
      await client.end().catch(() => undefined);
      if (server.exitCode !== null || Date.now() > untilMs) throw error;
      await sleep(CHECK_EVERY_MS);
    }
  }
}

/** SIGINT is PostgreSQL's fast shutdown: it ends all sessions, without data loss. */
async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGINT");
  await exited;
}
