// A page of events has whole blocks, as many as fit.
import { expect, it } from "vitest";
import type { EventRecord } from "../events.ts";
import { cutToBlocks } from "./events.ts";

const eventsOf = (counts: readonly (readonly [block: number, count: number])[]) =>
  counts.flatMap(([block, count]) =>
    Array.from({ length: count }, () => ({ block_number: String(block) }) as EventRecord),
  );

it("keeps what fits, cuts between blocks, and inside only where a block is too large alone", () => {
  const few = eventsOf([
    [9, 60],
    [8, 40],
  ]);
  expect(cutToBlocks(few)).toEqual(few);
  expect(
    cutToBlocks(
      eventsOf([
        [9, 60],
        [8, 41],
        [7, 5],
      ]),
    ),
  ).toEqual(eventsOf([[9, 60]]));
  expect(cutToBlocks(eventsOf([[9, 300]]))).toEqual(eventsOf([[9, 100]]));
});
