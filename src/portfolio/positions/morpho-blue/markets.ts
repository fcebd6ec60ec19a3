// Morpho Blue by chain id: its contract, and the markets in which positions are looked for.
import { readChainData } from "../../../chain/chain-data.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";

const morphoBlueMarkets = shape.object({
  morpho: shape.address,
  /** The contract cannot list the markets of an account, and anyone can create markets. */
  ids: shape.list(shape.hash),
});

export type MorphoBlueMarkets = ShapeType<typeof morphoBlueMarkets>;

export const MORPHO_BLUE_MARKETS = readChainData("lending", "morpho-blue", shape.list(morphoBlueMarkets));
