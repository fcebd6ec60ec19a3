// Contracts that the reader knows as the protocol's: of shipped deployments, and those that the reader names.
import type { Hex } from "viem";
import { Rejection } from "./rejection.ts";
import { ADDRESS, isObject, memberOf, requireObject } from "./strict-json.ts";

export type KnownContract = {
  /** Null for an address on whichever chain. */
  readonly chainId: string | null;
  /** Null for an address of whichever contract: it says nothing about where the others are. */
  readonly name: string | null;
  readonly address: Hex;
  /** Whether the reader names it: then a contract of the same name elsewhere on its chain is another one. */
  readonly isGiven: boolean;
};

const BASE_SEPOLIA = {
  chainId: 84_532,
  contracts: {
    AgentRegistry: "0x24ca7dc7747b0166e73a2d6d99ce677476f046f3",
    IntentBook: "0x16f7e7c4856bad4dcbe61400630087dab75b229e",
    AttestationRegistry: "0x62631b3f111424831daa61becb2e7a4bb0f71d2f",
    SolverRegistry: "0x21cf04bc864953da4c79160f820f38ef74213eea",
    AttestorRegistry: "0x40f2623f177a400a5928c99f107500049a884da0",
    CommerceRegistry: "0xf0bf44b28567f0b3d2370dc7af8a63335746d8d4",
  },
};

export const SHIPPED_DEPLOYMENTS: readonly unknown[] = [BASE_SEPOLIA];

/** `given`: addresses, or the content of deployment files. Throws a Rejection for anything else. */
export function listKnownContracts(given: readonly unknown[]): readonly KnownContract[] {
  return [
    ...given.flatMap((source) => readContracts(source, true)),
    ...SHIPPED_DEPLOYMENTS.flatMap((source) => readContracts(source, false)),
  ];
}

function readContracts(source: unknown, isGiven: boolean): readonly KnownContract[] {
  if (typeof source === "string") {
    return [{ chainId: null, name: null, address: requireAddress(source), isGiven }];
  }
  const chainId = isObject(source) ? memberOf(source, "chainId") : null;
  if (!isObject(source) || !Number.isSafeInteger(chainId) || (chainId as number) < 1) {
    throw new Rejection("A deployment has a chainId and contracts.");
  }
  const contracts = requireObject(memberOf(source, "contracts"), "The contracts of a deployment");
  return Object.entries(contracts).map(([name, address]) => ({
    ...{ chainId: `eip155:${String(chainId)}`, name, isGiven },
    address: requireAddress(address),
  }));
}

function requireAddress(value: unknown): Hex {
  const address = typeof value === "string" ? value.toLowerCase() : "";
  if (!ADDRESS.test(address)) throw new Rejection("The address of a contract is malformed.");
  return address as Hex;
}

/** Whether the contract is the one that the reader means. Throws a Rejection if the reader knows it at another address. */
export function isKnownContract(
  known: readonly KnownContract[],
  contract: { readonly chainId: string; readonly name: string; readonly address: Hex },
): boolean {
  const candidates = known.filter(
    ({ chainId, name }) =>
      (chainId === null || chainId === contract.chainId) && (name === null || name === contract.name),
  );
  if (candidates.some(({ address }) => address === contract.address)) return true;
  if (candidates.some(({ isGiven, name }) => isGiven && name !== null)) {
    throw new Rejection(`You know ${contract.name} at another address.`);
  }
  return false;
}
