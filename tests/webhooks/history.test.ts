// Many webhooks that read history: they take turns, leave room for others, and all of them advance.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from "vitest";
import type { ReadEvents } from "../../src/api/events/read-events.ts";
import { EventIndex } from "../api/events/event-index.ts";
import { Receiver } from "./receiver.ts";
import { addWebhook, readWebhook, startDelivering } from "./webhook-stage.ts";

let index: EventIndex;
beforeAll(async () => {
  index = await EventIndex.open();
});
afterAll(() => index.drop());
beforeEach(async () => {
  await index.reset();
  await index.database.query("truncate webhooks");
});

const patiently = { timeout: 20_000, interval: 50 };

function start(...options: Parameters<typeof startDelivering> extends [unknown, ...infer R] ? R : never) {
  const delivering = startDelivering(index.database, ...options);
  onTestFinished(() => delivering.close());
  return delivering;
}

it("webhooks read history as one client, two at a time, and the head is not kept waiting", async () => {
  const receiver = await Receiver.start();
  onTestFinished(() => receiver.stop());
  await index.extend([20]);
  const first = await addWebhook(index.database, receiver.url, { from: "head" });
  const isCaughtUp = async (id: string) => (await readWebhook(index.database, id)).isCaughtUp;
  const clients = new Set<string>();
  let [reading, readingMax] = [0, 0];
  let gate: Promise<void> | null = null;
  const wrapReads =
    (readEvents: ReadEvents): ReadEvents =>
    async (request) => {
      if (request.client === null) return await readEvents(request);
      clients.add(request.client);
      reading += 1;
      readingMax = Math.max(readingMax, reading);
      await gate;
      return await readEvents(request).finally(() => {
        reading -= 1;
      });
    };
  const { webhooks } = start({}, { wrapReads });
  await expect.poll(() => isCaughtUp(first), patiently).toBe(true);
  let open: () => void = () => undefined;
  gate = new Promise((resolve) => {
    open = resolve;
  });
  const behind = await Promise.all(
    Array.from({ length: 150 }, () => addWebhook(index.database, receiver.url, { types: ["AgentRevoked"] })),
  );
  webhooks.onChange();
  await index.extend([1]);
  webhooks.onChange();
  await expect.poll(() => receiver.ids.length, patiently).toBe(1);
  // The one at the head has its event while the others wait for their turn.
  await expect.poll(() => isCaughtUp(first), patiently).toBe(true);
  const { rows } = await index.database.query("select id from webhooks where caught_up_at is null");
  expect(rows).toHaveLength(150);
  open();
  for (const id of behind) await expect.poll(() => isCaughtUp(id), patiently).toBe(true);
  expect(readingMax).toBeLessThanOrEqual(2);
  expect(clients).toEqual(new Set(["webhooks"]));
}, 60_000);

it("a webhook advances page by page though its lease is shorter than its history", async () => {
  const receiver = await Receiver.start();
  onTestFinished(() => receiver.stop());
  // Three pages of logs without an event that passes.
  for (let block = 0; block < 3; block += 1) await index.extend([1_000]);
  await index.extendWithLargeEvents(1, "x");
  await addWebhook(index.database, receiver.url, { types: ["AgentRegistered"] });
  const wrapReads =
    (readEvents: ReadEvents): ReadEvents =>
    async (request) => {
      await sleep(400);
      return await readEvents(request);
    };
  start({ timing: { pollMs: 50, spacingMs: 0, leaseMs: 1_000 } }, { wrapReads });
  await expect.poll(() => receiver.ids.length, patiently).toBe(1);
}, 40_000);
