// A process that owns an embedded database: starts it on the given folder, commits a row, reports that, and waits.
import { createInterface } from "node:readline";
import { Client } from "pg";
import { EmbeddedPostgresError } from "../errors.ts";
import { startEmbeddedPostgres } from "../start.ts";
import { silentLogger } from "./silent-log.ts";

const [folder = ""] = process.argv.slice(2);
const report = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);

try {
  const server = await startEmbeddedPostgres({ folder, log: silentLogger, durability: "none" });
  const client = new Client({ ...server.connection, port: 5432, ssl: false });
  client.on("error", () => undefined);
  await client.connect();
  await client.query("CREATE TABLE IF NOT EXISTS stored (writer integer)");
  await client.query("INSERT INTO stored VALUES ($1)", [process.pid]);
  process.on("SIGINT", async () => {
    const { rows } = await client.query("SELECT count(*)::int AS rows FROM stored");
    report({ state: "interrupted", ...rows[0] });
  });
  createInterface({ input: process.stdin }).on("line", async () => {
    await client.end();
    await server.stop();
    report({ state: "stopped" });
    process.exit(0);
  });
  report({ state: "ready", serverPid: server.pid, connection: server.connection });
} catch (error) {
  const code = error instanceof EmbeddedPostgresError ? error.code : null;
  report({ state: "failed", code, cause: String(error) });
  process.exit(1);
}
