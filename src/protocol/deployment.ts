// A deployment of the protocol: chain, start block and contract addresses.
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Fault } from "../lib/fault.ts";
import { type Hex, parseAddress } from "../lib/hex.ts";
import { isJsonObject, type JsonObject } from "../lib/json.ts";

export const CONTRACT_NAMES = [
  "AgentRegistry",
  "IntentBook",
  "PolicyModule",
  "AttestationRegistry",
  "SolverRegistry",
  "AttestorRegistry",
  "CommerceRegistry",
  "SettlementAdapter",
] as const;

export type ContractName = (typeof CONTRACT_NAMES)[number];

export type Deployment = {
  readonly network: string;
  readonly chainId: number;
  readonly startBlock: number;
  readonly contracts: Readonly<Record<ContractName, Hex>>;
  /** Origin of a block explorer of the chain, for links; absent without one. */
  readonly explorerUrl?: string;
  /** Tokens whose amounts are shown with symbol and decimals; absent if none is known. */
  readonly tokens?: DeployedTokens;
};

type DeployedTokens = Readonly<Record<Hex, { readonly symbol: string; readonly decimals: number }>>;

/** Parses the JSON of a deployment file; `source` names the file in errors. */
export function parseDeployment(json: unknown, source: string): Deployment {
  const object = parseObject(json, source, "the file");
  const contracts = parseObject(object.contracts, source, "contracts");
  const unknown = Object.keys(contracts).filter((name) => !CONTRACT_NAMES.some((known) => known === name));
  if (unknown.length > 0)
    fail(source, `contracts names ${unknown.join(", ")}, which the protocol does not have`);
  const addresses = Object.fromEntries(
    CONTRACT_NAMES.map((name) => [name, parseContractAddress(contracts[name], source, `contracts.${name}`)]),
  ) as Record<ContractName, Hex>;
  if (new Set(Object.values(addresses)).size !== CONTRACT_NAMES.length)
    fail(source, "two contracts share an address");
  return Object.freeze({
    network:
      typeof object.network === "string" && object.network
        ? object.network
        : fail(source, "network must be a name"),
    chainId: parseInteger(object.chainId, 1, source, "chainId"),
    startBlock: parseInteger(object.startBlock, 0, source, "startBlock"),
    contracts: Object.freeze(addresses),
    ...(object.explorerUrl === undefined
      ? {}
      : { explorerUrl: parseExplorerUrl(object.explorerUrl, source) }),
    ...(object.tokens === undefined ? {} : { tokens: parseTokens(object.tokens, source) }),
  });
}

function parseExplorerUrl(value: unknown, source: string): string {
  const isOrigin = typeof value === "string" && /^https:\/\/[a-z0-9.-]+$/.test(value);
  return isOrigin ? value : fail(source, "explorerUrl must be an https address without a path");
}

// The largest that a token can state (uint8).
const DECIMALS_MAX = 255;

function parseTokens(value: unknown, source: string): DeployedTokens {
  const tokens = parseObject(value, source, "tokens");
  const entries = Object.entries(tokens).map(([address, token]) => {
    const { symbol, decimals } = parseObject(token, source, `tokens.${address}`);
    if (typeof symbol !== "string" || !/^[A-Za-z0-9.$₮-]{1,20}$/.test(symbol)) {
      fail(source, `tokens.${address}.symbol must be a short name`);
    }
    const places = parseInteger(decimals, 0, source, `tokens.${address}.decimals`);
    if (places > DECIMALS_MAX) fail(source, `tokens.${address}.decimals must be at most ${DECIMALS_MAX}`);
    return [
      parseContractAddress(address, source, `tokens.${address}`),
      { symbol, decimals: places },
    ] as const;
  });
  return Object.freeze(Object.fromEntries(entries));
}

function parseContractAddress(value: unknown, source: string, what: string): Hex {
  try {
    return parseAddress(value, what);
  } catch {
    return fail(source, `${what} must be an address: 0x followed by 40 hex digits`);
  }
}

function parseObject(value: unknown, source: string, what: string): JsonObject {
  return isJsonObject(value) ? value : fail(source, `${what} must be a JSON object`);
}

function parseInteger(value: unknown, min: number, source: string, what: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= min) return value;
  return fail(source, `${what} must be a whole number from ${min}`);
}

function fail(source: string, problem: string): never {
  throw new Fault("CONFIG_INVALID", `The deployment ${source} is invalid: ${problem}.`);
}

const SHIPPED = fileURLToPath(new URL("../../deployments/", import.meta.url));

/** Whether it is the path of a file, as opposed to the name of a shipped deployment. */
export function isDeploymentFile(network: string): boolean {
  return network.includes("/") || network.endsWith(".json");
}

/** Reads the deployment that a variable names: a shipped one, or a file of the operator. */
export async function readDeployment(network: string, variable = "NETWORK"): Promise<Deployment> {
  const file = isDeploymentFile(network) ? network : `${SHIPPED}${network}.json`;
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    const known = (await readdir(SHIPPED)).map((name) => name.replace(/\.json$/, "")).join(", ");
    const message = `${variable} must be one of ${known}, or the path of a deployment file; "${network}" cannot be read.`;
    throw new Fault("CONFIG_INVALID", message, { cause });
  }
  try {
    return parseDeployment(JSON.parse(text), network);
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw new Fault("CONFIG_INVALID", `The deployment ${network} is invalid: it is not JSON.`, {
      cause,
    });
  }
}
