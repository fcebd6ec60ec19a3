// A process that holds a lock and writes under it on request, for tests that freeze, kill or disconnect it.
import { createInterface } from "node:readline";
import { createLog } from "../../../src/lib/log.ts";
import { Secret } from "../../../src/lib/secret.ts";
import { encodeCopyLines } from "../../../src/store/fast/copy-encoder.ts";
import { acquireLock } from "../../../src/store/postgres/advisory-lock.ts";
import { openDatabase } from "../../../src/store/postgres/database.ts";

// A socket folder, user and database, or a URL, as JSON.
const target = JSON.parse(process.argv[2] ?? "");
const heartbeatMs = Number(process.argv[3] ?? 5_000);
const report = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);

const database = await openDatabase({
  connection: "url" in target ? { url: new Secret<string>(target.url) } : target,
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
  onLost: ({ code }) => report({ state: "lost", code }),
});
report({ state: "held" });

// More than a socket and its buffers hold, so that a frozen process leaves the server inside the COPY.
const LINES = 40;
const LINE = `${"child".padEnd(1_000_000, "d")}\n`;
const copy = { copy: "COPY written FROM STDIN", messages: encodeCopyLines(Array<string>(LINES).fill(LINE)) };
const insert = { text: "INSERT INTO written VALUES ('child')" };

createInterface({ input: process.stdin }).on("line", async (line) => {
  try {
    await lock?.commit([line === "copy" ? copy : insert], { statementTimeoutMs: 60_000 });
    report({ state: "written" });
  } catch (error) {
    report({ state: "rejected", error: String(error) });
  }
});
