// Three facilitators with a key each behind one address, killed again and again while a few hundred payments are made.
// Fast tests of the same rules, with two facilitators in one process, are in src/payments/facilitator/key-claim.test.ts.
import { expect, it } from "vitest";
import { createDatabaseEnvironment } from "../../support/process/sextant-process.ts";
import { formatChaosReport, runPaymentsChaos } from "./run-payments-chaos.ts";

const SEED = 7;

it("every payment is settled once or rejected, whichever facilitator it reached", async () => {
  const { environment, drop } = await createDatabaseEnvironment();
  const lines: string[] = [];
  try {
    const report = await runPaymentsChaos({
      databaseUrl: environment.DATABASE_URL,
      payers: 60,
      payments: 4,
      facilitators: 3,
      seed: SEED,
      log: (line) => lines.push(line),
    });
    const broken = report.findings.filter(({ violations }) => violations.length > 0);
    expect(broken, `seed ${SEED}\n${lines.join("\n")}\n${formatChaosReport(report)}`).toEqual([]);
    // Each facilitator died at least once; otherwise it would have proved nothing.
    expect(report.numbers.kills).toMatch(/^[1-9]\d* \+ [1-9]\d* \+ [1-9]\d* /);
  } finally {
    await drop();
  }
}, 240_000);
