// Vaults of Polygon that Morpho's own interface lists, first of version 1 (MetaMorpho), then of version 2.
// From morpho-org/morpho-blue-api-metadata, data/vaults-listing.json and vaults-v2-listing.json of 2026-05-05.
import type { Hex } from "../../../../lib/hex.ts";

export const POLYGON_MORPHO_VAULTS: readonly Hex[] = [
  "0x3f33f9f7e2d7cfbcbdf8ea8b870a6e3d449664c2",
  "0x781fb7f6d845e3be129289833b04d43aa8558c42",
  "0xacb0dce4b0ff400ad8f6917f3ca13e434c9ed6bc",
  "0xb7c9988d3922f25a336a469f3bb26ca61fe79e24",
  "0xf5c81d25ee174d83f1fd202ca94ae6070d073ccf",
  "0xfd06859a671c21497a2eb8c5e3fea48de924d6c8",
  "0xbeef0f82e269760429be6255fa00821b7e4b592a",
];
