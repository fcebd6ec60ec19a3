// A process that owns an embedded database: starts it on the folder given, commits a row, says so, and stays.
import { createInterface } from "node:readline";
import { Client } from "pg";
import { toFault } from "../../../src/lib/fault.ts";
import { createLog } from "../../../src/lib/log.ts";
import { startEmbeddedPostgres } from "../start.ts";

const [folder = ""] = process.argv.slice(2);
const log = createLog({ level: "silent", terminal: false, name: "child" });
const say = (what: object) => process.stdout.write(`${JSON.stringify(what)}\n`);

try {
  const server = await startEmbeddedPostgres({ folder, log, durability: "none" });
  const client = new Client({ ...server.connection, port: 5432, ssl: false });
  client.on("error", () => undefined);
  await client.connect();
  await client.query("CREATE TABLE IF NOT EXISTS kept (writer integer)");
  await client.query("INSERT INTO kept VALUES ($1)", [process.pid]);
  process.on("SIGINT", async () => {
    const { rows } = await client.query("SELECT count(*)::int AS rows FROM kept");
    say({ state: "interrupted", ...rows[0] });
  });
  createInterface({ input: process.stdin }).on("line", async () => {
    await client.end();
    await server.stop();
    say({ state: "stopped" });
    process.exit(0);
  });
  say({ state: "ready", serverPid: server.pid, connection: server.connection });
} catch (error) {
  const { code, message } = toFault(error);
  say({ state: "failed", code, message, cause: String(error) });
  process.exit(1);
}
