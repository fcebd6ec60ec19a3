// `sextant audit`: holds the rows against the contracts, the stored events and each other, and tells what differs.

import { countDifferences, formatAuditReport } from "../../audit/report.ts";
import { runAudit } from "../../audit/run.ts";
import { createRpc } from "../../chain/rpc/client.ts";
import { verifyDeployment } from "../../chain/verify-deployment.ts";
import { splitRpcUrls } from "../../config/node-urls.ts";
import { readConfig } from "../../config/read-config.ts";
import { databaseSettings, indexerSettings } from "../../config/settings.ts";
import { Fault } from "../../lib/fault.ts";
import { readDeployment } from "../../protocol/read-deployment.ts";
import { openConfiguredDatabase } from "../../store/open-database.ts";
import type { RunCommand } from "../command.ts";

export const auditCommand: RunCommand = async ({ environment, options, log, stop, print: say }) => {
  const block = wholeNumber("--block", options.block, 0);
  const sample = wholeNumber("--sample", options.sample, 1);
  const config = readConfig(environment, { ...databaseSettings, ...indexerSettings });
  if (config.rpcUrls.length === 0) {
    throw new Fault("CONFIG_INVALID", "RPC_URL must name at least one node of the chain to compare with.");
  }
  const deployment = await readDeployment(config.network);
  const { http: urls } = splitRpcUrls(config.rpcUrls);
  const rpc = createRpc({ urls, chainId: deployment.chainId, log, onCall: null });
  try {
    const verified = await verifyDeployment(rpc, deployment, { signal: stop });
    for (const host of verified.unreachable) log.warn({ host }, "A node could not be asked at the start");
    const { database, close } = await openConfiguredDatabase(config, log, "audit");
    try {
      const report = await runAudit({ database, deployment, rpc, block, sample, log, stop });
      say(formatAuditReport(report));
      return countDifferences(report) === 0 ? 0 : 1;
    } finally {
      await close();
    }
  } finally {
    rpc.close();
  }
};

function wholeNumber(option: string, value: string | boolean | undefined, min: number): number | null {
  if (value === undefined) return null;
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min) return number;
  throw new Fault("USAGE_INVALID", `${option} must be a whole number from ${min}; it is "${value}".`);
}
