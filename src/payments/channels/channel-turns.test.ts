// The lines of channels: bounded, never full of old vouchers, and never full of one client.
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
    turns.run("0x01", { maxClaimable, client: "a", deadlineMs: Number.POSITIVE_INFINITY }, async () => {
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

it("ends requests of the client with the most when requests for channels of any client are too many", async () => {
  const turns = new ChannelTurns({ clock: systemClock, waitingPerChannelMax: 9, waitingMax: 4, pollMs: 1 });
  let end = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    end = resolve;
  });
  const run = (channelId: `0x${string}`, client: string) =>
    turns.run(channelId, { maxClaimable: 1n, client, deadlineMs: Number.POSITIVE_INFINITY }, async () => {
      await held;
      return true;
    });
  const greedy = [run("0x01", "greedy"), run("0x01", "greedy"), run("0x02", "greedy"), run("0x02", "greedy")];
  const payers = [run("0x03", "one"), run("0x04", "two")];
  const late = run("0x05", "greedy");
  await expect(late).resolves.toBe("full");
  end();
  await expect(Promise.all(payers)).resolves.toEqual(["acted", "acted"]);
  await expect(Promise.all(greedy)).resolves.toEqual(["acted", "full", "acted", "full"]);
});
