// Event streams of processes that are killed, over a chain that forks: clients resume from their last id.
// `streams.test.ts` fails for the same broken rules, without processes.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { readCheckpoint } from "../../../src/store/index/checkpoint.ts";
import { openIndexerStage } from "../../indexer/indexer-stage.ts";
import { type EventStreamClient, openEventStreamClient } from "../../support/http/event-stream-client.ts";
import { openTestConnection } from "../../support/index/empty-index.ts";
import {
  createDatabaseEnvironment,
  type SextantProcess,
  startSextant,
} from "../../support/process/sextant-process.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { EventModel } from "./event-model.ts";

const FINALITY_DEPTH = 12;
const ROUNDS = 8;

type Client = {
  readonly query: string;
  readonly model: EventModel;
  lastEventId: string;
  stream: EventStreamClient;
};

async function connect(url: string, client: Omit<Client, "stream">): Promise<EventStreamClient> {
  return await openEventStreamClient(`${url}/events${client.query}`, {
    lastEventId: client.lastEventId,
    onMessage: ({ event, id, data }) => {
      const record = JSON.parse(data);
      if (event === "message") client.model.append(record);
      else if (event === "undo") client.model.undo(record);
      else if (event === "progress") client.model.progress(record);
      else throw new Error(`unexpected ${event}: ${data}`);
      client.lastEventId = id ?? client.lastEventId;
    },
  });
}

it("clients end with the events of the chain, whatever is killed and whatever forks", async () => {
  const stage = await openIndexerStage(11, { finalityDepth: FINALITY_DEPTH, reorgDepthMax: FINALITY_DEPTH });
  const { environment, connection, drop } = await createDatabaseEnvironment();
  const folder = mkdtempSync(join(tmpdir(), "sextant-events-"));
  const file = join(folder, "deployment.json");
  writeFileSync(file, JSON.stringify(stage.deployment));
  const settings = {
    ...environment,
    NETWORK: file,
    RPC_URL: stage.chain.rpcUrl,
    API_PORT: "0",
    INDEXER_PORT: "0",
  };
  const startIndexer = () => startSextant(["indexer"], { environment: settings });
  const startApi = async (): Promise<{ process: SextantProcess; url: string }> => {
    const process = startSextant(["api"], { environment: settings });
    const said = await process.waitForOutput(/Indexing API is listening/);
    return { process, url: /"url":"(http:[^"]+)"/.exec(said)?.[1] ?? "" };
  };
  const random = seededRandom(7);
  let indexer = startIndexer();
  await indexer.waitForOutput(/This process writes the index/);
  let api = await startApi();
  const database = await openTestConnection(connection);
  try {
    const clients: Client[] = [];
    for (const finality of ["instant", "safe", "finalized"]) {
      const client = {
        query: `?from=genesis&finality=${finality}`,
        model: new EventModel(),
        lastEventId: "",
      };
      const stream = await connect(api.url, client);
      clients.push(Object.assign(client, { stream }));
    }
    // One undo for certain: the client has the head, and the chain forks below it.
    await stage.runSteps(6);
    const { number } = await stage.head();
    const [instant, , final] = clients as [Client, Client, Client];
    await vi.waitFor(() => expect(instant.model.complete).toBe(number), { timeout: 60_000, interval: 20 });
    await stage.chain.reorg(3, { replay: "none", blocks: 4 });
    await vi.waitFor(() => expect(instant.model.undoCount).toBe(1), { timeout: 60_000, interval: 20 });
    for (let round = 0; round < ROUNDS; round += 1) {
      await stage.runSteps(4);
      const depth = 1 + Math.floor(random() * (FINALITY_DEPTH - 1));
      await stage.chain.reorg(depth, { replay: round % 2 === 0 ? "none" : "all", blocks: depth + 1 });
      await pause(random() * 500);
      if (round % 3 === 1) {
        api.process.child.kill("SIGKILL");
        await api.process.ended;
        api = await startApi();
        for (const client of clients) client.stream = await connect(api.url, client);
      }
      if (round % 4 === 2) {
        indexer.child.kill("SIGKILL");
        await indexer.ended;
        indexer = startIndexer();
      }
    }
    await stage.runSteps(4);
    const head = await stage.head();
    await vi.waitFor(async () => expect((await readCheckpoint(database))?.block.hash).toBe(head.hash), {
      timeout: 120_000,
      interval: 100,
    });
    const { rows } = await database.query<{ id: string; number: string }>(
      "select '0x' || encode(b.hash, 'hex') || '-' || l.log_index as id, b.number from logs l join blocks b on b.number = l.block_number order by l.block_number, l.log_index",
    );
    const finalized = (await readCheckpoint(database))?.finalized ?? 0;
    for (const { query, model } of clients) {
      const isFinal = !query.endsWith("instant");
      const expected = rows
        .filter(({ number }) => !isFinal || Number(number) <= finalized)
        .map(({ id }) => id);
      await vi.waitFor(() => expect(model.ids, query).toEqual(expected), { timeout: 30_000, interval: 50 });
    }
    expect(rows.length).toBeGreaterThan(20);
    expect(final.model.undoCount).toBe(0);
    for (const { stream } of clients) stream.close();
  } finally {
    for (const { child, ended } of [api.process, indexer]) {
      child.kill("SIGKILL");
      await ended;
    }
    await database.close();
    await drop();
    await stage.chain.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}, 300_000);
