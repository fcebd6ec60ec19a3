// Unsolicited tokens in a wallet: lures, wrong metadata, and contracts that attack their readers.

import {
  lyingDecimalsTokenAbi,
  lyingDecimalsTokenBytecode,
} from "@sextant/contracts/generated/lying-decimals-token";
import { plainTokenAbi, plainTokenBytecode } from "@sextant/contracts/generated/plain-token";
import { HOSTILE_CODE, type HostileToken, numberedAddress } from "@sextant/contracts/test/hostile-token-code";
import { namedAccounts } from "@sextant/local-chain/accounts";
import { type Abi, encodeDeployData, encodeFunctionData, type Hex, padHex, toEventSelector } from "viem";
import type { LocalMarket } from "../../src/local/markets.ts";
import { callNode } from "./service-stage.ts";

const TRANSFER = toEventSelector("Transfer(address,address,uint256)");
const FIRST_ADDRESS = 0xbad0000;
const { owner } = namedAccounts();

/** Emits a log with the first three words of the calldata as topics and the fourth as data: a fake Transfer. */
const CLAIMS_TRANSFER: Hex = "0x60603560005260403560203560003560206000a300";

async function send(market: LocalMarket, call: { to?: Hex; data: Hex }): Promise<{ contractAddress: Hex }> {
  const hash = await callNode<Hex>(market, "eth_sendTransaction", [
    { from: owner.address, gas: "0x2dc6c0", ...call },
  ]);
  const receipt = await callNode<{ status: Hex; contractAddress: Hex }>(market, "eth_getTransactionReceipt", [
    hash,
  ]);
  if (receipt.status !== "0x1") throw new Error("a token could not be sent");
  return receipt;
}

/** Sends from the owner of the local tokens and feeds. */
export async function sendTransaction(
  market: LocalMarket,
  to: Hex,
  abi: Abi,
  functionName: string,
  args: readonly unknown[],
): Promise<void> {
  await send(market, { to, data: encodeFunctionData({ abi, functionName, args }) });
}

async function mintNew(
  market: LocalMarket,
  { abi, bytecode, args = [] }: { abi: Abi; bytecode: Hex; args?: readonly unknown[] },
  to: Hex,
  amount: bigint,
): Promise<Hex> {
  const { contractAddress } = await send(market, { data: encodeDeployData({ abi, bytecode, args }) });
  await sendTransaction(market, contractAddress, abi, "mint", [to, amount]);
  return contractAddress.toLowerCase() as Hex;
}

/** An ordinary, unlisted token with any name. */
export function sendPlainToken(market: LocalMarket, to: Hex, name: string, symbol: string, amount: bigint) {
  const token = { abi: plainTokenAbi, bytecode: plainTokenBytecode, args: [name, symbol, 18] };
  return mintNew(market, token, to, amount);
}

/** Correct balances, but decimals that do not fit a byte. */
export function sendLyingToken(market: LocalMarket, to: Hex, amount: bigint): Promise<Hex> {
  return mintNew(market, { abi: lyingDecimalsTokenAbi, bytecode: lyingDecimalsTokenBytecode }, to, amount);
}

/** One of each kind that returns no balance, each after a fake transfer. */
export async function sendHostileTokens(market: LocalMarket, to: Hex): Promise<readonly Hex[]> {
  const sent: Hex[] = [];
  for (const [index, kind] of (Object.keys(HOSTILE_CODE) as HostileToken[]).entries()) {
    const address = numberedAddress(FIRST_ADDRESS + index);
    await callNode(market, "hardhat_setCode", [address, CLAIMS_TRANSFER]);
    const words = [TRANSFER, padHex(owner.address, { size: 32 }), padHex(to, { size: 32 }), padHex("0x7")];
    await send(market, { to: address, data: `0x${words.map((word) => word.slice(2)).join("")}` });
    await callNode(market, "hardhat_setCode", [address, HOSTILE_CODE[kind] ?? "0x"]);
    sent.push(address);
  }
  return sent;
}
