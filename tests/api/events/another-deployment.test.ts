// The schema under a running API is emptied and claimed by another deployment: nothing of the one is taken for the other.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { claimSchema } from "../../../src/store/index/prepare.ts";
import { type EventStreamClient, openEventStreamClient } from "../../support/http/event-stream-client.ts";
import { startTestApi, type TestApi } from "../../support/http/test-api.ts";
import { MEMORY_DEPLOYMENT } from "../../support/index/memory-index.ts";
import { EventIndex } from "./event-index.ts";

const { AgentRegistry, IntentBook } = MEMORY_DEPLOYMENT.contracts;
/** The same addresses, with another contract at each of two. */
const OTHER = {
  ...MEMORY_DEPLOYMENT,
  contracts: { ...MEMORY_DEPLOYMENT.contracts, AgentRegistry: IntentBook, IntentBook: AgentRegistry },
};

let index: EventIndex;
let api: TestApi;
let opened: EventStreamClient[];

beforeEach(async () => {
  index = await EventIndex.open();
  api = await startTestApi(index.database);
  opened = [];
});
afterEach(async () => {
  for (const client of opened) client.close();
  await api.close();
  await index.drop();
});

async function claimForOther(): Promise<void> {
  await index.database.query("truncate deployment");
  await claimSchema(index.database, OTHER);
  await index.reset();
  await index.extend([1, 2], 1);
  // Its intent book has the address that the registry of agents had.
  await index.database.query(`update logs set address = decode('${AgentRegistry.slice(2)}', 'hex')`);
}

type Page = { readonly events: readonly { readonly id: string }[]; readonly progress: { cursor: string } };

async function readPage(from: string): Promise<{ status: number; code: string | null; page: Page }> {
  const response = await fetch(`${api.url}/events?from=${from}`);
  const page = (await response.json()) as Page;
  return { status: response.status, code: response.headers.get("x-error-code"), page };
}

async function openStream(query: string): Promise<EventStreamClient> {
  const client = await openEventStreamClient(`${api.url}/events${query}`);
  opened.push(client);
  await vi.waitFor(() => expect(client.messages.at(-1)?.event).toBe("progress"), { timeout: 15_000 });
  return client;
}

describe("a schema that another deployment has claimed", () => {
  it("serves the events of the deployment that claimed the schema, and rejects older cursors", async () => {
    await index.extend([2, 1], 1);
    const before = await readPage("genesis");
    expect(before.page.events).toHaveLength(3);
    await claimForOther();
    const after = await readPage("genesis");
    expect(after.page.events.map(({ id }) => id)).toEqual(index.events().map(({ id }) => id));
    expect(await readPage(before.page.progress.cursor)).toMatchObject({
      status: 400,
      code: "CURSOR_FOREIGN",
    });
    expect((await readPage(after.page.progress.cursor)).status).toBe(200);
  }, 60_000);

  it("ends open streams with a message when another deployment claims the schema", async () => {
    await index.extend([2, 1], 1);
    const streams = await Promise.all(
      ["instant", "safe", "finalized"].map((finality) => openStream(`?from=genesis&finality=${finality}`)),
    );
    const received = streams.map(({ messages }) => messages.length);
    await claimForOther();
    for (const [at, stream] of streams.entries()) {
      await stream.ended;
      const later = stream.messages.slice(received[at]);
      expect(later).toEqual([{ event: "rejected", id: "", data: expect.stringContaining("CURSOR_FOREIGN") }]);
      expect(stream.lastEventId).toBe("");
    }
    const fresh = await openStream("?from=genesis");
    expect(fresh.messages.map(({ event }) => event)).toEqual(["message", "message", "message", "progress"]);
  }, 60_000);
});
