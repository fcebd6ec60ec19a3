// `sextant publish` against a real nats-server, the real API and a real database.
// Whatever is killed, lost or forked, who applies the messages of the copy in order ends with the events of the chain.
import { EventEmitter } from "node:events";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type JetStreamManager, jetstream, jetstreamManager, RetentionPolicy } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { CopyMovedError, JetStreamCopy } from "../../src/cli/nats/jetstream-copy.ts";
import { EventIndex } from "../api/events/event-index.ts";
import { EventModel } from "../api/events/event-model.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { startSextantInProcess } from "../support/process/run-in-process.ts";
import { startSextant } from "../support/process/sextant-process.ts";
import { createTestFolder } from "../support/test-folder.ts";
import { startNatsServer } from "./nats-server.ts";

let index: EventIndex;
let api: TestApi;
beforeAll(async () => {
  index = await EventIndex.open();
  api = await startTestApi(index.database);
});
afterAll(async () => {
  await api?.close();
  await index?.drop();
});
beforeEach(() => index.reset());

const waitFor = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 20_000, interval: 20 });

/** A server of its own, which can be killed, and started again with what it stored. */
async function startServer() {
  const folder = join(await createTestFolder(), "store");
  let server = await startNatsServer({ folder });
  const { url, port } = server;
  onTestFinished(() => server.kill());
  return {
    url,
    folder,
    kill: () => server.kill(),
    async start() {
      server = await startNatsServer({ folder, port });
    },
  };
}

/** Runs the command in this process, by its own command line, until it is stopped. */
function publish(url: string | null, options: Readonly<Record<string, string>> = {}) {
  const keyboard = new EventEmitter();
  const address = url === null ? [] : ["--to", url];
  const given = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const environment = { SEXTANT_API_URL: api.url, SEXTANT_DATA: "/nowhere" };
  const running = startSextantInProcess(
    ["publish", ...address, ...given],
    environment,
    undefined,
    null,
    keyboard,
  );
  const end = async () => {
    keyboard.emit("SIGINT", "SIGINT");
    return (await running.ended).code;
  };
  onTestFinished(async () => void (await end()));
  return { ...running, end };
}

/** The error of a publication that cannot begin. */
const problemOf = async (...given: Parameters<typeof publish>) => (await publish(...given).ended).err;

type Copied = { readonly subject: string; readonly id: string; readonly record: Record<string, never> };

async function withManager<T>(url: string, use: (manager: JetStreamManager) => Promise<T>): Promise<T> {
  const connection = await connect({ servers: url });
  try {
    return await use(await jetstreamManager(connection));
  } finally {
    await connection.close();
  }
}

/** All messages of the copy, in order. */
function readCopy(url: string, stream = "sextant"): Promise<readonly Copied[]> {
  return withManager(url, async (manager) => {
    const { state } = await manager.streams.info(stream);
    const copied: Copied[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      const message = await manager.streams.getMessage(stream, { seq });
      if (message === null) throw new Error(`message ${seq} is missing`);
      const { subject, header } = message;
      copied.push({ subject, id: header.get("Nats-Msg-Id"), record: message.json() });
    }
    return copied;
  });
}

function apply(copied: readonly Copied[], prefix = "sextant"): EventModel {
  const model = new EventModel();
  for (const { subject, record } of copied) {
    if (subject === `${prefix}.undo`) model.undo(record as never);
    else if (subject === `${prefix}.progress`) model.progress(record as never);
    else model.append(record as never);
  }
  return model;
}

async function expectCopy(url: string): Promise<EventModel> {
  const idsOfChain = () => index.events().map(({ id }) => id);
  let model = new EventModel();
  await waitFor(async () => {
    model = apply(await readCopy(url));
    expect([model.complete, model.ids]).toEqual([index.head, idsOfChain()]);
  });
  return model;
}

describe("the copy", () => {
  it("copies each message to its subject, with an id that ends with its cursor", async () => {
    const { url } = await startServer();
    await index.extend([4], 8);
    publish(url);
    await expectCopy(url);
    await index.rollback(1);
    await index.extend([1], 8);
    expect((await expectCopy(url)).undoCount).toBe(1);
    const copied = await readCopy(url);
    const subjects = new Set(copied.map(({ subject }) => subject));
    expect(subjects).toEqual(
      new Set([
        "sextant.events.IntentSubmitted",
        "sextant.events.IntentCancelled",
        "sextant.undo",
        "sextant.progress",
      ]),
    );
    for (const { id, record } of copied) expect(id.split(":").at(-1)).toBe(record.cursor);
    expect(new Set(copied.map(({ id }) => id)).size).toBe(copied.length);
  });

  it("takes filter, finality, stream and prefix from the command line", async () => {
    const { url } = await startServer();
    await index.extend([8, 0, 4], 2);
    publish(url, { type: "IntentCancelled", finality: "finalized", stream: "final", prefix: "a.b" });
    const expected = index.events(1).filter(({ type }) => type === "IntentCancelled");
    await waitFor(async () => {
      const copied = await readCopy(url, "final");
      expect(copied.at(-1)?.subject).toBe("a.b.progress");
      expect(apply(copied, "a.b").ids).toEqual(expected.map(({ id }) => id));
    });
  });

  it("continues the copy where it ends, with the undo of a reorg meanwhile", async () => {
    const { url } = await startServer();
    await index.extend([1, 1, 1], 8);
    const first = publish(url);
    await expectCopy(url);
    expect(await first.end()).toBe(0);
    await index.rollback(2);
    await index.extend([1, 0, 2], 8);
    // Only an empty copy begins at the block of the command line.
    publish(url, { from: "head" });
    expect((await expectCopy(url)).undoCount).toBe(1);
  });

  it("copies every undo, although two to the same block have the same cursor", async () => {
    const { url } = await startServer();
    await index.extend([1]);
    publish(url);
    for (let reorg = 1; reorg <= 3; reorg += 1) {
      await index.extend([1]);
      await expectCopy(url);
      await index.rollback(1);
      await waitFor(async () => expect(apply(await readCopy(url)).undoCount).toBe(reorg));
    }
    const undos = (await readCopy(url)).filter(({ subject }) => subject === "sextant.undo");
    // The window makes this a test: JetStream would drop the second of two messages with the same id.
    expect(new Set(undos.map(({ record }) => record.cursor)).size).toBe(1);
  });
});

describe("what is killed", () => {
  it("completes the copy after publishers are killed in the middle of history", async () => {
    const { url } = await startServer();
    await index.extend(Array.from({ length: 150 }, () => 4));
    const environment = { SEXTANT_NATS_URL: url, SEXTANT_API_URL: api.url, SEXTANT_DATA: "/nowhere" };
    for (const least of [1, 150, 300]) {
      const { child, ended } = startSextant(["publish"], { environment });
      await waitFor(async () => {
        const { state } = await withManager(url, (manager) => manager.streams.info("sextant"));
        expect(state.last_seq).toBeGreaterThan(least);
      });
      child.kill("SIGKILL");
      await ended;
    }
    await index.rollback(20);
    await index.extend([3, 3]);
    publish(url);
    await expectCopy(url);
  }, 120_000);

  it("completes the copy after the server is killed and comes back", async () => {
    const server = await startServer();
    await index.extend([1, 1]);
    const { written } = publish(server.url);
    await expectCopy(server.url);
    await server.kill();
    await index.rollback(1);
    await index.extend([2, 2]);
    await waitFor(() => expect(written.err).toContain("trying again"));
    await server.start();
    await expectCopy(server.url);
  }, 60_000);
});

it("copies again what the server has acknowledged and lost", async () => {
  const server = await startServer();
  await index.extend([2, 2]);
  publish(server.url);
  await expectCopy(server.url);
  const { length } = await readCopy(server.url);
  await server.kill();
  cpSync(server.folder, `${server.folder}.then`, { recursive: true });
  await server.start();
  await index.extend([2, 2]);
  await expectCopy(server.url);
  await server.kill();
  rmSync(server.folder, { recursive: true });
  cpSync(`${server.folder}.then`, server.folder, { recursive: true });
  const restartedMs = Date.now();
  await server.start();
  await index.extend([1]);
  await expectCopy(server.url);
  // The messages after the old end are not the ones that were there before.
  const query = { seq: length + 1 };
  const again = await withManager(server.url, (manager) => manager.streams.getMessage("sextant", query));
  expect(again?.time.getTime()).toBeGreaterThanOrEqual(restartedMs);
}, 60_000);

it("copies by several processes without gaps and repetitions", async () => {
  const { url } = await startServer();
  const all = [publish(url), publish(url), publish(url)];
  for (let round = 0; round < 10; round += 1) {
    await index.extend([2, 1]);
    if (round % 3 === 2) await index.rollback(1);
    await pause(30);
  }
  await index.extend([1]);
  await expectCopy(url);
  // The others take over.
  expect(await all[0]?.end()).toBe(0);
  await index.extend([1]);
  await expectCopy(url);
}, 60_000);

it("takes a message only if its publisher knows the end, also when JetStream forgot the id", async () => {
  const { url } = await startServer();
  const windowMs = 100;
  await withManager(url, (manager) =>
    manager.streams.add({ name: "sextant", subjects: ["sextant.>"], duplicate_window: windowMs * 1_000_000 }),
  );
  const place = { url, stream: "sextant", prefix: "sextant" };
  const [one, other] = [await JetStreamCopy.open(place), await JetStreamCopy.open(place)];
  onTestFinished(() => one.close());
  onTestFinished(() => other.close());
  const progress = { block_number: "1", indexed_block: "1", finalized_block: "0", cursor: "a" };
  const item = { kind: "progress", progress, cursor: "a" } as const;
  const start = await other.readPosition();
  await one.append(item, await one.readPosition());
  await pause(5 * windowMs);
  await expect(other.append(item, start)).rejects.toThrow(CopyMovedError);
  expect(await readCopy(url)).toHaveLength(1);
  expect(await other.readPosition()).toEqual({ sequence: 1, cursor: "a", undoCount: 0 });
});

it("runs the examples of the help", async () => {
  const { url } = await startServer();
  const { examples = [] } = COMMANDS.find(({ name }) => name === "publish")?.client ?? {};
  expect(examples).toHaveLength(2);
  await index.extend([1, 2], 8);
  for (const example of examples) {
    const [, ...words] = example.replace("nats://127.0.0.1:4222", url).split(" ");
    const keyboard = new EventEmitter();
    const environment = { SEXTANT_API_URL: api.url, SEXTANT_DATA: "/nowhere" };
    const running = startSextantInProcess(["publish", ...words], environment, undefined, null, keyboard);
    const stream = words[words.indexOf("--stream") + 1] === "final" ? "final" : "sextant";
    await waitFor(async () => expect((await readCopy(url, stream)).length).toBeGreaterThan(0));
    keyboard.emit("SIGINT", "SIGINT");
    expect(await running.ended).toMatchObject({ code: 0, err: "" });
  }
});

describe("what cannot be copied to", () => {
  it("reports a server that cannot be reached", async () => {
    const server = await startServer();
    await server.kill();
    expect(await publish(server.url).ended).toMatchObject({ code: 69 });
  });

  it("rejects a server without JetStream", async () => {
    const server = await startNatsServer({ folder: null });
    onTestFinished(() => server.kill());
    expect(await problemOf(server.url)).toContain("The NATS server has no JetStream for us");
  });

  it("rejects a stream that deletes what was read, or has other subjects", async () => {
    const { url } = await startServer();
    await withManager(url, async (manager) => {
      await manager.streams.add({ name: "work", subjects: ["a.>"], retention: RetentionPolicy.Workqueue });
      await manager.streams.add({ name: "other", subjects: ["b.>"] });
    });
    const given = { stream: "work", prefix: "a" };
    expect(await problemOf(url, given)).toContain("must keep messages by limits");
    expect(await problemOf(url, { stream: "other" })).toContain("the one subject sextant.>");
  });

  it("rejects a stream with messages of others", async () => {
    const { url } = await startServer();
    await withManager(url, (manager) => manager.streams.add({ name: "sextant", subjects: ["sextant.>"] }));
    const connection = await connect({ servers: url });
    await jetstream(connection).publish("sextant.events.Foreign", "{}");
    await connection.close();
    expect(await problemOf(url)).toContain("did not write the last message");
  });

  it.each([
    ["no address", {}, "--to is required"],
    ["a name with a wildcard", { stream: "a*" }, "--stream takes letters"],
    ["a prefix with a wildcard", { prefix: "a.>" }, "--prefix takes names"],
  ])("rejects a publication with %s", async (what, options, message) => {
    const url = what === "no address" ? null : "nats://127.0.0.1:1";
    expect(await problemOf(url, options)).toContain(message);
  });
});
