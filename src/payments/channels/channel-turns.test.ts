// The line of a channel: bounded, and never full of old vouchers.
import { expect, it } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { ChannelTurns } from "./channel-turns.ts";

it("lets a newer voucher take the position of an older one when the line of its channel is full", async () => {
  const turns = new ChannelTurns({ clock: systemClock, waitingPerChannelMax: 2, waitingMax: 10, pollMs: 1 });
  const acted: bigint[] = [];
  let end = (): void => undefined;
  const first = new Promise<void>((resolve) => {
    end = resolve;
  });
  const run = (maxClaimable: bigint, wait?: Promise<void>) =>
    turns.run("0x01", { maxClaimable, deadlineMs: Number.POSITIVE_INFINITY }, async () => {
      await wait;
      acted.push(maxClaimable);
      return true;
    });
  const outcomes = [run(1n, first), run(1n), run(1n), run(3n), run(1n), run(2n)];
  await expect(outcomes[4]).resolves.toBe("full");
  end();
  await expect(Promise.all(outcomes)).resolves.toEqual(["acted", "full", "full", "acted", "full", "acted"]);
  expect(acted).toEqual([1n, 3n, 2n]);
});
