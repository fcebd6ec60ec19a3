// A chain on which transactions are simulated and sent: tokens, a vault, known and unknown spenders, and who lies to them.
import { plainTokenAbi, plainTokenBytecode } from "@sextant/contracts/generated/plain-token";
import { vault4626Abi, vault4626Bytecode } from "@sextant/contracts/generated/vault4626";
import { wrappedEtherAbi, wrappedEtherBytecode } from "@sextant/contracts/generated/wrapped-ether";
import { actorBytecode, puppetAbi } from "@sextant/contracts/test/actor-contracts";
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
import { createSpenderList, type Spender } from "../../../src/portfolio/exposure/spenders.ts";
import { parseTransactions, type WalletCall } from "../../../src/portfolio/simulation/request.ts";
import { simulateTransactions } from "../../../src/portfolio/simulation/simulate.ts";
import type { FaultyNode } from "../nodes/faulty-node.ts";
import { startPortfolioStage } from "./portfolio-stage.ts";

const { signal } = new AbortController();

/** A contract in the list of known spenders. */
export function listSpender(name: string, kind: Spender["kind"], address: Hex): Spender {
  return { name, protocol: "Local", kind, source: "tests", deployments: [[localChain.chainId, address]] };
}

export async function openSimulationStage(
  code: Readonly<Record<Hex, Hex>> = {},
  moreSpenders: readonly Spender[] = [],
) {
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
  // It makes any call for anyone, as routers and aggregators do.
  const router = await deploy(puppetAbi, actorBytecode("Puppet"), []);
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
    [listSpender("Vault", "vault", vault), listSpender("Router", "router", router), ...moreSpenders],
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
  return { ...stage, owner, token, ether, vault, router, send, deploy, simulate, view };
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

// Signs by which code sees a simulation: each leaves a word on the stack that is not zero for one.
export const DETECTS = {
  "the sender has code": "0x323b",
  "gas costs nothing": "0x3a15",
  "more gas than a wallet sends": "0x621e84805a11",
} as const;

/** Gives the sender of the transaction some of its tokens, if it sees a simulation. */
export function giveCode(token: Hex, amount: bigint, detects: Hex): Hex {
  const start = numberToHex((detects.length - 2) / 2 + 4, { size: 1 });
  return concatHex([
    ...([detects, "0x60", start, "0x57005b"] as const),
    "0x63a9059cbb60e01b600052",
    "0x32600452",
    concatHex(["0x67", pad(numberToHex(amount), { size: 8 }), "0x602452"]),
    "0x60006000604460006000",
    concatHex(["0x73", token]),
    "0x5af15000",
  ]);
}

/** A contract that stores the first argument of a call, and whose view of the selector returns it. */
export function registerCode(viewSelector: Hex): Hex {
  return concatHex(["0x60003560e01c63", viewSelector, "0x14601657600435600055005b60005460005260206000f3"]);
}

/** Asks a caller with code what it is called with, and fails unless the caller returns the selector, as receivers of items do. */
export const ASKER_CODE: Hex =
  "0x333b15602c573660006000376020363660006000335af150365160e01c60003560e01c14602c5760006000fd5b00";

/** A collection of which anyone becomes the operator of everyone, and says so. */
export const COLLECTION_CODE: Hex = "0x60003560e01c63e985e9c5146015576001600055005b60005460005260206000f3";
