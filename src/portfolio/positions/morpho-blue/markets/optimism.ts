// Morpho Blue markets of Optimism that vaults of curators verified by Morpho lend to.
// From 1delta-DAO/lender-metadata, data/morpho-curators.json of 2026-08-14.
import type { Hex } from "../../../../lib/hex.ts";

export const OPTIMISM_MARKET_IDS: readonly Hex[] = [
  "0x173b66359f0741b1c7f1963075cd271c739b6dc73b658e108a54ce6febeb279b",
  "0x80aa1cba2c5907533b5f4e454786c9628ffe8e4ed1a9edcf139325c0fcf09d01",
  "0x8e77af0efaf4a3d59f37126c77f6f0ee7b56bcb1363c0986b8f6087b93ba833e",
  "0xc7ae57c1998c67a4c21804df606db1309b68a518ba5acc8b1dc3ffcb1b26b071",
];
