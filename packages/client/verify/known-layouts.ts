// Tokens whose layout the verifier knows by itself, from their published code.
import type { Hex } from "viem";
import type { Layout } from "./layout.ts";

type TokenLayouts = { readonly balance: Layout; readonly allowance: Layout };

const mapping = (position: Hex, bits = "0-255"): Layout => ({ rule: "solidity", position, bits });

/** FiatTokenV2: the top bit of a balance marks a blacklisted holder. */
const USDC: TokenLayouts = { balance: mapping("0x9", "0-254"), allowance: mapping("0xa") };
const WETH9: TokenLayouts = { balance: mapping("0x3"), allowance: mapping("0x4") };
const DAI: TokenLayouts = { balance: mapping("0x2"), allowance: mapping("0x3") };
const TETHER: TokenLayouts = { balance: mapping("0x2"), allowance: mapping("0x5") };

const KNOWN: ReadonlyMap<string, TokenLayouts> = new Map([
  ["eip155:1 0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", USDC],
  ["eip155:1 0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", WETH9],
  ["eip155:1 0x6b175474e89094c44da98b954eedeac495271d0f", DAI],
  ["eip155:1 0xdac17f958d2ee523a2206206994597c13d831ec7", TETHER],
  ["eip155:8453 0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", USDC],
  ["eip155:8453 0x4200000000000000000000000000000000000006", WETH9],
  ["eip155:10 0x0b2c639c533813f4aa9d7837caf62653d097ff85", USDC],
  ["eip155:10 0x4200000000000000000000000000000000000006", WETH9],
  ["eip155:42161 0xaf88d065e77c8cc2239327c5edb3a432268e5831", USDC],
  ["eip155:137 0x3c499c542cef5e3811e1192ce70d8cc03d5c3359", USDC],
]);

/** Null for a token that the table does not have. */
export function findKnownLayouts(chainId: string, token: Hex): TokenLayouts | null {
  return KNOWN.get(`${chainId} ${token}`) ?? null;
}

export function listKnownTokens(): readonly string[] {
  return [...KNOWN.keys()];
}
