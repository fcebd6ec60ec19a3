// Payers, kills and lost responses at once, small: no payer pays twice or for nothing, or gets a response unpaid.
import { expect, it } from "vitest";
import { createDatabaseEnvironment } from "../../support/process/sextant-process.ts";
import { formatChaosReport, runPaymentsChaos } from "./run-payments-chaos.ts";

const SEED = 4;

it("every transfer has one response, every response one transfer, and the ledger's sum is the chain's", async () => {
  const { environment, drop } = await createDatabaseEnvironment();
  const lines: string[] = [];
  try {
    const report = await runPaymentsChaos({
      databaseUrl: environment.DATABASE_URL,
      payers: 30,
      payments: 2,
      facilitators: 1,
      seed: SEED,
      log: (line) => lines.push(line),
    });
    const broken = report.findings.filter(({ violations: broken }) => broken.length > 0);
    expect(broken, `seed ${SEED}\n${lines.join("\n")}\n${formatChaosReport(report)}`).toEqual([]);
    // Otherwise it would have proved nothing.
    expect(report.numbers.kills).not.toBe("0 + 0 + 0");
    expect(report.numbers["faults of settlements"]).toMatch(
      /front-run .*late request .*lost request .*lost response .*made-up success /,
    );
  } finally {
    await drop();
  }
}, 180_000);
