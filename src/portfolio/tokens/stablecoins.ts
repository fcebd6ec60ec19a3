// Dollar stablecoins by chain and address, never by symbol: the issuers' contracts and the canonical bridged ones.
import type { Hex } from "../../lib/hex.ts";

// Pegged to the dollar one to one. Savings tokens such as sDAI rise against the dollar and are not included.
const STABLECOINS: ReadonlyMap<number, readonly Hex[]> = new Map([
  [
    1,
    [
      "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", // USDC
      "0xdac17f958d2ee523a2206206994597c13d831ec7", // USDT
      "0x6b175474e89094c44da98b954eedeac495271d0f", // DAI
      "0xdc035d45d973e3ec169d2276ddab16f1e407384f", // USDS
      "0x40d16fc0246ad3160ccc09b8d0d3a2cd28ae6c2f", // GHO
      "0x6c3ea9036406852006290770bedfcaba0e23a0e8", // PYUSD
      "0xf939e0a03fb07f59a73314e73794be0e57ac1b4e", // crvUSD
      "0x5f98805a4e8be255a32880fdec7f6728c6568ba0", // LUSD
      "0x853d955acef822db058eb8505911ed77f175b99e", // FRAX
      "0x8e870d67f660d95d5be530380d0ec0bd388289e1", // USDP
      "0x056fd409e1d7a124bd7017459dfea2f387b6d5cd", // GUSD
      "0x0000000000085d4780b73119b644ae5ecd22b376", // TUSD
      "0x8292bb45bf1ee4d140127049757c2e0ff06317ed", // RLUSD
      "0x4c9edd5852cd905f086c759e8383e09bff1e68b3", // USDe
    ],
  ],
  [
    10,
    [
      "0x0b2c639c533813f4aa9d7837caf62653d097ff85", // USDC
      "0x7f5c764cbc14f9669b88837ca1490cca17c31607", // USDC.e
      "0x94b008aa00579c1307b0ef2c499ad98a8ce58e58", // USDT
      "0xda10009cbd5d07dd0cecc66161fc93d7c9000da1", // DAI
      "0xc40f949f8a4e094d1b49a23ea9241d289b7b2819", // LUSD
    ],
  ],
  [
    137,
    [
      "0x3c499c542cef5e3811e1192ce70d8cc03d5c3359", // USDC
      "0x2791bca1f2de4661ed88a30c99a7a9449aa84174", // USDC.e
      "0xc2132d05d31c914a87c6611c10748aeb04b58e8f", // USDT
      "0x8f3cf7ad23cd3cadbd9735aff958023239c6a063", // DAI
    ],
  ],
  [
    8453,
    [
      "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", // USDC
      "0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca", // USDbC
      "0x50c5725949a6f0c72e6c4a641f24049a917db0cb", // DAI
      "0x6bb7a212910682dcfdbd5bcbb3e28fb4e8da10ee", // GHO
    ],
  ],
  [
    42161,
    [
      "0xaf88d065e77c8cc2239327c5edb3a432268e5831", // USDC
      "0xff970a61a04b1ca14834a43f5de4533ebddb5cc8", // USDC.e
      "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9", // USDT
      "0xda10009cbd5d07dd0cecc66161fc93d7c9000da1", // DAI
      "0x7dff72693f6a4149b17e7c6314655f6a9f7c8b33", // GHO
      "0x93b346b6bc2548da6a1e7d98e9a421b42541425b", // LUSD
      "0x17fc002b466eec40dae837fc4be5c67993ddbd6f", // FRAX
    ],
  ],
] as const);

export function getStablecoins(chainId: number): ReadonlySet<Hex> {
  return new Set(STABLECOINS.get(chainId));
}
