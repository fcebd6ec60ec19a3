// One deployment of Compound v2 or of a fork: its comptroller and the markets that it had when the data was taken.
import { type ShapeType, shape } from "../../../lib/json-shape.ts";

const market = shape.object({ symbol: shape.text, market: shape.address });

export const compoundV2Pool = shape.object({
  name: shape.text,
  comptroller: shape.address,
  /** The market of the native coin itself, which has no underlying token; null without one. */
  nativeMarket: shape.nullable(shape.address),
  /** As of the data file; the reader asks the comptroller which of them it lists, and for newer ones. */
  markets: shape.list(shape.mapped(market, (each) => each.market)),
});

export type CompoundV2Pool = ShapeType<typeof compoundV2Pool>;

/** The differences between Compound v2 and its forks. */
export type CompoundV2Protocol = {
  /** As positions name it. */
  readonly protocol: string;
  /** As warnings name it. */
  readonly title: string;
  /** A wallet can let others act in its comptroller. */
  readonly hasDelegates?: true;
};
