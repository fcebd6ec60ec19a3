// One market of Aave or of a fork: its pool, its oracle, and the supply and debt tokens of each reserve.
import { type ShapeType, shape } from "../../../lib/json-shape.ts";

const reserve = shape.object({
  symbol: shape.optional(shape.text),
  underlying: shape.address,
  aToken: shape.address,
  /** The token of debt at a variable rate. */
  debtToken: shape.address,
});

export const aaveMarket = shape.object({
  name: shape.text,
  pool: shape.address,
  oracle: shape.address,
  /** The asset in which the oracle counts, with 18 decimals; dollars if it is absent. */
  quote: shape.optional(shape.address),
  /** As of the data file; the reader checks the pool for newer ones. */
  reserves: shape.list(reserve, ({ underlying }) => underlying),
});

export type AaveMarket = ShapeType<typeof aaveMarket>;

/** Words of a pool's data about one reserve, and the positions of its tokens in them. */
type ReserveLayout = {
  readonly words: number;
  readonly aToken: number;
  readonly debtToken: number;
  /** Null if debt at a stable rate no longer exists. */
  readonly stableDebtToken: number | null;
};

/** The differences between the versions of Aave and its forks. */
export type AaveProtocol = {
  /** As positions name it. */
  readonly protocol: string;
  /** As warnings name it. */
  readonly title: string;
  readonly layout: ReserveLayout;
};
