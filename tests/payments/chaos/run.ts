// `npm run money [-- --payers N --payments N --facilitators N --seed N]`: the money test at full size, as a table.
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startEmbeddedPostgres } from "@sextant/embedded-postgres/start";
import { createLog } from "../../../src/lib/log.ts";
import { formatConnectionUrl } from "../../support/database/test-database.ts";
import { formatChaosReport, runPaymentsChaos } from "./run-payments-chaos.ts";

const { values } = parseArgs({
  options: {
    payers: { type: "string", default: "200" },
    payments: { type: "string", default: "3" },
    facilitators: { type: "string", default: "3" },
    seed: { type: "string", default: "1" },
  },
});
const whole = (name: keyof typeof values): number => {
  const value = Number(values[name]);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`--${name} must be a whole number from 1`);
  return value;
};

const folder = await mkdtemp(join(tmpdir(), "sextant-money-"));
// The server runs as another account when this runs as root, and must be able to pass.
await chmod(folder, 0o711);
const log = createLog({ level: "error", terminal: true, name: "money-postgres" });
const server = await startEmbeddedPostgres({ folder: join(folder, "postgres"), log, durability: "none" });
try {
  const report = await runPaymentsChaos({
    databaseUrl: formatConnectionUrl(server.connection),
    payers: whole("payers"),
    payments: whole("payments"),
    facilitators: whole("facilitators"),
    seed: whole("seed"),
    log: (line) => process.stdout.write(`${line}\n`),
  });
  process.stdout.write(formatChaosReport(report));
  if (report.findings.some(({ violations: broken }) => broken.length > 0)) process.exitCode = 1;
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
