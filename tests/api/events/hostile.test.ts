// Requests for streams that no ordinary client sends: sizes, repetitions, floods of connections.
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { EventStreamLimits } from "../../../src/api/events/streams.ts";
import { type EventStreamClient, openEventStreamClient } from "../../support/http/event-stream-client.ts";
import { sendBytes } from "../../support/http/send-bytes.ts";
import { startTestApi } from "../../support/http/test-api.ts";
import { EventIndex } from "./event-index.ts";

// Several pages of a stream.
const BLOCKS = 20;
const EVENTS_PER_BLOCK = 15;
const PATIENCE = { timeout: 60_000, interval: 20 };
const FLOOD_MS_MAX = 180_000;

let index: EventIndex;
let url: string;
let closeApi: () => Promise<void>;

beforeAll(async () => {
  index = await EventIndex.open();
  await index.extend(
    Array.from({ length: BLOCKS }, () => EVENTS_PER_BLOCK),
    8,
  );
  ({ url, close: closeApi } = await startTestApi(index.database));
});
afterAll(async () => {
  await closeApi?.();
  await index?.drop();
});

async function startApi(
  eventStreams: Partial<EventStreamLimits>,
  options: Parameters<typeof startTestApi>[1] = {},
): Promise<string> {
  const api = await startTestApi(index.database, { ...options, eventStreams });
  onTestFinished(() => api.close());
  return api.url;
}

async function open(
  target: string,
  options: Parameters<typeof openEventStreamClient>[1] = {},
): Promise<EventStreamClient> {
  const client = await openEventStreamClient(target, options);
  onTestFinished(() => client.close());
  return client;
}

async function countStreams(api: string): Promise<number> {
  const metrics = await (await fetch(`${api}/metrics`)).text();
  const counts = [...metrics.matchAll(/^sextant_event_streams\{.*\} ([0-9]+)$/gm)];
  expect(counts).toHaveLength(2);
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

describe("sizes", () => {
  it("rejects a long last id like any damaged one, without repeating it", async () => {
    const client = await open(`${url}/events`, { lastEventId: "A".repeat(10_000) });
    await client.ended;
    expect(client.messages).toMatchObject([{ event: "rejected", id: "" }]);
    expect(client.messages[0]?.data.length).toBeLessThan(300);
  });

  it("responds 431 to more than sixteen kilobytes of headers", async () => {
    const head = `GET /events HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\nlast-event-id: ${"A".repeat(20_000)}\r\n\r\n`;
    expect(await sendBytes(url, head)).toMatch(/^HTTP\/1.1 431 /);
  });

  it.each(["from", "type", "account", "intent", "finality", "limit"])(
    "responds 400 to a long parameter, with a short response: %s",
    async (name) => {
      const response = await fetch(`${url}/events?${name}=${"9".repeat(12_000)}`);
      expect(response.status).toBe(400);
      expect((await response.text()).length).toBeLessThan(2_000);
    },
  );

  it("finds the type of streams in Accept, whatever else it lists", async () => {
    const accept = `${"text/html;q=0.1,".repeat(500)}Text/Event-Stream ; q=1`;
    expect((await open(`${url}/events`, { headers: { accept } })).status).toBe(200);
  });
});

describe("repetitions", () => {
  it.each(["from=head", "finality=instant", "type=IntentSubmitted", "account=0x", "intent=1", "limit=1"])(
    "responds 400 to a repeated parameter: %s",
    async (parameter) => {
      const client = await open(`${url}/events?${parameter}&${parameter}`);
      expect([client.status, client.headers["x-error-code"]]).toEqual([400, "INPUT_INVALID"]);
    },
  );

  it("rejects a repeated last id as damaged", async () => {
    const first = await open(`${url}/events`);
    await vi.waitFor(() => expect(first.lastEventId).not.toBe(""), PATIENCE);
    const twice = `last-event-id: ${first.lastEventId}\r\n`.repeat(2);
    const response = await sendBytes(
      url,
      `GET /events HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\nconnection: close\r\n${twice}\r\n`,
      2_000,
    );
    expect(response).toContain("event: rejected");
  });

  it("ignores the repetition of a type", async () => {
    const once = await (await fetch(`${url}/events?type=IntentCancelled&limit=5`)).json();
    const types = Array.from({ length: 800 }, () => "IntentCancelled").join(",");
    expect(await (await fetch(`${url}/events?type=${types}&limit=5`)).json()).toEqual(once);
  });
});

describe("a flood of connections", () => {
  it(
    "limits a flood of streams to one client's slots, and frees every one of them",
    async () => {
      const api = await startApi({ streamsPerClientMax: 5, streamsMax: 100 });
      for (let round = 0; round < 2; round += 1) {
        const clients = await Promise.all(
          Array.from({ length: 30 }, () => openEventStreamClient(`${api}/events`)),
        );
        const statuses = clients.map(({ status }) => status);
        expect(statuses.filter((status) => status === 200)).toHaveLength(5);
        expect(statuses.filter((status) => status === 429)).toHaveLength(25);
        for (const client of clients) client.close();
        await vi.waitFor(async () => expect(await countStreams(api)).toBe(0), PATIENCE);
      }
    },
    FLOOD_MS_MAX,
  );

  it("counts streams against the request limit of a client", async () => {
    const api = await startApi({}, { requestsPerMinuteMax: 10 });
    const clients = await Promise.all(Array.from({ length: 12 }, () => open(`${api}/events`)));
    const rejected = clients.filter(({ status }) => status === 429);
    expect(rejected).toHaveLength(2);
    expect(Number(rejected[0]?.headers["retry-after"])).toBeGreaterThan(0);
  });

  it(
    "delays no other client by a flood of dropped connections",
    async () => {
      const api = await startApi({}, { trustedProxies: 1 });
      const from = (client: string) => ({ headers: { "x-forwarded-for": client } });
      const storm = async () => {
        for (let connection = 0; connection < 8; connection += 1) {
          const client = await openEventStreamClient(`${api}/events?from=genesis`, from("10.0.0.1"));
          client.close();
        }
      };
      const storms = Promise.all(Array.from({ length: 8 }, storm));
      const other = await open(`${api}/events?from=genesis`, from("10.0.0.2"));
      await vi.waitFor(() => expect(other.messages.at(-1)?.event).toBe("progress"), PATIENCE);
      const received = other.messages.filter(({ event }) => event === "message");
      expect(received).toHaveLength(BLOCKS * EVENTS_PER_BLOCK);
      await storms;
      await vi.waitFor(async () => expect(await countStreams(api)).toBe(1), PATIENCE);
    },
    FLOOD_MS_MAX,
  );
});
