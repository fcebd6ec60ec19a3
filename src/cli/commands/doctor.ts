// `sextant doctor`: checks settings, nodes, database, ports and clocks, and says what each limit means for the features.
import { createServer } from "node:net";
import { splitPostgresUrl } from "../../config/postgres-url.ts";
import { type Environment, readConfig } from "../../config/read-config.ts";
import { allSettings, readPortfolioNodes, splitRpcUrls } from "../../config/settings.ts";
import { systemClock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import { readRun } from "../../local/run-files.ts";
import type { RunClientCommand } from "../command.ts";
import type { Display } from "../display/display.ts";
import { fitText, toPlainJson, toPlainText } from "../display/plain-text.ts";
import { checkDatabase } from "../doctor/check-database.ts";
import { checkNode } from "../doctor/check-node.ts";
import { describeError, type Finding } from "../doctor/finding.ts";
import { chooseDeployments } from "../installation.ts";

const PORTS = ["apiPort", "portfolioPort", "indexerPort", "facilitatorPort", "webhooksPort"] as const;
const INDENT = 24;

export const doctorCommand: RunClientCommand = async ({ environment: given, options, display, print }) => {
  // A run tells its operator's commands where its nodes and its database are.
  const environment = { ...findRun(given), ...given };
  const findings: Finding[] = [];
  const show = async (found: readonly Finding[]) => {
    for (const finding of found) {
      const isNew = findings.at(-1)?.subject !== finding.subject;
      await print(
        options.json === true ? `${toPlainJson(finding)}\n` : formatFinding(finding, isNew, display),
      );
      findings.push(finding);
    }
  };
  const config = readConfig(environment, allSettings);
  await show([
    {
      subject: "settings",
      check: "values",
      state: "ok",
      text: "every variable that is set has a valid value",
    },
  ]);
  for (const node of await listNodes(environment, config.logRangeMax, show)) {
    await show(await checkNode(node, systemClock.nowMs()));
  }
  if (config.databaseUrl === null) {
    const text = `embedded, in ${config.dataFolder}: one machine only; set DATABASE_URL to run processes on several`;
    await show([{ subject: "database", check: "kind", state: "ok", text }]);
  } else {
    for (const url of splitPostgresUrl(config.databaseUrl.reveal())) {
      await show(await checkDatabase(url, systemClock.nowMs));
    }
  }
  for (const name of PORTS) {
    await show([await checkPort(config.host, config[name], allSettings[name].variable)]);
  }
  const count = (state: Finding["state"]) => findings.filter((each) => each.state === state).length;
  if (options.json !== true) {
    await print(`\n${count("ok")} ok, ${count("limited")} limited, ${count("failed")} failed.\n`);
  }
  return count("failed") > 0 ? 1 : 0;
};

function findRun(environment: Environment): Environment {
  return readRun(readConfig(environment, { dataFolder: allSettings.dataFolder }).dataFolder)?.operator ?? {};
}

/** Each node once; a deployment without nodes, or whose file is wrong, is a finding. */
async function listNodes(
  environment: Environment,
  logRangeMax: number,
  show: (found: readonly Finding[]) => Promise<void>,
): Promise<Iterable<Parameters<typeof checkNode>[0]>> {
  const nodes = new Map<string, Parameters<typeof checkNode>[0]>();
  const add = (chainId: number, urls: Parameters<typeof splitRpcUrls>[0]) => {
    for (const url of splitRpcUrls(urls).http) {
      nodes.set(`${chainId} ${url.reveal()}`, { url: url.reveal(), chainId, logRangeMax });
    }
  };
  try {
    for (const { name, deployment, rpcUrls } of await chooseDeployments({ environment, options: {} })) {
      add(deployment.chainId, rpcUrls);
      if (splitRpcUrls(rpcUrls).http.length > 0) continue;
      const text = `has no http node in RPC_URL or RPC_URL_${deployment.chainId}: it cannot be indexed`;
      await show([{ subject: `deployment ${name}`, check: "nodes", state: "failed", text }]);
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    await show([{ subject: "deployments", check: "files", state: "failed", text: error.message }]);
  }
  for (const [chainId, urls] of readPortfolioNodes(environment)) add(chainId, urls);
  return nodes.values();
}

async function checkPort(host: string, port: number, variable: string): Promise<Finding> {
  const found = { subject: "ports", check: variable };
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port }, resolve);
    });
    return { ...found, state: "ok", text: `${port} on ${host} is free` };
  } catch (error) {
    const text = `${port} on ${host}: ${describeError(error)}. Unless that is the service itself, set ${variable} to a free port`;
    return { ...found, state: "limited", text };
  } finally {
    server.close();
  }
}

function formatFinding({ subject, check, state, text }: Finding, isNew: boolean, display: Display): string {
  const style = state === "ok" ? "green" : state === "limited" ? "bold" : "red";
  const lines = fitText(toPlainText(text), display.columns, INDENT);
  const head = isNew ? `${display.style("bold", toPlainText(subject))}\n` : "";
  const mark = display.style(style, state) + " ".repeat("limited".length - state.length);
  const [first = "", ...rest] = lines.map((line, index) => (index === 0 ? line : " ".repeat(INDENT) + line));
  return `${head}${[`  ${mark}  ${check.padEnd(INDENT - 12)} ${first}`, ...rest].join("\n")}\n`;
}
