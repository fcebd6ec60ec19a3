// Steps of the histories of a channel in its model test.
import fc from "fast-check";
import type { Death } from "../support/payments/dying-process.ts";

export type Step =
  | { do: "buy"; ahead: number; q: number; process: 0 | 1; death: Death; works: boolean }
  | { do: "twice"; q: number }
  | { do: "replay"; of: number; q: number | null; process: 0 | 1 }
  | { do: "claim"; process: 0 | 1; death: Death }
  | { do: "refund"; leaving: number; process: 0 | 1; death: Death }
  | { do: "frozen"; q: number }
  | { do: "named"; first: "voucher" | "transfer" | "both"; q: number; process: 0 | 1; death: Death };

const death: fc.Arbitrary<Death> = fc.option(
  fc.record({ statement: fc.integer({ min: 1, max: 4 }), isAfter: fc.boolean() }),
  { freq: 2 },
);
const process_ = fc.constantFrom<0 | 1>(0, 1);
export const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("buy" as const),
      // Mostly the next voucher; an older or newer one must not be charged.
      ahead: fc.constantFrom(0, 0, 0, 0, -1, 1, 5),
      q: fc.nat(3),
      process: process_,
      death,
      works: fc.constantFrom(true, true, true, false),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("twice" as const), q: fc.nat(3) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("replay" as const),
      of: fc.nat(5),
      q: fc.option(fc.nat(3)),
      process: process_,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("claim" as const), process: process_, death }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("refund" as const),
      // Purchases that are still covered afterwards.
      leaving: fc.nat(1),
      process: process_,
      // A refund is recorded by the seventh statement or so.
      death: fc.option(fc.record({ statement: fc.integer({ min: 6, max: 11 }), isAfter: fc.boolean() }), {
        freq: 4,
      }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("frozen" as const), q: fc.nat(3) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("named" as const),
      first: fc.constantFrom("voucher" as const, "transfer" as const, "both" as const),
      q: fc.nat(3),
      process: process_,
      death,
    }),
  },
);
