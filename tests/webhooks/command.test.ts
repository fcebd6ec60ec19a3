// `sextant webhooks` as the operator uses it: the file, every option that manages a webhook, and the metrics.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Webhook as ReferenceWebhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { webhooksCommand } from "../../src/cli/commands/webhooks.ts";
import { EventIndex } from "../api/events/event-index.ts";
import { formatConnectionUrl } from "../support/database/test-database.ts";
import { MEMORY_DEPLOYMENT } from "../support/index/memory-index.ts";
import { runSextantInProcess } from "../support/process/run-in-process.ts";
import { silentLog } from "../support/quiet-log.ts";
import { createTestFolder } from "../support/test-folder.ts";
import { Receiver } from "./receiver.ts";
import { isDeliveryIdle, WEBHOOK_KEY } from "./webhook-stage.ts";

let index: EventIndex;
beforeAll(async () => {
  index = await EventIndex.open();
});
afterAll(() => index.drop());
beforeEach(async () => {
  await index.reset();
  await index.database.query("truncate webhooks");
});

const patiently = { timeout: 30_000, interval: 100 };
const chainIds = () => index.events().map(({ id }) => id);

async function startReceiver(): Promise<Receiver> {
  const receiver = await Receiver.start();
  onTestFinished(() => receiver.stop());
  return receiver;
}

type Entry = Readonly<Record<string, unknown>> & { readonly name: string };

class Operator {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(webhooks: readonly Entry[]): Promise<Operator> {
    const operator = new Operator(await createTestFolder());
    await writeFile(join(operator.#folder, "deployment.json"), JSON.stringify(MEMORY_DEPLOYMENT));
    await operator.writeFile(webhooks);
    return operator;
  }

  /** The chain is not a local one: only the operator may name receivers on this machine. */
  async writeFile(webhooks: readonly Entry[]): Promise<void> {
    const entries = webhooks.map((each) => ({ allow_private: true, from: "genesis", ...each }));
    await writeFile(join(this.#folder, "webhooks.json"), JSON.stringify({ webhooks: entries }));
  }

  get environment() {
    return {
      ...{ DATABASE_URL: formatConnectionUrl(index.connection), SEXTANT_WEBHOOK_KEY: WEBHOOK_KEY },
      NETWORK: join(this.#folder, "deployment.json"),
      SEXTANT_WEBHOOKS_FILE: join(this.#folder, "webhooks.json"),
      WEBHOOKS_PORT: "0",
    };
  }

  run(...args: readonly string[]) {
    return runSextantInProcess(["webhooks", ...args], this.environment, this.#folder);
  }

  /** Runs it and reads the lines of JSON that it prints. */
  async read(...args: readonly string[]): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { code, out, err } = await this.run(...args);
    if (code !== 0) throw new Error(err);
    return out
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** The command without options, until the test or the returned function ends it. */
  async deliver(): Promise<{ readonly url: string; stop(): Promise<void> }> {
    const stopping = new AbortController();
    let running: Promise<unknown> = Promise.resolve();
    const url = await new Promise<string>((resolve, reject) => {
      const context = { environment: this.environment, options: {}, log: silentLog, print: () => undefined };
      running = webhooksCommand({ ...context, stop: stopping.signal, onListening: resolve });
      running.catch(reject);
    });
    const stop = async () => {
      stopping.abort();
      await running;
    };
    onTestFinished(stop);
    return { url, stop };
  }
}

describe("the options of the operator", () => {
  it("an operator can list, pause, resume, replay, rotate, test, show the secret of and delete a webhook", async () => {
    const receiver = await startReceiver();
    const operator = await Operator.create([{ name: "warehouse", url: receiver.url }]);
    await index.extend([2]);
    await (await operator.deliver()).stop();
    const [listed] = await operator.read("--list");
    expect(listed).toMatchObject({ name: "warehouse", owner: null, status: "active" });
    const id = String(listed?.id);

    expect(await operator.read("--pause", "warehouse")).toMatchObject([{ id, status: "paused" }]);
    await index.extend([1]);
    await operator.deliver();
    expect(await operator.read("--resume", id)).toMatchObject([{ id, status: "active" }]);
    await expect.poll(() => receiver.ids, patiently).toEqual(chainIds());

    const sent = receiver.attempts.length;
    await expect.poll(() => isDeliveryIdle(index.database), patiently).toBe(true);
    await operator.read("--replay", "warehouse", "--from", "genesis");
    await expect.poll(() => receiver.attempts.length - sent, patiently).toBe(3);
    expect(receiver.ids).toEqual(chainIds());

    const secret = (await operator.run("--secret", "warehouse")).out.trim();
    receiver.expectSecret(() => secret);
    expect(await operator.read("--test", "warehouse")).toEqual([
      { delivered: true, status: 204, error: null },
    ]);
    expect(receiver.attempts.at(-1)).toMatchObject({ type: "webhook.test", data: { webhook_id: id } });
    expect(receiver.problems).toEqual([]);

    const rotated = await operator.run("--rotate", "warehouse");
    const next = rotated.out.trim().split("\n").at(-1) ?? "";
    expect(next).toMatch(/^whsec_/);
    expect(next).not.toBe(secret);
    for (const each of [secret, next]) {
      receiver.expectSecret(() => each);
      await operator.read("--test", "warehouse");
    }
    expect(receiver.problems).toEqual([]);
    expect(() => new ReferenceWebhook(next)).not.toThrow();

    expect(await operator.read("--delete", "warehouse")).toMatchObject([{ id }]);
    expect(await operator.read("--list")).toEqual([]);
  }, 120_000);

  it.each([
    [["--pause", "a", "--resume", "b"], "Only one of"],
    [["--from", "genesis"], "--from belongs to --replay"],
    [["--replay", "a"], "--replay needs --from"],
    [["--pause", "unknown"], "No webhook has this id or name"],
  ])("the options %j are rejected", async (args, message) => {
    const operator = await Operator.create([]);
    const { code, err } = await operator.run(...args);
    expect(code).not.toBe(0);
    expect(err).toContain(message);
  });

  it("a missing key is reported with how to make one", async () => {
    const operator = await Operator.create([]);
    const { SEXTANT_WEBHOOK_KEY: _, ...environment } = operator.environment;
    const { code, err } = await runSextantInProcess(["webhooks", "--list"], environment);
    expect(code).toBe(78);
    expect(err).toContain("openssl rand -hex 32");
  });
});

describe("the operator's file", () => {
  it("disables what it no longer names, and goes on with the cursor when the name is back", async () => {
    const [one, other] = [await startReceiver(), await startReceiver()];
    const entries = [
      { name: "one", url: one.url },
      { name: "other", url: other.url },
    ];
    const operator = await Operator.create(entries);
    await index.extend([1]);
    const first = await operator.deliver();
    await expect.poll(() => [one.ids, other.ids], patiently).toEqual([chainIds(), chainIds()]);
    await first.stop();

    await operator.writeFile(entries.slice(0, 1));
    await index.extend([2]);
    const second = await operator.deliver();
    await expect.poll(() => one.ids, patiently).toEqual(chainIds());
    expect(await operator.read("--list")).toMatchObject([
      { name: "one", status: "active", disabled_reason: null },
      { name: "other", status: "disabled", disabled_reason: "unconfigured" },
    ]);
    await second.stop();

    await operator.writeFile(entries);
    await operator.deliver();
    await expect.poll(() => other.ids, patiently).toEqual(chainIds());
    expect(other.attempts).toHaveLength(3);
  }, 120_000);

  it("keeps a webhook paused that the operator has paused, whether or not it was away", async () => {
    const receiver = await startReceiver();
    const entry = { name: "one", url: receiver.url };
    const operator = await Operator.create([entry]);
    await (await operator.deliver()).stop();
    await operator.read("--pause", "one");
    for (const entries of [[], [entry]]) {
      await operator.writeFile(entries);
      await (await operator.deliver()).stop();
    }
    expect(await operator.read("--list")).toMatchObject([{ name: "one", status: "paused" }]);
  }, 60_000);

  it.each([
    [
      "two of the same name",
      [
        { name: "a", url: "http://127.0.0.1/" },
        { name: "a", url: "http://127.0.0.1/" },
      ],
    ],
    ["no address", [{ name: "a" }]],
    [
      "an address inside, which is not allowed",
      [{ name: "a", url: "https://10.0.0.1/", allow_private: false }],
    ],
    ["an event that does not exist", [{ name: "a", url: "http://127.0.0.1/", filter: { types: ["None"] } }]],
  ])("a file with %s stops the command and says so", async (_, entries) => {
    const operator = await Operator.create(entries);
    await expect(operator.deliver()).rejects.toThrow(/SEXTANT_WEBHOOKS_FILE .*webhooks.json cannot be used/);
  });
});

// Webhooks are counted for metrics every ten seconds.
const COUNT_EVERY_MS = 10_000;
const TEST_COUNT_MS = 100;

function countOften(): void {
  const { setInterval } = globalThis;
  const spy = vi
    .spyOn(globalThis, "setInterval")
    .mockImplementation((run, ms) => setInterval(run, ms === COUNT_EVERY_MS ? TEST_COUNT_MS : ms));
  onTestFinished(() => spy.mockRestore());
}

describe("/metrics", () => {
  it("shows in /metrics what became of messages, and how far each webhook is behind", async () => {
    countOften();
    const [good, bad, gone] = [await startReceiver(), await startReceiver(), await startReceiver()];
    bad.behave((_, response) => void response.writeHead(500).end());
    gone.behave((_, response) => void response.writeHead(410).end());
    const operator = await Operator.create([
      { name: "bad", url: bad.url },
      { name: "gone", url: gone.url },
      { name: "good", url: good.url },
    ]);
    await index.extend([1, 0, 2]);
    const { url } = await operator.deliver();
    await expect.poll(() => good.ids, patiently).toEqual(chainIds());
    const ids = (await operator.read("--list")).map(({ id }) => String(id));
    const [badId, goneId, goodId] = ids as [string, string, string];
    const metrics = async () => await (await fetch(`${url}/metrics`)).text();
    // The failing one has none of three blocks, which are a second apart.
    await expect.poll(metrics, patiently).toContain(`sextant_webhook_lag_blocks{webhook="${badId}"} 3`);
    // Each count shows the state of its moment: wait for one after the last message.
    await expect.poll(metrics, patiently).toContain(`sextant_webhook_lag_blocks{webhook="${goodId}"} 0`);
    const expected = [
      `sextant_webhook_lag_seconds{webhook="${badId}"} 2`,
      `sextant_webhook_lag_blocks{webhook="${goodId}"} 0`,
      `sextant_webhook_lag_seconds{webhook="${goodId}"} 0`,
      'sextant_webhook_attempts_total{outcome="delivered"} 3',
      'sextant_webhook_attempts_total{outcome="disabled"} 1',
      'sextant_webhooks{status="active"} 2',
      'sextant_webhooks{status="disabled"} 1',
      'sextant_webhooks{status="pending"} 1',
    ];
    const findMissing = async () => {
      const shown = (await metrics()).split("\n");
      return expected.filter((line) => !shown.includes(line));
    };
    await expect.poll(findMissing, patiently).toEqual([]);
    const shown = await metrics();
    // It may have been tried again by now.
    expect(shown).toMatch(/^sextant_webhook_attempts_total\{outcome="failed"\} [12]$/m);
    expect(shown).not.toContain(goneId);
  }, 90_000);
});
