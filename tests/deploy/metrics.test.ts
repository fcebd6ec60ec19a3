// Dashboard, alert rules and lists follow from the metrics, and running processes serve exactly these.
import { readFileSync } from "node:fs";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ALERTS } from "../../scripts/metrics-docs/alerts.ts";
import {
  describeMetrics,
  type MetricDescription,
  PROCESSES,
  type ProcessName,
} from "../../scripts/metrics-docs/registries.ts";
import { readQuery, renderMetricsFiles } from "../../scripts/metrics-docs/render.ts";
import type { RunCommand } from "../../src/cli/command.ts";
import { apiCommand } from "../../src/cli/commands/api.ts";
import { facilitatorCommand } from "../../src/cli/commands/facilitator.ts";
import { indexerCommand } from "../../src/cli/commands/indexer.ts";
import { portfolioCommand } from "../../src/cli/commands/portfolio.ts";
import { webhooksCommand } from "../../src/cli/commands/webhooks.ts";
import {
  createMigratedDatabase,
  formatConnectionUrl,
  type TestDatabase,
} from "../support/database/test-database.ts";
import { DeploymentFiles } from "../support/deployment-files.ts";
import { MEMORY_DEPLOYMENT } from "../support/index/memory-index.ts";
import { type FacilitatorStage, openFacilitatorStage } from "../support/payments/facilitator-process.ts";
import { startServiceCommand } from "../support/process/service-command.ts";

const COMMANDS: Readonly<Record<ProcessName, RunCommand>> = {
  indexer: indexerCommand,
  api: apiCommand,
  webhooks: webhooksCommand,
  portfolio: portfolioCommand,
  facilitator: facilitatorCommand,
};
/** Added by Prometheus, by the format of histograms, and by processes with several deployments. */
const ADDED_LABELS = ["instance", "le", "deployment"];

let declared: ReadonlyMap<string, MetricDescription>;
beforeAll(async () => {
  declared = await describeMetrics();
});

describe("files made from the metrics", () => {
  it("each is current; otherwise run `npm run docs:metrics`", async () => {
    for (const [path, text] of Object.entries(await renderMetricsFiles()))
      expect(readFileSync(path, "utf8"), path).toBe(text);
  });

  it("each query names metrics and labels that are registered", () => {
    const dashboard = readFileSync("deploy/grafana/sextant.json", "utf8");
    const shown = [...dashboard.matchAll(/"expr": (".*")/g)].map(
      ([, query = ""]) => JSON.parse(query) as string,
    );
    const rules = [...readFileSync("deploy/prometheus/alerts.yml", "utf8").matchAll(/expr: (".*")/g)];
    const alerted = rules.map(([, query = ""]) => JSON.parse(query) as string);
    expect(alerted).toEqual(ALERTS.map(({ query }) => query));
    expect(shown.length).toBeGreaterThan(30);
    for (const query of [...shown, ...alerted]) expect(findUnknown(query), query).toEqual([]);
  });

  it("a query with a metric or a label that does not exist is found", () => {
    expect(findUnknown("sum by (kind) (rate(sextant_missing_total[5m]))")).toEqual(["sextant_missing_total"]);
    expect(findUnknown('sextant_payments_total{result="failed"} > 1')).toEqual(["result"]);
    expect(findUnknown("sum by (result) (sextant_payments_total)")).toEqual(["result"]);
  });
});

function findUnknown(query: string): string[] {
  const { names, labels } = readQuery(query);
  const metrics = names.map((name) => declared.get(name) ?? declared.get(name.replace(/_bucket$/, "")));
  const unknown = names.filter((_, index) => metrics[index] === undefined);
  if (unknown.length > 0 || names.length === 0) return unknown.length > 0 ? unknown : ["no metric"];
  const known = [...ADDED_LABELS, ...metrics.flatMap((metric) => metric?.labels ?? [])];
  return labels.filter((label) => !known.includes(label));
}

describe("running processes", () => {
  let stage: FacilitatorStage;
  let chain: LocalChain;
  let place: TestDatabase;
  let files: DeploymentFiles;
  beforeAll(async () => {
    [stage, chain, place, files] = await Promise.all([
      openFacilitatorStage(),
      startLocalChain({ chainId: 8453 }),
      createMigratedDatabase(),
      DeploymentFiles.create(),
    ]);
  });
  afterAll(async () => {
    await Promise.all([stage?.close(), chain?.stop(), place?.drop(), files?.remove()]);
  });

  async function environmentOf(process: ProcessName): Promise<Readonly<Record<string, string>>> {
    const own = { SEXTANT_METRICS_PORT: "shared", [`${process.toUpperCase()}_PORT`]: "0" };
    if (process === "facilitator") return { ...stage.environment, ...own };
    const common = { DATABASE_URL: formatConnectionUrl(place.connection), ...own };
    if (process === "portfolio")
      return { ...common, RPC_URL_8453: chain.rpcUrl, PAY_TO: stage.payTo, X402_DEV_BYPASS: "true" };
    return {
      ...common,
      NETWORK: await files.write(MEMORY_DEPLOYMENT),
      // Nothing listens there: metrics are served while it waits for a node.
      RPC_URL: "http://127.0.0.1:1",
      SEXTANT_WEBHOOK_KEY: `0x${"1".repeat(64)}`,
    };
  }

  it.each(PROCESSES)(
    "%s serves the metrics that are listed for it, with their labels, and no other",
    async (process) => {
      const service = startServiceCommand(COMMANDS[process], await environmentOf(process));
      const url = await service.listening();
      await fetch(`${url}/health`);
      const text = await (await fetch(`${url}/metrics`)).text();
      service.stop.abort();
      await service.ended;
      const served = [...text.matchAll(/^# HELP (\w+) (.+)$/gm)].map(([, name, help]) => `${name}: ${help}`);
      const listed = [...declared.values()].filter(({ processes }) => processes.includes(process));
      expect(served.sort()).toEqual(listed.map(({ name, help }) => `${name}: ${help}`).sort());
      for (const [, name = "", pairs = ""] of text.matchAll(/^(\w+)\{(.*)\} /gm)) {
        const metric = declared.get(name) ?? declared.get(name.replace(/_(bucket|sum|count)$/, ""));
        const labels = [...pairs.matchAll(/(\w+)="/g)].map(([, label = ""]) => label);
        expect([...ADDED_LABELS, ...(metric?.labels ?? [])], name).toEqual(expect.arrayContaining(labels));
      }
    },
  );
});
