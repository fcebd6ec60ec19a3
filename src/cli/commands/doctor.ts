// `sextant doctor`: checks settings, nodes, database, ports and clocks, and says what each limit means for the features.
import { createServer } from "node:net";
import { splitRpcUrls } from "../../config/indexing-settings.ts";
import { readPortfolioNodes } from "../../config/portfolio-settings.ts";
import { splitPostgresUrl } from "../../config/postgres-url.ts";
import { type Environment, readConfig } from "../../config/read-config.ts";
import { allSettings } from "../../config/settings.ts";
import { systemClock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import { START_LOCAL } from "../../lib/program.ts";
import { Secret } from "../../lib/secret.ts";
import { type RunState, readRun } from "../../local/run-files.ts";
import type { RunClientCommand } from "../command.ts";
import type { Display } from "../display/display.ts";
import { fitText, toPlainJson, toPlainText } from "../display/plain-text.ts";
import { checkChannelDebts, checkChannels } from "../doctor/check-channels.ts";
import { checkDatabase } from "../doctor/check-database.ts";
import { checkNode } from "../doctor/check-node.ts";
import { checkSale } from "../doctor/check-sale.ts";
import { CHECK_MS_MAX, describeError, type Finding } from "../doctor/finding.ts";
import { chooseDeployments } from "../installation.ts";
import { hasOtherSettings, joinRun } from "../operator-database.ts";
import { findRunFolder } from "../run-folder.ts";

const PORTS = ["apiPort", "portfolioPort", "indexerPort", "facilitatorPort", "webhooksPort"] as const;
// Room for the longest name, FACILITATOR_PORT.
const INDENT = 29;

type Show = (found: readonly Finding[]) => Promise<void>;

export const doctorCommand: RunClientCommand = async ({ environment: given, options, display, print }) => {
  const findings: Finding[] = [];
  const show: Show = async (found) => {
    for (const finding of found) {
      const isNew = findings.at(-1)?.subject !== finding.subject;
      await print(
        options.json === true ? `${toPlainJson(finding)}\n` : formatFinding(finding, isNew, display),
      );
      findings.push(finding);
    }
  };
  const run = await findRun(given, show);
  // A run tells its operator's commands where its nodes and its database are.
  const environment = joinRun(given, run);
  const config = readConfig(environment, allSettings);
  const text = "every variable that is set has a valid value";
  await show([{ subject: "settings", check: "values", state: "ok", text }]);
  if (run !== null) await show(await checkServices(run));
  for (const node of await listNodes(environment, { run, logRangeMax: config.logRangeMax }, show)) {
    await show(await checkNode(node, systemClock.nowMs()));
  }
  if (config.payTo !== null || config.channelsOn)
    await show(await checkChannels(config, systemClock.nowMs()));
  await show(await checkSale(config));
  if (config.databaseUrl === null) await show(describeUnnamed(config.dataFolder, run));
  else {
    for (const url of splitPostgresUrl(config.databaseUrl.reveal())) {
      await show(await checkDatabase(url, systemClock.nowMs));
      await show(await checkChannelDebts(url, config.databaseSchema, config));
    }
  }
  // The ports of a run are those of its services.
  for (const name of run === null ? PORTS : []) {
    await show([await checkPort(config.host, config[name], allSettings[name].variable)]);
  }
  const count = (state: Finding["state"]) => findings.filter((each) => each.state === state).length;
  if (options.json !== true) {
    await print(`\n${count("ok")} ok, ${count("limited")} limited, ${count("failed")} failed.\n`);
  }
  return count("failed") > 0 ? 1 : 0;
};

async function checkServices({ api, portfolio, facilitator }: RunState): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [check, url] of Object.entries({ api, portfolio, facilitator })) {
    if (url === undefined) continue;
    const found = { subject: "services of the run", check };
    try {
      const { status } = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(CHECK_MS_MAX) });
      findings.push(
        status === 200
          ? { ...found, state: "ok", text: `${url} is ready` }
          : {
              ...found,
              state: "limited",
              text: `${url} is not ready (${status}): it may miss newest blocks`,
            },
      );
    } catch (error) {
      const text = `${url}: ${describeError(error)}. Stop the run and start it again`;
      findings.push({ ...found, state: "failed", text });
    }
  }
  return findings;
}

function describeUnnamed(dataFolder: string, run: RunState | null): Finding[] {
  const found = { subject: "database", state: "ok" } as const;
  if (run?.hasDatabaseUrl === true) {
    const text = "the run uses the one in its DATABASE_URL: set DATABASE_URL to the same one to check it";
    return [{ ...found, check: "kind", state: "limited", text }];
  }
  return [
    {
      ...found,
      check: "kind",
      text: `embedded, in ${dataFolder}: one machine only; set DATABASE_URL to run processes on several`,
    },
    { ...found, check: "clock", text: "the one of this machine, so that both agree" },
  ];
}

/** Null if the operator's settings are not those of the run: they are checked. Several runs are a finding. */
async function findRun(environment: Environment, show: Show): Promise<RunState | null> {
  const { dataFolder } = readConfig(environment, { dataFolder: allSettings.dataFolder });
  if (hasOtherSettings(environment, dataFolder)) return null;
  const own = readRun(dataFolder);
  if (own !== null || Object.keys(environment).some((name) => name.startsWith("RPC_URL"))) return own;
  try {
    return readRun(findRunFolder(environment, dataFolder));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const text = error.message.replace(/\s+/g, " ");
    await show([{ subject: "runs", check: "choice", state: "limited", text }]);
    return null;
  }
}

/** Each node once; a deployment without nodes, or whose file is wrong, is a finding. */
async function listNodes(
  environment: Environment,
  { run, logRangeMax }: { readonly run: RunState | null; readonly logRangeMax: number },
  show: Show,
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
      const isChosen = environment.NETWORK !== undefined || environment.DEPLOYMENTS !== undefined;
      const missing = `has no http node in RPC_URL or RPC_URL_${deployment.chainId}: it cannot be indexed`;
      const text = isChosen ? missing : `${missing}; a local run (${START_LOCAL}) needs none`;
      const state = isChosen ? "failed" : "limited";
      await show([{ subject: `deployment ${name}`, check: "nodes", state, text }]);
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    await show([{ subject: "deployments", check: "files", state: "failed", text: error.message }]);
  }
  for (const { chainId, rpcUrl } of run?.chains ?? []) add(chainId, [new Secret(rpcUrl)]);
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
  return `${head}${[`  ${mark}  ${check.padEnd(INDENT - 13)}  ${first}`, ...rest].join("\n")}\n`;
}
