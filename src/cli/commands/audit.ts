// `sextant audit`: compares the rows with the contracts, the stored events and each other, and prints the differences.
import { type AuditReport, countDifferences, formatAuditReport } from "../../audit/report.ts";
import { runAudit } from "../../audit/run.ts";
import { createRpc } from "../../chain/rpc/client.ts";
import { verifyDeployment } from "../../chain/verify-deployment.ts";
import { splitRpcUrls } from "../../config/indexing-settings.ts";
import { readConfig } from "../../config/read-config.ts";
import { databaseSettings } from "../../config/service-settings.ts";
import { readVersion } from "../../config/version.ts";
import type { Log } from "../../lib/log.ts";
import { insertAudit } from "../../store/index/integrity.ts";
import { openConfiguredDatabase } from "../../store/open-database.ts";
import type { Database } from "../../store/postgres/database.ts";
import { type RunCommand, readIntegerOption } from "../command.ts";
import { assertNodes, chooseDeployment } from "../installation.ts";

export const auditCommand: RunCommand = async ({ environment, options, log, stop, print, columns }) => {
  const block = readIntegerOption(options, "block", 0);
  const sample = readIntegerOption(options, "sample", 1);
  const chosen = await chooseDeployment({ environment, options });
  assertNodes([chosen]);
  const { deployment, databaseSchema } = chosen;
  const config = { ...readConfig(environment, databaseSettings), databaseSchema };
  const { http: urls } = splitRpcUrls(chosen.rpcUrls);
  const rpc = createRpc({ urls, chainId: deployment.chainId, log, onCall: null });
  try {
    const verified = await verifyDeployment(rpc, deployment, { signal: stop });
    for (const host of verified.unreachable) {
      log.warn({ component: "cli", event: "node_unreachable", host }, "Node unreachable at start");
    }
    const { database, close } = await openConfiguredDatabase(config, log, "audit");
    try {
      const report = await runAudit({ database, deployment, rpc, block, sample, log, stop });
      print(formatAuditReport(report, columns ?? null));
      await recordReport(database, report, log);
      return countDifferences(report) === 0 ? 0 : 1;
    } finally {
      await close();
    }
  } finally {
    rpc.close();
  }
};

/** For GET /integrity. The report counts even if it cannot be stored, as in a copy that is read only. */
async function recordReport(database: Database, report: AuditReport, log: Log): Promise<void> {
  const first = report.results.find(({ firstDifferences }) => firstDifferences.length > 0);
  const [difference] = first?.firstDifferences ?? [];
  const audit = {
    source: "command",
    kind: "tables",
    block: report.block.number,
    checked: report.results.reduce((sum, { compared }) => sum + compared, 0),
    differences: countDifferences(report),
    firstDifference:
      first && difference
        ? `${first.table} ${difference.key}: ${difference.column} is ${difference.found}, expected ${difference.expected}`
        : null,
    version: readVersion(),
  } as const;
  try {
    await database.transaction((session) => insertAudit(session, audit));
  } catch (err) {
    log.warn(
      { component: "cli", event: "audit_not_recorded", err },
      "The result of the audit could not be stored",
    );
  }
}
