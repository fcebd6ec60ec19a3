// A chain on which transactions are simulated and sent: tokens, a vault, known and unknown spenders, and who lies to them.
import { plainTokenAbi, plainTokenBytecode } from "@sextant/contracts/generated/plain-token";
import { vault4626Abi, vault4626Bytecode } from "@sextant/contracts/generated/vault4626";
import { wrappedEtherAbi, wrappedEtherBytecode } from "@sextant/contracts/generated/wrapped-ether";
import {
  type Abi,
  concatHex,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  numberToHex,
  pad,
} from "viem";
import { localChain } from "../../../src/chain/chains/chains.ts";
import { createSpenderList } from "../../../src/portfolio/exposure/spenders.ts";
import { parseTransactions, type WalletCall } from "../../../src/portfolio/simulation/request.ts";
import { simulateTransactions } from "../../../src/portfolio/simulation/simulate.ts";
import type { FaultyNode } from "../nodes/faulty-node.ts";
import { startPortfolioStage } from "./portfolio-stage.ts";

const { signal } = new AbortController();

export async function openSimulationStage(code: Readonly<Record<Hex, Hex>> = {}) {
  const stage = await startPortfolioStage(code);
  const { chain, wallet } = stage;
  const owner = chain.accounts.owner.address.toLowerCase() as Hex;
  const send = async (call: Partial<WalletCall>, from: Hex = wallet): Promise<bigint> => {
    const { to, value = 0n, data = "0x" } = call;
    const transaction = {
      from,
      data,
      value: numberToHex(value),
      gas: numberToHex(3_000_000),
      ...(to && { to }),
    };
    const hash = await chain.request("eth_sendTransaction", [transaction]);
    const receipt = (await chain.request("eth_getTransactionReceipt", [hash])) as Record<string, Hex>;
    return BigInt(receipt.gasUsed ?? 0) * BigInt(receipt.effectiveGasPrice ?? 0);
  };
  const deploy = async (abi: Abi, bytecode: Hex, args: readonly unknown[]): Promise<Hex> => {
    const nonce = BigInt((await chain.request("eth_getTransactionCount", [owner, "latest"])) as Hex);
    await send({ data: encodeDeployData({ abi, bytecode, args }) }, owner);
    return getContractAddress({ from: owner, nonce }).toLowerCase() as Hex;
  };
  const token = await deploy(plainTokenAbi, plainTokenBytecode, ["Plain", "PLN", 6]);
  const ether = await deploy(wrappedEtherAbi, wrappedEtherBytecode, []);
  const vault = await deploy(vault4626Abi, vault4626Bytecode, [token, "Vault", "VLT"]);
  await send(
    {
      to: token,
      data: encodeFunctionData({ abi: plainTokenAbi, functionName: "mint", args: [wallet, 10n ** 12n] }),
    },
    owner,
  );
  const plain = await stage.node();
  const listed = [token, ether, vault];
  const spenders = createSpenderList(
    [
      {
        name: "Vault",
        protocol: "Local",
        kind: "vault",
        source: "tests",
        deployments: [[localChain.chainId, vault]],
      },
    ],
    "test",
  );
  const simulate = (calls: readonly Partial<WalletCall>[], through: FaultyNode = plain) =>
    simulateTransactions(
      { chains: new Map([[localChain.slug, stage.port(through, listed)]]), priceSources: [], spenders },
      parseTransactions({ wallet, chain: localChain.slug, transactions: calls.map(toRequest) }, [
        localChain.slug,
      ]),
      signal,
    );
  const view = async (to: Hex, data: Hex): Promise<bigint> =>
    BigInt((await chain.request("eth_call", [{ to, data }, "latest"])) as Hex);
  return { ...stage, owner, token, ether, vault, send, deploy, simulate, view };
}

const toRequest = ({ to = NOWHERE, value = 0n, data }: Partial<WalletCall>) => ({
  ...{ to, value: value.toString() },
  ...(data && { data }),
});
const NOWHERE: Hex = `0x${"00".repeat(20)}`;

/** Takes a token from its caller by `transferFrom`, as far as the caller has approved it; only from one without code if it detects. */
export function drainCode(token: Hex, thief: Hex, amount: bigint, detects: boolean): Hex {
  return concatHex([
    detects ? "0x333b605a57" : "0x3033605a50",
    "0x6323b872dd60e01b600052",
    "0x33600452",
    concatHex(["0x73", thief, "0x602452"]),
    concatHex(["0x67", pad(numberToHex(amount), { size: 8 }), "0x604452"]),
    "0x60006000606460006000",
    concatHex(["0x73", token]),
    "0x5af1505b00",
  ]);
}

/** A collection of which anyone becomes the operator of everyone, and says so. */
export const COLLECTION_CODE: Hex = "0x60003560e01c63e985e9c5146015576001600055005b60005460005260206000f3";
