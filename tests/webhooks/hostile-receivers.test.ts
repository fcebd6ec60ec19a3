// Receivers that do their worst over real connections: none is believed more than its status, and none delays another.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createLog } from "../../src/lib/log.ts";
import { createPublicNetwork } from "../../src/lib/public-network.ts";
import { EventIndex } from "../api/events/event-index.ts";
import { createTestCertificate } from "../support/http/test-certificate.ts";
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

const patiently = { timeout: 15_000, interval: 20 };
const chainIds = () => index.events().map(({ id }) => id);

async function startReceiver(...options: Parameters<typeof Receiver.start>): Promise<Receiver> {
  const receiver = await Receiver.start(...options);
  onTestFinished(() => receiver.stop());
  return receiver;
}

function start(...options: Parameters<typeof startDelivering> extends [unknown, ...infer R] ? R : never) {
  const delivering = startDelivering(index.database, ...options);
  onTestFinished(() => delivering.close());
  return delivering;
}

describe("a receiver that responds 2xx", () => {
  it("counts a message as delivered if the receiver breaks the connection after 2xx", async () => {
    const receiver = await startReceiver();
    const id = await addWebhook(index.database, receiver.url);
    receiver.behave((message, response) => {
      receiver.hold(message);
      response.writeHead(202, { "content-length": "500" });
      response.write("half", () => response.destroy());
    });
    start();
    await index.extend([3]);
    await expect.poll(() => receiver.ids, patiently).toEqual(chainIds());
    await expect.poll(async () => (await readWebhook(index.database, id)).delivered, patiently).toBe("3");
    expect(receiver.attempts).toHaveLength(3);
  });
});

describe("a receiver whose output is not a response", () => {
  const headers = `x-filler: ${"x".repeat(64 * 1024)}\r\n`;
  it.each([
    [
      "another protocol",
      "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n",
      /./,
    ],
    ["nothing of HTTP", "+OK ready\r\n", /Parse Error/],
    ["headers without end", `HTTP/1.1 200 OK\r\n${headers}`, /Header overflow/],
    [
      "a length and chunks at once",
      "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      /Parse Error/,
    ],
  ])("fails a receiver that responds with %s, and delays no other", async (_, bytes, problem) => {
    const [hostile, receiver] = [await startReceiver(), await startReceiver()];
    hostile.behave((__, { socket }) => void socket?.end(bytes));
    const id = await addWebhook(index.database, hostile.url);
    await addWebhook(index.database, receiver.url);
    start();
    await index.extend([2]);
    await expect.poll(() => receiver.ids, patiently).toEqual(chainIds());
    await expect.poll(async () => (await readWebhook(index.database, id)).failures, patiently).toBe(1);
    const { delivered, lastError } = await readWebhook(index.database, id);
    expect(delivered).toBe("0");
    expect(lastError).toMatch(problem);
    expect(lastError?.length).toBeLessThan(300);
  });
});

describe("the guard of the public network", () => {
  const certificate = createTestCertificate(["receiver.example"]);
  const network = (ca?: string) =>
    createPublicNetwork({
      resolve: async () => ["127.0.0.1"],
      // Stands for a public address.
      isAllowed: (address) => address === "127.0.0.1",
      ...(ca === undefined ? {} : { ca }),
    });

  it("lets messages pass over TLS, signed, to the name that the certificate has", async () => {
    const receiver = await startReceiver(certificate);
    const { port } = new URL(receiver.url);
    const id = await addWebhook(index.database, `https://receiver.example:${port}/hook`);
    const { service } = start({ network: network(certificate.cert) });
    receiver.expectSecret(() => service.signer.secretOf(id, 1));
    await index.extend([2, 1]);
    await expect.poll(() => receiver.ids, patiently).toEqual(chainIds());
    expect(receiver.problems).toEqual([]);
  });

  it.each([
    ["an authority that Node does not trust", "receiver.example", undefined, /self-signed|self signed/i],
    ["another name", "other.example", certificate.cert, /altname/i],
  ])("sends nothing to a receiver with a certificate of %s", async (_, host, ca, problem) => {
    const receiver = await startReceiver(certificate);
    const { port } = new URL(receiver.url);
    const id = await addWebhook(index.database, `https://${host}:${port}/hook`);
    start({ network: network(ca) });
    await index.extend([1]);
    await expect.poll(async () => (await readWebhook(index.database, id)).failures, patiently).toBe(1);
    expect((await readWebhook(index.database, id)).lastError).toMatch(problem);
    expect(receiver.attempts).toEqual([]);
  });
});

it("no secret is in the table or in the log, whatever a receiver sends back", async () => {
  const receiver = await startReceiver();
  const log = createLog({ level: "silent", terminal: false, name: "test" });
  const lines: string[] = [];
  log.info = log.warn = (...line: unknown[]) => void lines.push(JSON.stringify(line));
  receiver.behave((_, response) => {
    const { url, headers } = response.req;
    response.writeHead(500).end(`${url} ${JSON.stringify(headers)}`);
  });
  const id = await addWebhook(index.database, `${receiver.url}/s3cr3t-t0ken?key=an0ther-one`);
  const { service } = start({}, { log });
  await index.extend([1]);
  await expect.poll(async () => (await readWebhook(index.database, id)).failures, patiently).toBe(1);
  await expect.poll(() => lines.join(), patiently).toContain("webhook_failed");
  const { rows } = await index.database.query<{ row: string }>(
    "select to_jsonb(w)::text as row from (select * from webhooks) w",
  );
  const stored = rows[0]?.row ?? "";
  expect(stored).toContain("s3cr3t-t0ken");
  const shown = JSON.stringify({ ...(await readWebhook(index.database, id)), url: null }) + lines.join();
  for (const secret of ["s3cr3t-t0ken", "an0ther-one"]) expect(shown).not.toContain(secret);
  for (const text of [shown, stored]) expect(text).not.toContain(service.signer.secretOf(id, 1).slice(6));
});
