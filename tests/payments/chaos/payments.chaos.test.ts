// Payers, kills and lost answers at once, at a size for every day: nobody pays twice, for nothing, or gets without paying.
import { expect, it } from "vitest";
import { createDatabaseEnvironment } from "../../support/process/sextant-process.ts";
import { formatChaosReport, runPaymentsChaos } from "./run-payments-chaos.ts";

const SEED = 4;

it("every transfer has one answer, every answer one transfer, and the ledger's sum is the chain's", async () => {
  const { environment, drop } = await createDatabaseEnvironment();
  const told: string[] = [];
  try {
    const report = await runPaymentsChaos({
      databaseUrl: environment.DATABASE_URL,
      payers: 30,
      payments: 2,
      seed: SEED,
      log: (line) => told.push(line),
    });
    const broken = report.findings.filter(({ violations: broken }) => broken.length > 0);
    expect(broken, `seed ${SEED}\n${told.join("\n")}\n${formatChaosReport(report)}`).toEqual([]);
    // Otherwise it would have proved nothing.
    expect(report.numbers.kills).not.toBe("0 + 0 + 0");
    expect(report.numbers["faults of settlements"]).toMatch(
      /front-run .*late request .*lost answer .*lost request .*made-up success /,
    );
  } finally {
    await drop();
  }
}, 180_000);
