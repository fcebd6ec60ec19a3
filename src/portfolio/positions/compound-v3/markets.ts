// The Compound v3 markets ("Comets") by chain id; the reader gets base asset and collaterals from the market itself.
import { readChainData } from "../../../chain/chain-data.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";

const compoundV3Market = shape.object({
  name: shape.text,
  comet: shape.address,
  /** Whether its feeds are in dollars; others count in ether or bitcoin, which no contract tells. */
  isInDollars: shape.flag,
});

export type CompoundV3Market = ShapeType<typeof compoundV3Market>;

export const COMPOUND_V3_MARKETS = readChainData(
  "lending",
  "compound-v3",
  shape.list(compoundV3Market, ({ comet }) => comet),
);
