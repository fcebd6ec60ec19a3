// A process that holds a lock and writes under it when told to, for tests that stop, kill or cut it.
import { createInterface } from "node:readline";
import { createLog } from "../../src/kit/log.ts";
import { Secret } from "../../src/kit/secret.ts";
import { openDatabase } from "../../src/store/database.ts";
import { acquireLock } from "../../src/store/lock.ts";

// A socket's folder, user and database, or a URL, as JSON.
const given = JSON.parse(process.argv[2] ?? "");
const heartbeatMs = Number(process.argv[3] ?? 5_000);
const say = (what: object) => process.stdout.write(`${JSON.stringify(what)}\n`);

const database = await openDatabase({
  connection: "url" in given ? { url: new Secret<string>(given.url) } : given,
  schema: "sextant",
  poolMax: 2,
  log: createLog({ level: "silent", terminal: false, name: "child" }),
  applicationName: "lock child",
});
const lock = await acquireLock(database, "writer", {
  waitMs: Number.POSITIVE_INFINITY,
  heartbeatMs,
  onLost: ({ code }) => say({ state: "lost", code }),
});
say({ state: "held" });

createInterface({ input: process.stdin }).on("line", async () => {
  try {
    await lock?.transaction((session) => session.query("INSERT INTO written VALUES ('child')"));
    say({ state: "written" });
  } catch (error) {
    say({ state: "refused", error: String(error) });
  }
});
