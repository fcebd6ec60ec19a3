// A real chain on which signatures are used: two dollar tokens, Permit2, and the portfolio's own view of the chain.
import { usdCoinAbi, usdCoinBytecode } from "@sextant/contracts/generated/usd-coin";
import { permit2RuntimeBytecode } from "@sextant/contracts/published/permit2";
import type { LocalChain } from "@sextant/local-chain/local-chain";
import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  numberToHex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { localChain } from "../../../src/chain/chains/chains.ts";
import { PERMIT2 } from "../../../src/portfolio/exposure/revocations.ts";
import { createSpenderList, type Spender } from "../../../src/portfolio/exposure/spenders.ts";
import type { PriceSourceGroups } from "../../../src/portfolio/prices/collect-prices.ts";
import {
  examineMessage,
  type MessageFindings,
} from "../../../src/portfolio/simulation/messages/examine-message.ts";
import { simulateMessage } from "../../../src/portfolio/simulation/messages/simulate-message.ts";
import { parseTypedData } from "../../../src/portfolio/simulation/messages/typed-data.ts";
import type { PortfolioChain } from "../../../src/portfolio/types.ts";
import type { Simulation } from "../../../src/schema/portfolio/simulation.ts";
import type { MessageSample } from "./message-samples.ts";
import { startPortfolioStage } from "./portfolio-stage.ts";

/** The published code remembers the domain that it had on another local chain; without its chain id it makes its own. */
const permit2Code = (chainId: number): Hex =>
  permit2RuntimeBytecode.replaceAll(chainId.toString(16).padStart(64, "0"), "0".repeat(64)) as Hex;

/** Sends transactions to a chain, and deploys as its owner. */
function openSender(chain: LocalChain) {
  const { owner } = chain.accounts;
  /** The status of a transaction, which may revert. */
  const send = async (from: Address, to: Hex | null, data: Hex): Promise<boolean> => {
    const transaction = { from, ...(to === null ? {} : { to }), data, gas: numberToHex(10_000_000) };
    const hash = await chain.request("eth_sendTransaction", [transaction]);
    const receipt = (await chain.request("eth_getTransactionReceipt", [hash])) as { status: Hex };
    return receipt.status === "0x1";
  };
  return {
    call: (from: Address, to: Hex, abi: Abi, functionName: string, args: readonly unknown[]) =>
      send(from, to, encodeFunctionData({ abi, functionName, args })),
    deployToken: async (): Promise<Hex> => {
      const count = (await chain.request("eth_getTransactionCount", [owner.address, "latest"])) as Hex;
      const data = encodeDeployData({ abi: usdCoinAbi, bytecode: usdCoinBytecode });
      if (!(await send(owner.address, null, data))) throw new Error("a deployment failed");
      return getContractAddress({ from: owner.address, nonce: BigInt(count) }).toLowerCase() as Hex;
    },
  };
}

function listedAs(
  kind: "router" | "pool",
  chainId: number,
  address: Hex,
  more: Partial<Spender> = {},
): Spender {
  return { name: kind, protocol: kind, kind, source: "a test", deployments: [[chainId, address]], ...more };
}

/** Chain, wallet and tokens for the calling test file; `tokens` are on the token list. */
export async function startMessageStage({
  priceSources = [],
}: {
  readonly priceSources?: PriceSourceGroups;
} = {}) {
  const stage = await startPortfolioStage({ [PERMIT2]: permit2Code(localChain.chainId) });
  const { chain, wallet } = stage;
  const { owner, payer, merchant, solver } = chain.accounts;
  const { call, deployToken } = openSender(chain);
  const tokens = [await deployToken(), await deployToken()] as const;
  const unlisted = await deployToken();
  // Contracts that the list of spenders has, whatever their code; the pool takes nothing through Permit2.
  const [router, pool] = [await deployToken(), await deployToken()];
  const spenders = createSpenderList(
    [
      listedAs("router", chain.chainId, router, { takesPermit2: true }),
      listedAs("pool", chain.chainId, pool),
    ],
    "of a test",
  );
  const port: PortfolioChain = stage.port(await stage.node(), tokens);
  const { signal } = new AbortController();

  return {
    ...{ chain, wallet, tokens, unlisted, router, pool, call, payer, merchant },
    ...{ chainId: chain.chainId, spender: solver.address.toLowerCase() as Hex },
    receiver: merchant.address.toLowerCase() as Hex,
    mint: (token: Hex, amount: bigint, to: Hex = wallet) =>
      call(owner.address, token, usdCoinAbi, "mint", [to, amount]),
    balanceOf: async (token: Hex, account: Hex) => {
      const data = encodeFunctionData({ abi: usdCoinAbi, functionName: "balanceOf", args: [account] });
      return BigInt((await chain.request("eth_call", [{ to: token, data }, "latest"])) as Hex);
    },
    now: async () => {
      const head = (await chain.request("eth_getBlockByNumber", ["latest", false])) as { timestamp: Hex };
      return BigInt(head.timestamp);
    },
    sign: ({ domain, types, primaryType, message }: MessageSample) =>
      privateKeyToAccount(payer.privateKey).signTypedData({ domain, types, primaryType, message }),
    examine: async (sample: MessageSample): Promise<MessageFindings> => {
      const at = await port.pin(signal);
      const sources = { spenders: spenders.onChain(chain.chainId), priceSources };
      return examineMessage({ at, wallet }, parseTypedData(sample), sources, signal);
    },
    simulate: (sample: MessageSample): Promise<Simulation> => {
      const services = { chains: new Map([["local", port]]), priceSources, spenders };
      const query = { wallet, slug: "local", block: undefined, typed: parseTypedData(sample) };
      return simulateMessage(services, query, signal);
    },
    /** Runs a task, then restores the chain. */
    undone: async <T>(task: () => Promise<T>): Promise<T> => {
      const snapshot = await chain.request("evm_snapshot");
      try {
        return await task();
      } finally {
        await chain.request("evm_revert", [snapshot]);
      }
    },
  };
}
