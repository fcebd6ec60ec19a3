// Describes a deployment: the addresses of its contracts on a chain, and its first block.
import type { Address } from "viem";

export const PROTOCOL_CONTRACTS = [
  "AgentRegistry",
  "IntentBook",
  "PolicyModule",
  "AttestationRegistry",
  "SolverRegistry",
  "AttestorRegistry",
  "CommerceRegistry",
  "SettlementAdapter",
] as const;

/** The parts that a local chain needs besides the protocol: money, prices, something to call. */
export const LOCAL_CONTRACTS = [
  "UsdCoin",
  "WrappedEther",
  "EthUsdFeed",
  "UsdcUsdFeed",
  "Vault4626",
  "DemoTarget",
  "Multicall3",
] as const;

export type ProtocolContract = (typeof PROTOCOL_CONTRACTS)[number];
export type LocalContract = (typeof LOCAL_CONTRACTS)[number];

/** The shape of the files in the folder deployments; addresses are lower-case. */
export type ProtocolDeployment = {
  readonly network: string;
  readonly chainId: number;
  /** The block of the first contract: no event is older. */
  readonly startBlock: number;
  readonly contracts: Readonly<Record<ProtocolContract, Address>>;
};

export type LocalDeployment = ProtocolDeployment & {
  readonly local: Readonly<Record<LocalContract, Address>>;
};
