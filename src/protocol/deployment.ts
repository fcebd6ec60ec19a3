// A deployment: on which chain, since which block and at which addresses the protocol lives.
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
};

/** Reads a deployment file's JSON; `source` is how the reader knows the file. */
export function parseDeployment(json: unknown, source: string): Deployment {
  const object = record(json, source, "the file");
  const contracts = record(object.contracts, source, "contracts");
  const unknown = Object.keys(contracts).filter((name) => !CONTRACT_NAMES.some((known) => known === name));
  if (unknown.length > 0)
    refuse(source, `contracts names ${unknown.join(", ")}, which the protocol does not have`);
  const addresses = Object.fromEntries(
    CONTRACT_NAMES.map((name) => [name, addressOf(contracts[name], source, `contracts.${name}`)]),
  ) as Record<ContractName, Hex>;
  if (new Set(Object.values(addresses)).size !== CONTRACT_NAMES.length)
    refuse(source, "two contracts share an address");
  return Object.freeze({
    network:
      typeof object.network === "string" && object.network
        ? object.network
        : refuse(source, "network must be a name"),
    chainId: whole(object.chainId, 1, source, "chainId"),
    startBlock: whole(object.startBlock, 0, source, "startBlock"),
    contracts: Object.freeze(addresses),
  });
}

function addressOf(value: unknown, source: string, what: string): Hex {
  try {
    return parseAddress(value, what);
  } catch {
    return refuse(source, `${what} must be an address: 0x followed by 40 hex digits`);
  }
}

function record(value: unknown, source: string, what: string): JsonObject {
  return isJsonObject(value) ? value : refuse(source, `${what} must be a JSON object`);
}

function whole(value: unknown, min: number, source: string, what: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= min) return value;
  return refuse(source, `${what} must be a whole number from ${min}`);
}

function refuse(source: string, problem: string): never {
  throw new Fault("CONFIG_INVALID", `The deployment ${source} can not be used: ${problem}.`);
}
