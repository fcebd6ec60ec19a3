// The expected holdings and values of a wallet, by the simplest means: one call per value, integers only.

import { priceFeedAbi } from "@sextant/contracts/generated/price-feed";
import { type Abi, decodeFunctionResult, encodeFunctionData, erc20Abi, type Hex, parseAbi } from "viem";
import type { LocalMarket } from "../../src/local/markets.ts";
import { callNode, listedTokenOf } from "./service-stage.ts";

const vaultAbi = parseAbi(["function convertToAssets(uint256) view returns (uint256)"]);
const lendingAbi = parseAbi(["function position(bytes32, address) view returns (uint256, uint128, uint128)"]);
/** The local market charges no interest, so that its shares of debt never change their worth. */
const SHARES_PER_UNIT = 1_000_000n;

/** Millionths of a dollar. */
type Micro = bigint;

type ExpectedToken = {
  contract: Hex | null;
  raw: bigint;
  decimals: number;
  price: bigint;
  value: Micro;
};

export type ExpectedChain = {
  readonly tokens: readonly ExpectedToken[];
  /** The assets of the vault shares in USDC, the collateral in WETH, and the debt in USDC, less than zero. */
  readonly positions: readonly Micro[];
  readonly total: Micro;
  readonly stable: Micro;
};

// The decimals of every feed here.
const FEED_DECIMALS = 8;

export async function readExpectedChain(
  market: LocalMarket,
  wallet: Hex,
  blockHash: Hex,
): Promise<ExpectedChain> {
  const at = { blockHash };
  const call = async <T>(to: Hex, abi: Abi, functionName: string, args: readonly unknown[] = []) => {
    const data = encodeFunctionData({ abi, functionName, args });
    const returnData = await callNode<Hex>(market, "eth_call", [{ to, data }, at]);
    return decodeFunctionResult({ abi, functionName, data: returnData }) as T;
  };
  const priceAt = async (feed: Hex) =>
    (await call<readonly bigint[]>(feed, priceFeedAbi, "latestRoundData"))[1] ?? 0n;
  const token = async (contract: Hex, feed: Hex): Promise<ExpectedToken> => {
    const raw = await call<bigint>(contract, erc20Abi, "balanceOf", [wallet]);
    const decimals = await call<number>(contract, erc20Abi, "decimals");
    const price = await priceAt(feed);
    return { contract, raw, decimals, price, value: computeValue(raw, decimals, price) };
  };
  const feedOf = (contract: Hex) => market.feeds.tokens[contract]?.feed ?? "0x";
  const [usdc, weth, vault] = ["USDC", "WETH", "vUSDC"].map((symbol) => listedTokenOf(market, symbol)) as [
    Hex,
    Hex,
    Hex,
  ];
  const raw = BigInt(await callNode<Hex>(market, "eth_getBalance", [wallet, at]));
  const price = await priceAt(market.feeds.native?.feed ?? "0x");
  const ether = { contract: null, raw, decimals: 18, price, value: computeValue(raw, 18, price) };
  const dollars = await token(usdc, feedOf(usdc));
  const wrapped = await token(weth, feedOf(weth));
  const shares = await call<bigint>(vault, erc20Abi, "balanceOf", [wallet]);
  const assets = await call<bigint>(vault, vaultAbi, "convertToAssets", [shares]);
  const saved = computeValue(assets, dollars.decimals, dollars.price);
  const { morpho, ids } = market.lending;
  const account = await call<readonly bigint[]>(morpho, lendingAbi, "position", [ids[0], wallet]);
  const [, debtShares = 0n, collateral = 0n] = account;
  const debt = computeValue(debtShares / SHARES_PER_UNIT, dollars.decimals, dollars.price);
  const positions = [saved, computeValue(collateral, wrapped.decimals, wrapped.price), -debt];
  const tokens = [ether, dollars, wrapped].filter((each) => each.raw > 0n);
  return {
    tokens,
    positions: positions.filter((value) => value !== 0n),
    total: [...tokens.map(({ value }) => value), ...positions].reduce((sum, value) => sum + value, 0n),
    stable: dollars.value + saved,
  };
}

/** raw ÷ 10^decimals × price ÷ 10^8 in millionths, rounded half up. */
function computeValue(raw: bigint, decimals: number, price: bigint): Micro {
  const divisor = 10n ** BigInt(decimals + FEED_DECIMALS - 6);
  return (2n * raw * price + divisor) / (2n * divisor);
}

/** 1250500000 with 6 decimals is "1250.5". */
export function formatUnits(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

export function formatMicroUsd(value: Micro): string {
  return value < 0n ? `-${formatUnits(-value, 6)}` : formatUnits(value, 6);
}

/** "-1.25" as millionths. */
export function parseMicroUsd(text: string): Micro {
  const [whole = "", fraction = ""] = text.replace("-", "").split(".");
  const value = BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, "0"));
  return text.startsWith("-") ? -value : value;
}
