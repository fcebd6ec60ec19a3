// Moves of the clock: quiet blocks, and hours in which nothing happens. Only where time is ours.
import type { Move } from "./turn.ts";

const HOUR_SECONDS = 3_600n;

export const timeMoves: readonly Move[] = [
  {
    name: "let blocks pass",
    weight: 3,
    alone: true,
    prepare: ({ world, random }) => {
      const { control } = world.timeline;
      const blocks = 1 + random.below(5);
      return control && (() => control.idle(blocks));
    },
  },
  {
    name: "let hours pass",
    weight: 1,
    alone: true,
    prepare: ({ world, random }) => {
      const { control } = world.timeline;
      const seconds = random.between(HOUR_SECONDS, 30n * HOUR_SECONDS);
      return (
        control &&
        (async () => {
          control.skip(seconds);
          await control.idle(1);
        })
      );
    },
  },
];
