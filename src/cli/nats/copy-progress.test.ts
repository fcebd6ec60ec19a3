// A terminal shows how much is copied and how fast, and not more often than it can be read.
import { expect, it } from "vitest";
import { CopyProgress } from "./copy-progress.ts";

it("shows count and rate at most once a second, and clears the line before the next", () => {
  const shown: string[] = [];
  let now = 0;
  const progress = (text: string) => {
    shown.push(text);
    return () => void shown.push("cleared");
  };
  const copied = new CopyProgress({ progress }, { nowMs: () => now });
  for (let message = 0; message < 1_000; message += 1) {
    now += 2;
    copied.add();
  }
  now += 4_000;
  copied.add();
  copied.hide();
  copied.hide();
  expect(shown).toEqual([
    ...["Waiting for events", "cleared", "Copied 500 messages, 500 a second;", "cleared"],
    ...["Copied 1000 messages, 500 a second;", "cleared", "Copied 1001 messages, 0 a second;", "cleared"],
  ]);
});
