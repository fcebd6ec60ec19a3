// Vaults of Optimism that Morpho's own interface lists, first of version 1 (MetaMorpho), then of version 2.
// From morpho-org/morpho-blue-api-metadata, data/vaults-listing.json and vaults-v2-listing.json of 2026-05-05.
import type { Hex } from "../../../../lib/hex.ts";

export const OPTIMISM_MORPHO_VAULTS: readonly Hex[] = [
  "0x48921e52f70cec7d3425cf5103caace27fc0b2fe",
  "0xc30ce6a5758786e0f640cc5f881dd96e9a1c5c59",
  "0x3d63934715b6d4c4dfbbc1a00fe2a2145079dd76",
  "0x4ffc4e5f1f1f5c43dc9bc27b53728da13b02be35",
];
