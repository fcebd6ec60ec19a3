// The deployments of an installation: that of NETWORK and further ones, each with its name, path, schema and nodes.

import type { WebhookDeployment } from "../api/webhooks/configured.ts";
import { indexerSettings, nodesOfChain } from "../config/indexing-settings.ts";
import { type Config, type Environment, readConfig } from "../config/read-config.ts";
import { databaseSettings } from "../config/service-settings.ts";
import { mountPath } from "../http/server.ts";
import { assertDefined } from "../lib/assert-defined.ts";
import { Fault } from "../lib/fault.ts";
import type { Secret } from "../lib/secret.ts";
import { type Deployment, readDeployment } from "../protocol/deployment.ts";
import type { Database } from "../store/postgres/database.ts";
import { openRecordStore } from "../store/postgres/record-store.ts";
import { isRebuildSchema } from "../store/postgres/schema-name.ts";
import { type CommandContext, readRepeatedOption, readStringOption } from "./command.ts";

export type InstalledDeployment = {
  /** In paths, logs and metrics. */
  readonly name: string;
  /** Name or file by which the configuration knows it. */
  readonly source: string;
  /** The path of its API; empty for the default one. */
  readonly base: string;
  readonly deployment: Deployment;
  readonly databaseSchema: string;
  readonly rpcUrls: readonly Secret<string>[];
};

type Given = Pick<CommandContext, "environment" | "options">;

const settings = {
  network: indexerSettings.network,
  deployments: indexerSettings.deployments,
  rpcUrls: indexerSettings.rpcUrls,
  databaseSchema: databaseSettings.databaseSchema,
};

// As for DATABASE_SCHEMA: room for suffixes below PostgreSQL's 63 bytes.
const SCHEMA_LENGTH_MAX = 48;

/** All deployments that the configuration and --deployment name, the default one first. */
export async function readInstallation({
  environment,
  options,
}: Given): Promise<readonly InstalledDeployment[]> {
  const config = readConfig(environment, settings);
  const first = await readDefault(config);
  const installed = [first];
  const add = async (source: string, variable: string) => {
    const deployment = await readDeployment(source, variable);
    const name = toName(deployment);
    const rpcUrls = readNodes(environment, deployment.chainId, first);
    const databaseSchema = toSchema(config.databaseSchema, name);
    installed.push({ name, source, base: mountPath(name), deployment, databaseSchema, rpcUrls });
  };
  for (const source of config.deployments) await add(source, "DEPLOYMENTS");
  for (const source of readChosen(options)) {
    if (!installed.some((each) => isNamed(each, source))) await add(source, "--deployment");
  }
  assertUnique(installed);
  return installed;
}

async function readDefault(config: Config<typeof settings>): Promise<InstalledDeployment> {
  const { network: source, databaseSchema, rpcUrls } = config;
  const deployment = await readDeployment(source);
  return { name: toName(deployment), source, base: "", deployment, databaseSchema, rpcUrls };
}

const readChosen = (options: CommandContext["options"]) => {
  const one = readStringOption(options, "deployment");
  return one === undefined ? readRepeatedOption(options, "deployment") : [one];
};

const isNamed = ({ name, source }: InstalledDeployment, given: string) => name === given || source === given;

/** The deployments that --deployment chooses; without it, all. */
export async function chooseDeployments(given: Given): Promise<readonly InstalledDeployment[]> {
  const installed = await readInstallation(given);
  const chosen = readChosen(given.options);
  if (chosen.length === 0) return installed;
  return installed.filter((each) => chosen.some((name) => isNamed(each, name)));
}

/** Like `chooseDeployments`, but always with the default one, which a server has at its root. */
export async function chooseServedDeployments(given: Given): Promise<readonly InstalledDeployment[]> {
  const [first, ...others] = await readInstallation(given);
  const chosen = await chooseDeployments(given);
  const isChosen = ({ name }: InstalledDeployment) => chosen.some((each) => each.name === name);
  return [...(first ? [first] : []), ...others.filter(isChosen)];
}

/** For commands on one deployment: the chosen one; without a choice, the default one, whatever is wrong with others. */
export async function chooseDeployment(given: Given): Promise<InstalledDeployment> {
  if (readChosen(given.options).length === 0) return readDefault(readConfig(given.environment, settings));
  const [first] = await chooseDeployments(given);
  return assertDefined(first, "the chosen deployment");
}

/** A deployment without nodes can neither be indexed nor compared with its chain. */
export function assertNodes(deployments: readonly InstalledDeployment[]): void {
  for (const { name, base, rpcUrls, deployment } of deployments) {
    if (rpcUrls.length > 0) continue;
    throw new Fault(
      "CONFIG_INVALID",
      base === ""
        ? "RPC_URL must name at least one node of the chain, such as https://sepolia.base.org. A command next to a run takes its nodes, but not from URLs with a path, a query or a password, which may be keys."
        : `RPC_URL_${deployment.chainId} must name at least one node of the chain of ${name}.`,
    );
  }
}

/** Settings that name the nodes of these deployments. Leaves out URLs that may hold a key: they are not for files. */
export function listKeylessNodes(
  deployments: readonly InstalledDeployment[],
): Readonly<Record<string, string>> {
  const nodes = deployments.map(({ base, deployment, rpcUrls }) => {
    const variable = base === "" ? "RPC_URL" : `RPC_URL_${deployment.chainId}`;
    return [variable, rpcUrls.map((url) => url.reveal()).filter(isKeyless)] as const;
  });
  return Object.fromEntries(
    nodes.flatMap(([variable, urls]) => (urls.length === 0 ? [] : [[variable, urls.join(",")]])),
  );
}

function isKeyless(text: string): boolean {
  const { pathname, search, hash, username, password } = new URL(text);
  return pathname === "/" && `${search}${hash}${username}${password}` === "";
}

/** Deployments on one chain share its nodes. */
function readNodes(
  environment: Environment,
  chainId: number,
  first: InstalledDeployment,
): readonly Secret<string>[] {
  const { nodes } = readConfig(environment, { nodes: nodesOfChain(chainId) });
  return nodes.length === 0 && chainId === first.deployment.chainId ? first.rpcUrls : nodes;
}

function toName({ network }: Deployment): string {
  const name = network
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return name === "" ? "default" : name;
}

/** Names have no underscore, so that two names never share a schema. */
export function toSchema(schema: string, name: string): string {
  const own = `${schema}_${name.replaceAll("-", "_")}`;
  if (isRebuildSchema(own)) {
    throw new Fault(
      "CONFIG_INVALID",
      `The schema of the deployment ${name} would be ${own}, where the rows of another one are rebuilt; give it another network in its file.`,
    );
  }
  if (own.length <= SCHEMA_LENGTH_MAX) return own;
  throw new Fault(
    "CONFIG_INVALID",
    `The schema of the deployment ${name} would be ${own}, which is longer than ${SCHEMA_LENGTH_MAX} characters; give it a shorter network in its file, or shorten DATABASE_SCHEMA.`,
  );
}

function assertUnique(installed: readonly InstalledDeployment[]): void {
  const names = new Set<string>();
  for (const { name, source } of installed) {
    if (names.has(name)) {
      throw new Fault(
        "CONFIG_INVALID",
        `Two deployments have the name ${name}; change network in the file of ${source}, or list it once.`,
      );
    }
    names.add(name);
  }
}

type RunDeployment = { readonly name: string; readonly database: Database };

/** Webhooks of a deployment that this process does not run are stored by those that do. */
export function toWebhookDeployments(
  all: readonly InstalledDeployment[],
  run: readonly RunDeployment[],
): readonly WebhookDeployment[] {
  return all.map(({ name, base, deployment }) => {
    const own = run.find((each) => each.name === name);
    const store = own ? openRecordStore(own.database) : null;
    return { name, isDefault: base === "", chainId: deployment.chainId, store };
  });
}
