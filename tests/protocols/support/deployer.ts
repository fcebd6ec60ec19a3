// Deploys and calls third-party contracts on a local chain, and reads them through the portfolio's own access.
import type { LocalChain } from "@sextant/local-chain/local-chain";
import {
  type Abi,
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeDeployData,
  type Hex,
  http,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Artifact } from "./artifacts.ts";

export type DeployedContract = { readonly address: Hex; readonly abi: Abi };

export type Deployer = {
  deploy(artifact: Artifact, args?: readonly unknown[]): Promise<DeployedContract>;
  /** Sends a transaction and fails unless it succeeds; `key` is the deployer's by default. */
  send(
    contract: DeployedContract,
    functionName: string,
    args?: readonly unknown[],
    /**
     * `gas` is for calls whose estimate is too low, because the transaction's block is later than that of the estimate.
     */
    options?: { readonly key?: Hex; readonly value?: bigint; readonly gas?: bigint },
  ): Promise<Hex>;
  /** A view function of the protocol itself, or what a transaction would return. */
  call<T>(
    contract: DeployedContract,
    functionName: string,
    args?: readonly unknown[],
    options?: { readonly from?: Hex },
  ): Promise<T>;
};

/**
 * More than any call here needs. An estimate is for the time at which it is made: a pool that writes down a new second costs
 * more one second later.
 */
const SEND_GAS = 12_000_000n;

export function createDeployer(chain: LocalChain, key: Hex): Deployer {
  const account = privateKeyToAccount(key);
  const definition = defineChain({
    id: chain.chainId,
    name: "Local chain",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [chain.rpcUrl] } },
  });
  const transport = http(chain.rpcUrl, { timeout: 60_000 });
  const reader = createPublicClient({ chain: definition, transport, pollingInterval: 5 });
  const writer = createWalletClient({ chain: definition, transport });
  const confirm = async (hash: Hex) => {
    const receipt = await reader.waitForTransactionReceipt({ hash });
    if (receipt.status !== "success") throw new Error(`transaction ${hash} failed`);
    return receipt;
  };
  return {
    async deploy({ abi, bytecode }, args = []) {
      const data = encodeDeployData({ abi, bytecode, args });
      const { contractAddress } = await confirm(await writer.sendTransaction({ account, data }));
      if (!contractAddress) throw new Error("nothing was deployed");
      return { address: contractAddress.toLowerCase() as Hex, abi };
    },
    async send({ address, abi }, functionName, args = [], { key: other, value = 0n, gas } = {}) {
      const sender = other === undefined ? account : privateKeyToAccount(other);
      const call = { address, abi, functionName, args, account: sender, value };
      const hash = await writer.writeContract({ ...call, gas: gas ?? SEND_GAS });
      await confirm(hash);
      return hash;
    },
    async call<T>(
      { address, abi }: DeployedContract,
      functionName: string,
      args: readonly unknown[] = [],
      options = {},
    ) {
      const { from } = options as { readonly from?: Hex };
      const { result } = await reader.simulateContract({
        ...{ address, abi, functionName, args },
        ...(from === undefined ? {} : { account: from }),
      });
      return result as T;
    },
  };
}
