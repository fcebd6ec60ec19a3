// The Compound v3 markets ("Comets") by chain id; the reader gets base asset and collaterals from the market itself.
import type { Hex } from "../../../lib/hex.ts";

export type CompoundV3Market = {
  readonly name: string;
  readonly comet: Hex;
  /** Whether its feeds are in dollars; others count in ether or bitcoin, which no contract tells. */
  readonly isInDollars: boolean;
};

/** The proxies and base feeds in compound-finance/comet, deployments of the five chains at d5a30b0 of 2026-05-29. */
export const COMPOUND_V3_MARKETS: ReadonlyMap<number, readonly CompoundV3Market[]> = new Map([
  [
    1,
    [
      { name: "USDC", comet: "0xc3d688b66703497daa19211eedff47f25384cdc3", isInDollars: true },
      { name: "USDS", comet: "0x5d409e56d886231adaf00c8775665ad0f9897b56", isInDollars: true },
      { name: "USDT", comet: "0x3afdc9bca9213a35503b077a6072f3d0d5ab0840", isInDollars: true },
      { name: "WBTC", comet: "0xe85dc543813b8c2cfeaac371517b925a166a9293", isInDollars: false },
      { name: "WETH", comet: "0xa17581a9e3356d9a858b789d68b4d866e593ae94", isInDollars: false },
      { name: "wstETH", comet: "0x3d0bb1ccab520a66e607822fc55bc921738fafe3", isInDollars: false },
    ],
  ],
  [
    10,
    [
      { name: "USDC", comet: "0x2e44e174f7d53f0212823acc11c01a11d58c5bcb", isInDollars: true },
      { name: "USDT", comet: "0x995e394b8b2437ac8ce61ee0bc610d617962b214", isInDollars: true },
      { name: "WETH", comet: "0xe36a30d249f7761327fd973001a32010b521b6fd", isInDollars: false },
    ],
  ],
  [
    137,
    [
      { name: "USDC.e", comet: "0xf25212e676d1f7f89cd72ffee66158f541246445", isInDollars: true },
      { name: "USDT", comet: "0xaeb318360f27748acb200ce616e389a6c9409a07", isInDollars: true },
    ],
  ],
  [
    8453,
    [
      { name: "AERO", comet: "0x784efeb622244d2348d4f2522f8860b96fbece89", isInDollars: false },
      { name: "USDbC", comet: "0x9c4ec768c28520b50860ea7a15bd7213a9ff58bf", isInDollars: true },
      { name: "USDC", comet: "0xb125e6687d4313864e53df431d5425969c15eb2f", isInDollars: true },
      { name: "USDS", comet: "0x2c776041ccfe903071af44aa147368a9c8eea518", isInDollars: true },
      { name: "WETH", comet: "0x46e6b214b524310239732d51387075e0e70970bf", isInDollars: false },
    ],
  ],
  [
    42161,
    [
      { name: "USDC", comet: "0x9c4ec768c28520b50860ea7a15bd7213a9ff58bf", isInDollars: true },
      { name: "USDC.e", comet: "0xa5edbdd9646f8dff606d7448e414884c7d905dca", isInDollars: true },
      { name: "USDT", comet: "0xd98be00b5d27fc98112bde293e487f8d4ca57d07", isInDollars: true },
      { name: "WETH", comet: "0x6f7d514bbd4aff3bcd1140b7344b32f063dee486", isInDollars: false },
    ],
  ],
]);
