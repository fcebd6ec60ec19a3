// A process that holds a lock and writes under it when told to, for tests that stop, kill or cut it.
import { createInterface } from "node:readline";
import { createLog } from "../../../src/lib/log.ts";
import { Secret } from "../../../src/lib/secret.ts";
import { encodeCopyLines } from "../../../src/store/fast/copy-encoder.ts";
import { acquireLock } from "../../../src/store/postgres/advisory-lock.ts";
import { openDatabase } from "../../../src/store/postgres/database.ts";

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
  takeOver: process.argv[4] === "take over",
  bulkWrites: true,
  onLost: ({ code }) => say({ state: "lost", code }),
});
say({ state: "held" });

// More than a socket and its buffers hold, so that a frozen process leaves the server in the middle of it.
const LINES = 40;
const LINE = `${"child".padEnd(1_000_000, "d")}\n`;
const copy = { copy: "COPY written FROM STDIN", messages: encodeCopyLines(Array<string>(LINES).fill(LINE)) };
const insert = { text: "INSERT INTO written VALUES ('child')" };

createInterface({ input: process.stdin }).on("line", async (line) => {
  try {
    await lock?.commit([line === "copy" ? copy : insert], { statementTimeoutMs: 60_000 });
    say({ state: "written" });
  } catch (error) {
    say({ state: "refused", error: String(error) });
  }
});
