// Time actions: empty blocks and skipped hours, only if the simulator controls the clock.
import type { SimulatorAction, Turn } from "../turn.ts";

const HOUR_SECONDS = 3_600n;

export const timeActions: readonly SimulatorAction[] = [
  {
    name: "let blocks pass",
    weight: 5,
    alone: true,
    prepare: ({ world, random }) => {
      const { control } = world.timeline;
      const blocks = 1 + random.below(5);
      return control && (() => control.idle(blocks));
    },
  },
  {
    name: "let hours pass",
    weight: 4,
    alone: true,
    prepare: (turn) => letPass(turn, 1n, 20n),
  },
  {
    // Longer than a spend window.
    name: "let a day pass",
    weight: 4,
    alone: true,
    prepare: (turn) => letPass(turn, 25n, 40n),
  },
];

function letPass({ world, random }: Turn, minHours: bigint, maxHours: bigint) {
  const { control } = world.timeline;
  const seconds = random.between(minHours * HOUR_SECONDS, maxHours * HOUR_SECONDS);
  if (control === undefined) return undefined;
  return async (): Promise<void> => {
    control.skip(seconds);
    await control.idle(1);
  };
}
