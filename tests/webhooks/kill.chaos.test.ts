// Delivering processes killed at random moments, during reorgs and with failing receivers: nothing is lost or out of order.
// tests/webhooks/delivery.test.ts fails for the same broken rules, without processes.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { EventIndex } from "../api/events/event-index.ts";
import { formatConnectionUrl } from "../support/database/test-database.ts";
import { MEMORY_DEPLOYMENT } from "../support/index/memory-index.ts";
import { type SextantProcess, startSextant } from "../support/process/sextant-process.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { createTestFolder } from "../support/test-folder.ts";
import { Receiver } from "./receiver.ts";
import { WEBHOOK_KEY } from "./webhook-stage.ts";

const ROUNDS = 8;
const LEASE_MS = 20_000;
// Two processes start within it on a busy machine, and a lease ends.
const CATCH_UP_MS_MAX = 90_000;

type Stage = {
  readonly index: EventIndex;
  readonly receivers: readonly Receiver[];
  readonly final: Receiver;
  start(): Promise<SextantProcess>;
};

async function openStage(): Promise<Stage> {
  const index = await EventIndex.open();
  onTestFinished(() => index.drop());
  const receivers = await Promise.all([1, 2, 3].map(() => Receiver.start()));
  for (const receiver of receivers) onTestFinished(() => receiver.stop());
  const [one, other, final] = receivers as [Receiver, Receiver, Receiver];
  const folder = await createTestFolder();
  const [network, file] = [join(folder, "deployment.json"), join(folder, "webhooks.json")];
  await writeFile(network, JSON.stringify(MEMORY_DEPLOYMENT));
  // The chain is not a local one: only the operator may name receivers on this machine.
  const common = { from: "genesis", allow_private: true };
  const webhooks = [
    { name: "one", url: one.url, ...common },
    { name: "other", url: other.url, ...common },
    { name: "final", url: final.url, finality: "finalized", ...common },
  ];
  await writeFile(file, JSON.stringify({ webhooks }));
  const environment = {
    ...{ DATABASE_URL: formatConnectionUrl(index.connection), NETWORK: network },
    ...{ SEXTANT_WEBHOOK_KEY: WEBHOOK_KEY, SEXTANT_WEBHOOKS_FILE: file, WEBHOOKS_PORT: "0" },
  };
  return {
    index,
    receivers: [one, other],
    final,
    async start() {
      const process = startSextant(["webhooks"], { environment });
      await process.waitForOutput(/webhooks_listening/);
      return process;
    },
  };
}

async function kill({ child, ended }: SextantProcess): Promise<void> {
  child.kill("SIGKILL");
  await ended;
}

/** The chain grows, forks and grows, while receivers respond as they like. */
async function play({ index, receivers, final }: Stage, random: () => number): Promise<void> {
  for (const receiver of [...receivers, final]) {
    receiver.behave((message, response) => {
      const chance = random();
      if (chance < 0.05) return void response.writeHead(500).end();
      receiver.hold(message);
      // It has the message, and the sender does not learn it.
      if (chance < 0.1) return void response.destroy();
      response.writeHead(204).end();
    });
  }
  for (let step = 0; step < 6; step += 1) {
    const counts = Array.from({ length: 1 + Math.floor(random() * 3) }, () => Math.floor(random() * 4));
    await index.extend(counts, 6);
    await sleep(random() * 150);
    if (random() < 0.5) await index.rollback(1 + Math.floor(random() * 4));
  }
}

async function expectEverything({ index, receivers, final }: Stage): Promise<void> {
  for (const receiver of [...receivers, final]) receiver.behave(null);
  await index.extend([1]);
  await index.database.query("update webhooks set retry_at = '-infinity'");
  const idsUpTo = (block: number) => index.events(block).map(({ id }) => id);
  const patiently = { timeout: CATCH_UP_MS_MAX, interval: 50 };
  for (const receiver of receivers) {
    await expect.poll(() => receiver.ids, patiently).toEqual(idsUpTo(index.head));
  }
  await expect.poll(() => final.ids, patiently).toEqual(idsUpTo(index.finalized));
}

it("every event arrives, in order, and after undos exactly those of the chain", async () => {
  const stage = await openStage();
  const { index, receivers, final } = stage;
  const random = seededRandom(7);
  for (let round = 0; round < ROUNDS; round += 1) {
    const processes = await Promise.all([stage.start(), stage.start()]);
    const playing = play(stage, random);
    await sleep(random() * 700);
    await Promise.all(processes.map(kill));
    await playing;
    // Both holders of leases are dead, so that no one waits for them; and receivers are tried again at once.
    await index.database.query("update webhooks set leased_until = '-infinity', retry_at = '-infinity'");
  }
  const processes = await Promise.all([stage.start(), stage.start()]);
  await expectEverything(stage);
  // One reorg of what was delivered for certain.
  await index.rollback(1);
  await expectEverything(stage);
  for (const receiver of [...receivers, final]) expect(receiver.problems).toEqual([]);
  for (const receiver of receivers) expect(receiver.undoCount).toBeGreaterThan(0);
  expect(final.undoCount).toBe(0);
  await Promise.all(processes.map(kill));
}, 300_000);

it("another process takes over from one that was killed, when its lease ends", async () => {
  const stage = await openStage();
  const { index, receivers } = stage;
  const [receiver] = receivers as [Receiver];
  receiver.behave(() => undefined);
  await index.extend([2]);
  const first = await stage.start();
  await expect.poll(() => receiver.attempts.length, { timeout: 20_000 }).toBe(1);
  await kill(first);
  const killedMs = performance.now();
  const second = await stage.start();
  receiver.behave(null);
  await expect.poll(() => receiver.ids, { timeout: CATCH_UP_MS_MAX, interval: 50 }).toHaveLength(2);
  expect(performance.now() - killedMs).toBeLessThan(LEASE_MS + 10_000);
  expect(receiver.attempts[0]?.id).toBe(receiver.attempts[1]?.id);
  expect(receiver.problems).toEqual([]);
  await kill(second);
}, 120_000);
