// Vaults of Arbitrum that Morpho's own interface lists, first of version 1 (MetaMorpho), then of version 2.
// From morpho-org/morpho-blue-api-metadata, data/vaults-listing.json and vaults-v2-listing.json of 2026-05-05.
import type { Hex } from "../../../../lib/hex.ts";

export const ARBITRUM_MORPHO_VAULTS: readonly Hex[] = [
  "0x250cf7c82bac7cb6cf899b6052979d4b5ba1f9ca",
  "0x2c609d9cfc9dda2db5c128b2a665d921ec53579d",
  "0x2d91466bcc6946b58869fe2ae521a856737c3f6e",
  "0x36b69949d60d06eccc14de0ae63f4e00cc2cd8b9",
  "0x4b6f1c9e5d470b97181786b26da0d0945a7cf027",
  "0x5c0c306aaa9f877de636f4d5822ca9f2e81563ba",
  "0x64ca76e2525fc6ab2179300c15e343d73e42f958",
  "0x7c574174da4b2be3f705c6244b4bfa0815a8b3ed",
  "0x7e97fa6893871a2751b5fe961978dccb2c201e65",
  "0x55a2b207b0074e13adcb858950a81b7a04775e0f",
  "0x5837e4189819637853a357af36650902347f5e73",
  "0x610d151ae40662ae148cdbaae1ea5904b6afae78",
  "0xbeeff1d5de8f79ff37a151681100b039661da518",
  "0xbeeff77ce5c059445714e6a3490e273fe7f2492f",
];
