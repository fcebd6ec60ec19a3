// Steps of the histories of a channel on a chain that moves, in tests/payments/channel-chain-model.test.ts.
import fc from "fast-check";
import type { Death } from "../support/payments/dying-process.ts";

/** Two processes of one database, and one of another database with the same payee and key. */
export type ProcessIndex = 0 | 1 | 2;

export type ChainStep =
  | { do: "buy"; process: ProcessIndex; times: number; ahead: number; q: number; death: Death }
  | { do: "replay"; process: ProcessIndex; of: number }
  | { do: "work"; process: ProcessIndex; death: Death }
  | { do: "work at once" }
  | { do: "deposit"; purchases: number }
  | { do: "withdraw"; leaving: number }
  | {
      do: "finish";
      how: "after claims" | "unseen" | "in the block of a claim";
      leaving: number;
      process: 0 | 1;
    }
  | { do: "reorg"; depth: number; keeps: "nothing" | "ours"; claims: boolean }
  | { do: "final" }
  | { do: "clock"; of: "database" | "services"; hours: number };

const buyNow = (process: ProcessIndex, times: number): ChainStep => ({
  ...{ do: "buy", process, times, ahead: 0, q: 0, death: null },
});
const workNow = (process: ProcessIndex): ChainStep => ({ do: "work", process, death: null });

/** Histories that random ones meet too seldom, by the rule that they test. */
export const KNOWN_HISTORIES: readonly (readonly [string, readonly ChainStep[]])[] = [
  [
    "sells what a withdrawal leaves, and nothing of what it takes",
    [buyNow(0, 2), { do: "withdraw", leaving: 3 }, workNow(0), buyNow(0, 1), buyNow(0, 1), buyNow(1, 1)],
  ],
  [
    "claims once, whichever processes work and however often",
    [
      ...[buyNow(0, 3), { do: "work at once" } as const, workNow(0), workNow(2)],
      ...[{ do: "withdraw", leaving: 2 } as const, buyNow(1, 1), buyNow(2, 1)],
      ...[{ do: "work at once" } as const, workNow(2), workNow(0), workNow(1)],
    ],
  ],
];

const process_ = fc.constantFrom<ProcessIndex>(0, 1, 0, 1, 2);
const death: fc.Arbitrary<Death> = fc.option(
  fc.record({ statement: fc.integer({ min: 1, max: 12 }), isAfter: fc.boolean() }),
  { freq: 6 },
);

export const chainSteps: fc.Arbitrary<ChainStep> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant("buy" as const),
      process: process_,
      times: fc.integer({ min: 1, max: 4 }),
      ahead: fc.constantFrom(0, 0, 0, 0, 0, 1),
      q: fc.nat(1),
      death,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("replay" as const), process: process_, of: fc.nat(5) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("work" as const), process: process_, death }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("work at once" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("deposit" as const), purchases: fc.integer({ min: 1, max: 5 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("withdraw" as const), leaving: fc.nat(2) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("finish" as const),
      how: fc.constantFrom("after claims" as const, "unseen" as const, "in the block of a claim" as const),
      leaving: fc.nat(2),
      process: fc.constantFrom<0 | 1>(0, 1),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("reorg" as const),
      depth: fc.integer({ min: 1, max: 5 }),
      keeps: fc.constantFrom("nothing" as const, "ours" as const),
      // Right before it, so that it undoes them.
      claims: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("final" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("clock" as const),
      of: fc.constantFrom("database" as const, "services" as const),
      hours: fc.constantFrom(-5, 0, 0, 5),
    }),
  },
);
