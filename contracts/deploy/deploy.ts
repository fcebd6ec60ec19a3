// Deploys the protocol and what a local chain needs alongside it: one call, transactions pipelined by explicit nonces.
import { channel } from "node:diagnostics_channel";
import { type Abi, type Address, encodeDeployData, getContractAddress, type Hex, size } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { agentRegistryAbi, agentRegistryBytecode } from "../generated/agent-registry.ts";
import { attestationRegistryAbi, attestationRegistryBytecode } from "../generated/attestation-registry.ts";
import { attestorRegistryAbi, attestorRegistryBytecode } from "../generated/attestor-registry.ts";
import { batchSettlementRuntimeBytecode } from "../generated/batch-settlement.ts";
import { commerceRegistryAbi, commerceRegistryBytecode } from "../generated/commerce-registry.ts";
import { demoTargetAbi, demoTargetBytecode } from "../generated/demo-target.ts";
import { erc3009CollectorRuntimeBytecode } from "../generated/erc3009-collector.ts";
import { intentBookAbi, intentBookBytecode } from "../generated/intent-book.ts";
import { multicall3RuntimeBytecode } from "../generated/multicall3.ts";
import { permit2CollectorRuntimeBytecode } from "../generated/permit2-collector.ts";
import { policyModuleAbi, policyModuleBytecode } from "../generated/policy-module.ts";
import { priceFeedAbi, priceFeedBytecode } from "../generated/price-feed.ts";
import { settlementAdapterAbi, settlementAdapterBytecode } from "../generated/settlement-adapter.ts";
import { solverRegistryAbi, solverRegistryBytecode } from "../generated/solver-registry.ts";
import { usdCoinAbi, usdCoinBytecode } from "../generated/usd-coin.ts";
import { vault4626Abi, vault4626Bytecode } from "../generated/vault4626.ts";
import { wrappedEtherAbi, wrappedEtherBytecode } from "../generated/wrapped-ether.ts";
import {
  LOCAL_CONTRACTS,
  type LocalContract,
  type LocalDeployment,
  PROTOCOL_CONTRACTS,
  type ProtocolContract,
} from "./deployment.ts";
import { createHttpRpcRequest, type RpcRequestFunction } from "./rpc-request.ts";
import { awaitReceipt, currentFees, nextNonce, signCall } from "./transaction.ts";

export type DeployOptions = ({ readonly rpcUrl: string } | { readonly request: RpcRequestFunction }) & {
  /** Pays for everything and owns the local token and price feeds. */
  readonly owner: { readonly privateKey: Hex };
  /** "local" by default. */
  readonly network?: string;
};

/** The address that client libraries use on every chain. */
export const MULTICALL3_ADDRESS: Address = "0xca11bde05977b3631167028862be2a173976ca11";

/** The payment channels of x402, at the addresses that they have on every chain. */
export const CHANNEL_CONTRACTS = {
  settlement: "0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003",
  erc3009Collector: "0x4020806089470a89826cB9fB1f4059150b550004",
  permit2Collector: "0x4020425FAf3B746C082C2f942b4E5159887B0005",
} as const satisfies Readonly<Record<string, Address>>;

/** To be given to a local chain as its genesis code; code placed later would be lost in a reorg. */
export const LOCAL_GENESIS_CODE: Readonly<Record<Address, Hex>> = {
  [MULTICALL3_ADDRESS]: multicall3RuntimeBytecode,
  [CHANNEL_CONTRACTS.settlement]: batchSettlementRuntimeBytecode,
  [CHANNEL_CONTRACTS.erc3009Collector]: erc3009CollectorRuntimeBytecode,
  [CHANNEL_CONTRACTS.permit2Collector]: permit2CollectorRuntimeBytecode,
};

/** Price feeds return dollars with eight decimals, as the real ones do. */
const FEED_DECIMALS = 8;
const ETH_USD = 3_000_00000000n;
const USDC_USD = 1_00000000n;

/** Creation costs at most 16 gas a byte of calldata, 200 a byte of stored code and 1 a byte of hashing. */
const GAS_PER_BYTE = 220n;
/** The base price of a creation, and constructors that store a dozen words. */
const GAS_BASE = 600_000n;

type Created = ProtocolContract | Exclude<LocalContract, "Multicall3">;
type AddressOf = (name: Created) => Address;
type Plan = readonly (readonly [name: Created, initCode: (addressOf: AddressOf) => Hex])[];

// The order is the order of nonces: a constructor may only look at what stands above it.
const PLAN: Plan = [
  ["AgentRegistry", () => initCode(agentRegistryAbi, agentRegistryBytecode)],
  ["AttestationRegistry", () => initCode(attestationRegistryAbi, attestationRegistryBytecode)],
  ["IntentBook", (at) => initCode(intentBookAbi, intentBookBytecode, [at("AttestationRegistry")])],
  ["PolicyModule", () => initCode(policyModuleAbi, policyModuleBytecode)],
  ["SolverRegistry", () => initCode(solverRegistryAbi, solverRegistryBytecode)],
  ["AttestorRegistry", () => initCode(attestorRegistryAbi, attestorRegistryBytecode)],
  ["CommerceRegistry", () => initCode(commerceRegistryAbi, commerceRegistryBytecode)],
  ["SettlementAdapter", () => initCode(settlementAdapterAbi, settlementAdapterBytecode)],
  ["UsdCoin", () => initCode(usdCoinAbi, usdCoinBytecode)],
  ["WrappedEther", () => initCode(wrappedEtherAbi, wrappedEtherBytecode)],
  ["EthUsdFeed", () => initCode(priceFeedAbi, priceFeedBytecode, ["ETH / USD", FEED_DECIMALS, ETH_USD])],
  ["UsdcUsdFeed", () => initCode(priceFeedAbi, priceFeedBytecode, ["USDC / USD", FEED_DECIMALS, USDC_USD])],
  [
    "Vault4626",
    (at) => initCode(vault4626Abi, vault4626Bytecode, [at("UsdCoin"), "USD Coin Vault", "vUSDC"]),
  ],
  ["DemoTarget", () => initCode(demoTargetAbi, demoTargetBytecode)],
];

/** Tells subscribers how long a chain or a database took to start; tests count it apart from their own work. */
const startUps = channel("sextant:start-up");

export async function deploy(options: DeployOptions): Promise<LocalDeployment> {
  const startedMs = performance.now();
  const request = "request" in options ? options.request : createHttpRpcRequest(options.rpcUrl);
  const account = privateKeyToAccount(options.owner.privateKey);
  const [chainIdHex, firstNonce, fees] = await Promise.all([
    request("eth_chainId") as Promise<Hex>,
    nextNonce(request, account.address),
    currentFees(request),
  ]);
  const chainId = Number(chainIdHex);

  const addresses = new Map<Created, Address>(
    PLAN.map(([name], index) => [
      name,
      lowerCase(getContractAddress({ from: account.address, nonce: BigInt(firstNonce + index) })),
    ]),
  );
  const addressOf: AddressOf = (name) => known(addresses, name);
  const signed = await Promise.all(
    PLAN.map(([, codeOf], index) => {
      const data = codeOf(addressOf);
      const gas = GAS_BASE + GAS_PER_BYTE * BigInt(size(data));
      return signCall(account, { data, gas }, { ...fees, chainId, nonce: firstNonce + index });
    }),
  );
  const hashes = await Promise.all(
    signed.map((raw) => request("eth_sendRawTransaction", [raw]) as Promise<Hex>),
  );
  const [receipts] = await Promise.all([
    Promise.all(hashes.map((hash) => awaitReceipt(request, hash))),
    placeMulticall(request),
  ]);
  for (const [index, [name]] of PLAN.entries()) {
    const receipt = receipts[index];
    if (receipt?.status !== "0x1" || receipt.contractAddress?.toLowerCase() !== addressOf(name)) {
      throw new Error(`${name} could not be deployed: transaction ${hashes[index]} failed`);
    }
  }

  startUps.publish({ seconds: (performance.now() - startedMs) / 1000 });
  return {
    network: options.network ?? "local",
    chainId,
    startBlock: Math.min(...receipts.map((receipt) => Number(receipt.blockNumber))),
    contracts: record(PROTOCOL_CONTRACTS, addressOf),
    local: record(LOCAL_CONTRACTS, (name) => (name === "Multicall3" ? MULTICALL3_ADDRESS : addressOf(name))),
  };
}

/** The address belongs to an unknown deployer key, so a local chain places the code there. */
async function placeMulticall(request: RpcRequestFunction): Promise<void> {
  if ((await request("eth_getCode", [MULTICALL3_ADDRESS, "latest"])) !== "0x") return;
  await request("hardhat_setCode", [MULTICALL3_ADDRESS, multicall3RuntimeBytecode]);
}

function initCode(abi: Abi, bytecode: Hex, args: readonly unknown[] = []): Hex {
  return encodeDeployData({ abi, bytecode, args });
}

function known(addresses: ReadonlyMap<Created, Address>, name: Created): Address {
  const address = addresses.get(name);
  if (address === undefined) throw new Error(`${name} is not part of the deployment`);
  return address;
}

function record<Name extends string>(
  names: readonly Name[],
  addressOf: (name: Name) => Address,
): Record<Name, Address> {
  return Object.fromEntries(names.map((name) => [name, addressOf(name)])) as Record<Name, Address>;
}

function lowerCase(address: Address): Address {
  return address.toLowerCase() as Address;
}
