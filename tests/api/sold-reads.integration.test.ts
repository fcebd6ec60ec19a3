// Reads that are sold: real chain, contract, database and HTTP, paid by the stock client of x402 through a payment channel.
// In main, tests/payments/channel-purchases.test.ts sells by the same gate.
import { EventEmitter } from "node:events";
import { join } from "node:path";
import type { PaymentRequired, SettleResponse } from "@x402/core/types";
import { wrapFetchWithSIWx } from "@x402/extensions/sign-in-with-x";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSextant, type SextantOptions } from "../../packages/client/create-sextant.ts";
import { createMemoryJournal, type Journal } from "../../packages/client/journal/journal.ts";
import type { JournalRecord } from "../../packages/client/journal/records.ts";
import { openApiSale } from "../../src/api/sale/open-sale.ts";
import { FREE_PATHS, sellRoutes } from "../../src/api/sale/sold-routes.ts";
import { StoredBytes } from "../../src/api/sale/stored-bytes.ts";
import { openClient as openCommandClient } from "../../src/cli/client-settings.ts";
import { apiCommand } from "../../src/cli/commands/api.ts";
import { createToolSender } from "../../src/cli/tool-sender.ts";
import { apiSettings, writeSettings } from "../../src/config/indexing-settings.ts";
import { channelSettings, paymentSettings, paywallSettings } from "../../src/config/payment-settings.ts";
import { readConfig } from "../../src/config/read-config.ts";
import { listenSettings } from "../../src/config/service-settings.ts";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import { addEndpointRoutes } from "../../src/http/routes/endpoints.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { Secret } from "../../src/lib/secret.ts";
import { channelAuthorizer } from "../../src/payments/channels/configured-channels.ts";
import { createFacilitatorEndpoints } from "../../src/payments/facilitator/endpoints.ts";
import { createTestDatabase, formatConnectionUrl } from "../support/database/test-database.ts";
import { DeploymentFiles } from "../support/deployment-files.ts";
import { openApiClient } from "../support/http/api-client.ts";
import { NO_LIMITS } from "../support/http/no-limits.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { readSharedHistory } from "../support/index/simulated-history.ts";
import { channelConfigOf, createChannelClient, signVoucher } from "../support/payments/channel-client.ts";
import { openPaidBackend, type PaidBackend } from "../support/payments/paid-backend.ts";
import { decodeBase64Header, fetchWithPayment, signPaymentFor } from "../support/payments/paid-client.ts";
import { openPaidStage, type PaidStage } from "../support/payments/paid-stage.ts";
import { runSextantInProcess, startSextantInProcess } from "../support/process/run-in-process.ts";
import { startServiceCommand } from "../support/process/service-command.ts";
import { silentLog } from "../support/quiet-log.ts";
import { createTestKeys, isSignedFor } from "../support/signing/test-keys.ts";
import { createTestFolder } from "../support/test-folder.ts";

const CHANNEL_KEY = `0x${"7a".repeat(32)}` as const;
const PRICE = 250n;
const STREAM_MS = 1_500;
const STREAM = { accept: "text/event-stream" };

const limits = { ...NO_LIMITS, log: silentLog, bodyBytesMax: 262_144, requestMsMax: 30_000 };
const checkReadiness = async () => ({ ready: true }) as const;
const saleSettings = {
  ...{ ...apiSettings, ...paymentSettings, ...channelSettings, ...listenSettings },
  ...{ ...paywallSettings, publicBaseUrl: writeSettings.publicBaseUrl },
};

let place: Awaited<ReturnType<typeof createTestDatabase>>;
let backend: PaidBackend;
let stage: PaidStage;
let facilitator: Awaited<ReturnType<typeof serveFacilitator>>;
let opened: NonNullable<Awaited<ReturnType<typeof openSale>>>;
let free: TestApi;
let api: TestApi;

beforeAll(async () => {
  place = await createTestDatabase({ template: (await readSharedHistory()).template });
  backend = await openPaidBackend({ place });
  stage = await openPaidStage("in process", backend);
  facilitator = await serveFacilitator();
  opened = await openSale();
  free = await startTestApi(backend.database);
  api = await startTestApi(backend.database, { sale: { ...opened.sale, streamMs: STREAM_MS } });
});

afterAll(async () => {
  for (const each of [api, free]) await each?.close();
  opened?.close();
  await facilitator?.close();
  await stage?.close();
  await backend?.close();
});

async function serveFacilitator() {
  const { address } = channelAuthorizer(new Secret(CHANNEL_KEY));
  const rules = { ...stage.rules, payees: [stage.payTo], authorizers: [address] };
  const server = createHttpServer({ ...limits, checkReadiness });
  addEndpointRoutes(
    server.app,
    createFacilitatorEndpoints({ facilitator: stage.inProcess, rules, log: silentLog }),
  );
  const url = await server.listen({ host: "127.0.0.1", port: 0, portVariable: "TEST_PORT" });
  return { url, address, close: server.close };
}

const environment = () => ({
  API_PRICE_USD: "0.00025",
  PAYMENT_NETWORK: `eip155:${stage.chain.chainId}`,
  PAYMENT_RPC_URL: stage.chain.rpcUrl,
  PAYMENT_ASSET: stage.asset,
  PAYMENT_ASSET_NAME: "USD Coin",
  PAYMENT_ASSET_VERSION: "2",
  PAY_TO: stage.payTo,
  PAYMENT_CHANNELS: "true",
  PAYMENT_CHANNEL_KEY: CHANNEL_KEY,
  PAYMENT_CHANNEL_WITHDRAW_SECONDS: "900",
  PAYMENT_CHANNEL_CLAIM_SECONDS: "300",
  PAYMENT_CHANNEL_FREE_CALLS: "1",
  PORTFOLIO_UNPAID_PER_MINUTE: "0",
  FACILITATOR_URL: facilitator.url,
});

function openSale(
  changes: Readonly<Record<string, string | undefined>> = {},
  signed: Partial<Pick<Parameters<typeof openApiSale>[1], "listenUrl" | "signingKeys">> = {},
) {
  const given = Object.entries({ ...environment(), ...changes }).filter(([, value]) => value !== undefined);
  const config = readConfig(Object.fromEntries(given) as Record<string, string>, saleSettings);
  const needs = { database: backend.database, log: silentLog, count: () => undefined, onCall: null };
  const listenUrl = () => api?.url ?? "http://127.0.0.1:1";
  return openApiSale(config, { ...needs, listenUrl, ...signed }) as Promise<
    NonNullable<Awaited<ReturnType<typeof openApiSale>>>
  >;
}

const openClient = async () => createChannelClient(await stage.payer(), stage);
const requiredBy = (response: Response) => decodeBase64Header<PaymentRequired>(response, "payment-required");
const chargedFor = (response: Response) =>
  decodeBase64Header<SettleResponse>(response, "payment-response").extra?.chargedAmount;
const jsonOf = async <T>(url: string) => (await (await fetch(url)).json()) as T;
const textOf = async (url: string) => (await fetch(url)).text();
const documentOf = ({ url }: TestApi) => jsonOf<OpenApiDocument>(`${url}/openapi.json`);

describe("a read", () => {
  it("is offered by channel only, with its price in the sentence", async () => {
    const response = await fetch(`${api.url}/agents/1`);
    const required = requiredBy(response);
    expect([response.status, response.headers.get("x-error-code")]).toEqual([402, "PAYMENT_REQUIRED"]);
    expect(required.accepts.map(({ scheme, amount }) => [scheme, amount])).toEqual([
      ["batch-settlement", "250"],
    ]);
    expect(required.resource?.url).toBe(`${api.url}/agents/1`);
    const sentence =
      "Payment required: $0.00025 a request, which for a stream is a minute, by payment channel.";
    await expect(response.json()).resolves.toMatchObject({ error: sentence, accepts: required.accepts });
    expect((await fetch(`${api.url}/agents/1`, { method: "HEAD" })).status).toBe(402);
  });

  it("is served for a voucher with the bytes of a free one, and to no one else from the cache", async () => {
    const client = await openClient();
    for (const path of ["/agents/1", "/directory/agents?limit=3", "/events?from=genesis&limit=2"]) {
      const bought = await client.pay(api.url + path);
      expect([bought.status, chargedFor(bought)]).toEqual([200, String(PRICE)]);
      expect(await bought.text()).toBe(await textOf(free.url + path));
      expect(bought.headers.get("cache-control")).toBe("private, no-store");
      expect((await fetch(api.url + path)).status).toBe(402);
    }
    expect((await opened.channelTotals()).unclaimed).toBe(3n * PRICE);
  });

  it("is sold with its proofs for the same price, as another response than without them", async () => {
    const { pay } = await openClient();
    const path = "/agents/1?proof=1";
    expect((await fetch(api.url + path)).status).toBe(402);
    const bought = await pay(api.url + path);
    expect([bought.status, chargedFor(bought)]).toEqual([200, String(PRICE)]);
    expect(await jsonOf(free.url + path)).toEqual(await bought.json());
    expect(await textOf(`${free.url}/agents/1`)).not.toContain("proofs");
  });

  it("is sold with its proofs for a price of its own if that is set, and a list for the usual one", async () => {
    const priced = await openSale({ API_PROOF_PRICE_USD: "0.001" }, { listenUrl: () => dearer.url });
    const dearer = await startTestApi(backend.database, { sale: priced.sale });
    try {
      const { pay } = await openClient();
      const charges: unknown[] = [];
      for (const path of ["/agents/1?proof=1", "/agents/1", "/solvers?proof=1&limit=1"]) {
        const required = await fetch(dearer.url + path);
        const { error } = (await required.clone().json()) as { error: string };
        const bought = await pay(dearer.url + path);
        charges.push([
          requiredBy(required).accepts[0]?.amount,
          chargedFor(bought),
          error.includes("proof=1"),
        ]);
      }
      expect(charges).toEqual([
        ["1250", "1250", true],
        ["250", "250", false],
        ["250", "250", false],
      ]);
      const { paths } = await documentOf(dearer);
      expect(paths["/agents/{agentId}"]?.get?.description).toContain(
        "Costs $0.00025, and with `proof=1` $0.001 more.",
      );
      expect(paths["/solvers"]?.get?.description).toContain("Costs $0.00025.");
    } finally {
      await dearer.close();
      priced.close();
    }
  });

  it("is signed for its URL, with a receipt that names its block, once there are keys", async () => {
    const signingKeys = createTestKeys();
    const sale = await openSale({}, { signingKeys, listenUrl: () => signed.url });
    const signing = { keys: signingKeys, signsAll: false };
    const signed = await startTestApi(backend.database, { sale: sale.sale, signing });
    try {
      const keys = await jsonOf(`${signed.url}/.well-known/http-message-signatures-directory`);
      const url = `${signed.url}/agents/1`;
      const unpaid = await fetch(url);
      expect([unpaid.status, await isSignedFor(unpaid, { url, keys })]).toEqual([402, true]);
      expect(requiredBy(unpaid).extensions).toHaveProperty("offer-receipt");
      const bought = await (await openClient()).pay(url);
      expect(await isSignedFor(bought, { url, keys })).toBe(true);
      expect(bought.headers.get("cache-control")).toBe("private, no-store, no-transform");
      const { extensions } = decodeBase64Header<{ extensions: Record<string, { signature: string }> }>(
        bought,
        "payment-response",
      );
      const [, payload = ""] = (extensions["sextant-answer"]?.signature ?? "").split(".");
      expect(JSON.parse(Buffer.from(payload, "base64url").toString())).toMatchObject({
        request: { url },
        digest: bought.headers.get("content-digest"),
        blocks: [{ number: bought.headers.get("x-indexed-block") }],
        payment: { scheme: "batch-settlement", amount: String(PRICE) },
      });
    } finally {
      await signed.close();
      sale.close();
    }
  });

  it("is rejected for free if it is malformed, and not charged if there is no record", async () => {
    expect((await fetch(`${api.url}/directory/agents?limit=x`)).status).toBe(400);
    expect((await fetch(`${api.url}/agents/x`)).status).toBe(400);
    const client = await openClient();
    await client.pay(`${api.url}/agents/1`);
    const before = (await opened.channelTotals()).unclaimed;
    expect((await client.pay(`${api.url}/agents/999999`)).status).toBe(404);
    expect((await opened.channelTotals()).unclaimed).toBe(before);
  });

  it("has its response stored for minutes, after which its voucher buys nothing more", async () => {
    const client = await openClient();
    const url = `${api.url}/agents/1`;
    await client.pay(url);
    await client.pay(`${api.url}/agents/2`);
    const replay = async (at: number, path: string) =>
      (await fetchWithPayment(api.url + path, client.sent.at(at) ?? "")).status;
    const owed = (await opened.channelTotals()).unclaimed;
    const isFirst = `channel_id = (select channel_id from channel_purchases order by created_at desc limit 1)
      and fingerprint <> (select fingerprint from channel_purchases order by created_at desc limit 1)`;
    const { rows: kept } = await backend.database.query<{ seconds: number }>(
      `select extract(epoch from answer_until - created_at)::int as seconds from channel_purchases where ${isFirst}`,
    );
    expect(kept).toEqual([{ seconds: 300 }]);
    await opened.gate.reconcile();
    expect(await replay(-2, "/agents/1")).toBe(200);
    await backend.database.query(`update channel_purchases set answer_until = now() where ${isFirst}`);
    await opened.gate.reconcile();
    expect([await replay(-2, "/agents/1"), await replay(-1, "/agents/2")]).toEqual([409, 200]);
    const { rows } = await backend.database.query<{ bytes: number }>(
      `select octet_length(answer_body) as bytes from channel_purchases where ${isFirst}`,
    );
    expect(rows).toEqual([{ bytes: 0 }]);
    expect((await opened.channelTotals()).unclaimed).toBe(owed);
  });

  it("is charged once for one voucher that two processes get at once, and both respond", async () => {
    const other = await openSale();
    const second = await startTestApi(backend.database, { sale: other.sale });
    try {
      const payer = await stage.payer();
      await createChannelClient(payer, stage).pay(`${api.url}/agents/1`);
      const parties = { receiver: stage.payTo, token: stage.asset, receiverAuthorizer: facilitator.address };
      const header = await signVoucher(
        `${api.url}/agents/2`,
        payer,
        channelConfigOf(payer, parties),
        2n * PRICE,
      );
      const owed = (await opened.channelTotals()).unclaimed;
      const sent = [api, second, api, second].map(({ url }) => fetchWithPayment(`${url}/agents/2`, header));
      const responses = await Promise.all(sent);
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const texts = await Promise.all(responses.map((each) => each.text()));
      expect(new Set(texts)).toEqual(new Set([await textOf(`${free.url}/agents/2`)]));
      expect((await opened.channelTotals()).unclaimed).toBe(owed + PRICE);
    } finally {
      await second.close();
      other.close();
    }
  });

  it("is paid for at its own deployment only, below the path of the public URL", async () => {
    const publicUrl = "https://sextant.example/index";
    const other = await openSale({ PUBLIC_BASE_URL: publicUrl });
    const sale = { ...other.sale, publicUrl: () => `${publicUrl}/d/other` };
    const second = await startTestApi(backend.database, { sale });
    try {
      const { resource } = requiredBy(await fetch(`${second.url}/directory/agents?limit=2`));
      expect(resource?.url).toBe(`${publicUrl}/d/other/directory/agents?limit=2`);
      const client = await openClient();
      for (const [sold, unsold] of [
        [api, second],
        [second, api],
      ] as const) {
        expect((await client.pay(`${sold.url}/agents/1`)).status).toBe(200);
        const voucher = client.sent.at(-1) ?? "";
        expect((await fetchWithPayment(`${unsold.url}/agents/1`, voucher)).status).toBe(402);
        expect((await fetchWithPayment(`${sold.url}/agents/1`, voucher)).status).toBe(200);
      }
    } finally {
      await second.close();
      other.close();
    }
  });

  it("takes no transfer and no voucher of another request", async () => {
    const client = await openClient();
    await client.pay(`${api.url}/agents/1`);
    const [, header = ""] = [null, client.sent.at(-1)];
    expect((await fetchWithPayment(`${api.url}/agents/1`, header)).status).toBe(200);
    expect((await fetchWithPayment(`${api.url}/agents/2`, header)).status).toBe(402);
    const account = await stage.payer();
    const sold = await stage.serve();
    const transfer = await signPaymentFor(`${sold.url}/paid?q=a`, account, stage.asset);
    const refused = await fetchWithPayment(`${api.url}/agents/1`, transfer.header);
    expect([refused.status, requiredBy(refused).error]).toEqual([
      402,
      'Only the scheme "batch-settlement" is accepted.',
    ]);
    expect(await stage.transfersFrom(account.address)).toEqual([]);
  });

  it("is served again to its payer that signs in, and a stream is not", async () => {
    const payer = await stage.payer();
    const url = `${api.url}/agents/2`;
    const bought = await createChannelClient(payer, stage).pay(url);
    const again = await wrapFetchWithSIWx(fetch, payer)(url);
    expect([again.status, await again.text()]).toEqual([200, await bought.text()]);
    const stream = `${api.url}/events`;
    await (await createChannelClient(payer, stage).pay(stream, { headers: STREAM })).body?.cancel();
    const refused = await wrapFetchWithSIWx(fetch, payer)(stream, { headers: STREAM });
    expect([refused.status, requiredBy(refused).error]).toEqual([402, expect.stringMatching(/^Payment req/)]);
  });

  it("is free within the payer's quota, which the terms name", async () => {
    const payer = await stage.payer();
    await createChannelClient(payer, stage).pay(`${api.url}/agents/1`);
    const parties = { receiver: stage.payTo, token: stage.asset, receiverAuthorizer: facilitator.address };
    const config = channelConfigOf(payer, parties);
    const extensions = { "payment-identifier": { info: { required: false, id: "a-free-read-of-an-agent" } } };
    const header = await signVoucher(`${api.url}/agents/2`, payer, config, 2n * PRICE, { extensions });
    expect(chargedFor(await fetchWithPayment(`${api.url}/agents/2`, header))).toBe("0");
    const { accepts } = requiredBy(await fetch(`${api.url}/agents/1`));
    expect(accepts[0]?.extra).toMatchObject({ freeCallsPerHour: 1 });
  });
});

describe("a stream", () => {
  const messagesOf = (text: string) => [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name);

  it("ends after the time of its payment with a message that says to pay again", async () => {
    const client = await openClient();
    const url = `${api.url}/events?from=genesis`;
    expect((await fetch(url, { headers: STREAM })).status).toBe(402);
    const startedMs = performance.now();
    const stream = await client.pay(url, { headers: STREAM });
    expect([stream.status, chargedFor(stream)]).toEqual([200, String(PRICE)]);
    expect(requiredBy(await fetch(url, { headers: STREAM })).resource?.url).toBe(
      `${api.url}/events?from=genesis`,
    );
    expect(stream.headers.get("content-type")).toContain("text/event-stream");
    const text = await stream.text();
    expect(performance.now() - startedMs).toBeGreaterThan(STREAM_MS / 2);
    expect(text).toMatch(/^id: [\w-]{100,}$/m);
    expect(messagesOf(text).at(-1)).toBe("ended");
    expect(text).toContain('"code":"PAYMENT_REQUIRED"');
    // The same payment buys neither a second time nor another position, and a page is another request.
    const again = await fetchWithPayment(url, client.sent.at(-1) ?? "", { headers: STREAM });
    expect(messagesOf(await again.text())).toEqual(["ended"]);
    const lastId = /^id: ([\w-]{100,})$/m.exec(text)?.[1] ?? "";
    for (const headers of [{ ...STREAM, "last-event-id": lastId }, {}]) {
      expect((await fetchWithPayment(url, client.sent.at(-1) ?? "", { headers })).status).toBe(402);
    }
    // A key of the query is not the header of that name.
    const next = await client.pay(url, { headers: { ...STREAM, "last-event-id": lastId } });
    const named = `${url}&last-event-id=${lastId}`;
    const other = await fetchWithPayment(named, client.sent.at(-1) ?? "", { headers: STREAM });
    expect([next.status, other.status]).toEqual([200, 402]);
    for (const each of [next, other]) await each.body?.cancel();
  });

  it("opens again for its payment after it broke off, until the time is over", async () => {
    const client = await openClient();
    const url = `${api.url}/events?from=genesis`;
    const first = await client.pay(url, { headers: STREAM });
    await first.body?.cancel();
    const before = (await opened.channelTotals()).unclaimed;
    const again = await fetchWithPayment(url, client.sent.at(-1) ?? "", { headers: STREAM });
    const text = await again.text();
    expect(text).toMatch(/^id: [\w-]{100,}$/m);
    expect(messagesOf(text).at(-1)).toBe("ended");
    expect((await opened.channelTotals()).unclaimed).toBe(before);
  });
});

describe("the limits of streams", () => {
  const eventStreams = { streamsPerClientMax: 2 };
  const open = async (client: Awaited<ReturnType<typeof openClient>>, url: string) =>
    client.pay(`${url}/events?from=genesis`, { headers: STREAM });

  it("streams beyond them are not charged, also when many are paid for at once", async () => {
    const limited = await startTestApi(backend.database, {
      ...{ eventStreams, sale: { ...opened.sale, streamMs: 20_000 } },
    });
    try {
      const clients = await Promise.all(Array.from({ length: 5 }, openClient));
      for (const client of clients) await client.pay(`${limited.url}/agents/1`);
      const before = (await opened.channelTotals()).unclaimed;
      const streams = await Promise.all(clients.map((client) => open(client, limited.url)));
      expect(streams.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429, 429]);
      const charged = (await opened.channelTotals()).unclaimed - before;
      expect(charged).toBe(2n * PRICE);
      for (const each of streams) await each.body?.cancel();
    } finally {
      await limited.close();
    }
  });

  it("one payment has one stream open at a time: the newest", async () => {
    const long = await startTestApi(backend.database, { sale: { ...opened.sale, streamMs: 20_000 } });
    try {
      const client = await openClient();
      const first = await open(client, long.url);
      const voucher = client.sent.at(-1) ?? "";
      const send = () => fetchWithPayment(`${long.url}/events?from=genesis`, voucher, { headers: STREAM });
      const second = await send();
      expect(await first.text()).toMatch(/event: ended\ndata: \{"code":"PAYMENT_CONFLICT"/);
      const third = await send();
      expect(await second.text()).toContain("PAYMENT_CONFLICT");
      const [chunk] = [await third.body?.getReader().read()];
      expect(Buffer.from(chunk?.value ?? []).toString()).not.toContain("event: ended");
    } finally {
      await long.close();
    }
  });
});

describe("a stream of a payment that is sent again", () => {
  const url = (api: TestApi) => `${api.url}/events?from=genesis`;
  const endOf = (text: string) => /^event: ended\ndata: (.*)$/m.exec(text)?.[1] ?? null;

  it("takes the slot of the one that it replaces", async () => {
    const limited = await startTestApi(backend.database, {
      ...{ eventStreams: { streamsPerClientMax: 1 }, sale: { ...opened.sale, streamMs: 20_000 } },
    });
    try {
      const client = await openClient();
      const first = await client.pay(url(limited), { headers: STREAM });
      const voucher = client.sent.at(-1) ?? "";
      const others = await openClient();
      expect((await others.pay(url(limited), { headers: STREAM })).status).toBe(429);
      const [other = ""] = others.sent;
      expect((await fetchWithPayment(url(limited), other, { headers: STREAM })).status).toBe(429);
      const again = await fetchWithPayment(url(limited), voucher, { headers: STREAM });
      expect(again.status).toBe(200);
      expect(endOf(await first.text())).toContain("PAYMENT_CONFLICT");
      await again.body?.cancel();
    } finally {
      await limited.close();
    }
  });

  it("leaves the open one alone if its client disconnects while it is charged", async () => {
    const held = { ms: 0 };
    const { read } = opened.sale;
    const slow: typeof read = {
      ...read,
      async serve(...args) {
        const response = await read.serve(...args);
        await new Promise((resolve) => setTimeout(resolve, held.ms));
        return response;
      },
    };
    const sale = { ...opened.sale, read: slow, streamMs: 3_000 };
    const service = await startTestApi(backend.database, { sale });
    try {
      const client = await openClient();
      const first = await client.pay(url(service), { headers: STREAM });
      held.ms = 400;
      const leaving = new AbortController();
      const { signal } = leaving;
      const again = fetchWithPayment(url(service), client.sent.at(-1) ?? "", { headers: STREAM, signal });
      setTimeout(() => leaving.abort(), 150);
      await expect(again).rejects.toThrow();
      expect(endOf(await first.text())).toContain("PAYMENT_REQUIRED");
    } finally {
      await service.close();
    }
  });
});

describe("the space for responses", () => {
  it("ends before anything is charged, and replays need none", async () => {
    const stored = new StoredBytes({ bytesMax: 1_500, bodyBytesMax: 700, storedMs: 300_000 });
    const full = await startTestApi(backend.database, { sale: { ...opened.sale, stored } });
    try {
      const client = await openClient();
      const statuses: number[] = [];
      for (let id = 1; id <= 6; id += 1) {
        const response = await client.pay(`${full.url}/agents/${id}`);
        statuses.push(response.status);
        if (response.status !== 503) continue;
        expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(200);
        await expect(response.json()).resolves.toMatchObject({
          error: expect.stringMatching(
            /^(The|This signer's share of the) space for stored responses of sold reads is full, and nothing was charged; send the same signature again in \d{3} seconds\.$/,
          ),
        });
        break;
      }
      const sold = statuses.filter((status) => status === 200).length;
      expect([statuses[0], statuses.at(-1), sold > 0]).toEqual([200, 503, true]);
      // No read runs for a response that could not be stored: this one would find nothing.
      expect((await client.pay(`${full.url}/agents/999999`)).status).toBe(503);
      const [first = ""] = client.sent;
      const before = (await opened.channelTotals()).unclaimed;
      expect((await fetchWithPayment(`${full.url}/agents/1`, first)).status).toBe(200);
      expect((await opened.channelTotals()).unclaimed).toBe(before);
    } finally {
      await full.close();
    }
  });
});

describe("our client", () => {
  /** The client of a payer, with the lines of its journal; a lost response is one that does not arrive. */
  async function openBuyer(options: Partial<SextantOptions> = {}, lines: readonly JournalRecord[] = []) {
    const account = await stage.payer();
    const wire = { isLosing: false, paid: 0 };
    const reader = await openReader(account, { ...options, fetch: losingFetch(wire) }, lines);
    return { account, wire, ...reader };
  }

  async function openReader(
    account: Awaited<ReturnType<typeof stage.payer>>,
    options: Partial<SextantOptions>,
    lines: readonly JournalRecord[],
  ) {
    const written: JournalRecord[] = [];
    const memory = createMemoryJournal();
    const journal: Journal = {
      read: memory.read,
      exclusive: (act) =>
        memory.exclusive((book, append) =>
          act(book, async (record, how) => {
            await append(record, how);
            written.push(record);
          }),
        ),
    };
    await journal.exclusive(async (_, append) => {
      for (const line of lines) await append(line, { durable: true });
    });
    const payments = { network: "eip155:31337", asset: stage.asset, payees: [stage.payTo] } as const;
    const receipts: bigint[] = [];
    const sextant = createSextant({
      ...{ api: api.url, payer: account, journal, guard: { ...payments, node: stage.chain.rpcUrl } },
      ...{ channel: { deposit: "0.1" }, attemptsMax: 1 },
      onPaid: ({ amount }) => receipts.push(amount),
      ...options,
    });
    return { sextant, journal, receipts, written };
  }

  function losingFetch(wire: { isLosing: boolean; paid: number }): typeof fetch {
    return async (input, init) => {
      const response = await fetch(input, init);
      const isPaid = new Headers(init?.headers).has("payment-signature");
      if (isPaid) wire.paid += 1;
      if (isPaid && wire.isLosing) throw new TypeError("lost");
      return response;
    };
  }

  const owed = async () => (await opened.channelTotals()).unclaimed;

  it("reads records, lists, documents and states of a time by one channel, as if they were free", async () => {
    const before = await owed();
    const { sextant, receipts } = await openBuyer();
    const unpaid = createSextant({ api: free.url });
    await expect(sextant.getAgent({ agentId: 1n })).resolves.toEqual(await unpaid.getAgent({ agentId: 1n }));
    await expect(sextant.listIntents({ limit: 2 }).take(5)).resolves.toEqual(
      await unpaid.listIntents({ limit: 2 }).take(5),
    );
    const { block_number: head } = await sextant.getHead();
    const then = await sextant.at(BigInt(String(head)) - 1n).getAgent({ agentId: 1n });
    expect(then.agent_id).toBe("1");
    await expect(sextant.getAgent({ agentId: 999_999n })).rejects.toMatchObject({
      ...{ code: "NOT_FOUND", payment: null },
    });
    // The default quota of the stage makes one call free.
    expect([receipts.length, receipts.filter((amount) => amount === 0n).length]).toEqual([6, 1]);
    const [channel, ...others] = await sextant.channels.list();
    expect([others, channel?.deposited, channel?.bought]).toEqual([[], 100_000n, (await owed()) - before]);
    expect((await sextant.payments.budget()).spent.total).toBe("0.1");
  });

  /** The environment of commands, with a key that has money. */
  async function openPayer() {
    const privateKey = generatePrivateKey();
    await stage.mint(privateKeyToAccount(privateKey).address, 1_000_000n);
    const folder = await createTestFolder();
    const environment = {
      ...{ SEXTANT_API_URL: api.url, SEXTANT_DATA: "/nowhere", SEXTANT_PAYER_KEY: privateKey },
      ...{ SEXTANT_GUARD_NETWORK: "eip155:31337", SEXTANT_GUARD_ASSET: stage.asset },
      ...{ SEXTANT_GUARD_PAYEES: stage.payTo, SEXTANT_JOURNAL: join(folder, "payments.jsonl") },
      NO_COLOR: "1",
    };
    return { environment };
  }

  it("pays for commands and tools within the settings, and says what they paid", async () => {
    const { environment } = await openPayer();
    const paying = { ...environment, SEXTANT_CHANNEL_DEPOSIT: "0.1" };
    const unpaid = await runSextantInProcess(["get", "agents/1", "--json"], environment);
    expect([unpaid.code, unpaid.out]).toEqual([4, ""]);
    expect(unpaid.err).toContain("SEXTANT_CHANNEL_DEPOSIT");
    const dear = await runSextantInProcess(["get", "agents/1", "--max", "0.0001"], paying);
    expect([dear.code, dear.err]).toEqual([3, expect.stringContaining("above --max 0.0001")]);
    const got = await runSextantInProcess(["get", "agents/1", "--json"], paying);
    expect([got.code, JSON.parse(got.out)]).toEqual([0, await jsonOf(`${free.url}/agents/1`)]);
    expect(got.err).toMatch(/^Paid \$0\.00025 by 0x\w+ on eip155:31337 in transaction 0x\w+\n$/);
    const listed = await runSextantInProcess(["list", "intents", "--all", "--json"], paying);
    expect(listed.code).toBe(0);
    expect(listed.err).toMatch(/^(Paid|Nothing)/);
    const missing = await runSextantInProcess(["get", "agents/999999"], paying);
    expect(missing.code).toBe(2);
    const tooDear = await runSextantInProcess(["watch", "--max", "0.0001"], paying);
    expect([tooDear.code, tooDear.err]).toEqual([3, expect.stringContaining("above --max 0.0001")]);
    const keyboard = new EventEmitter();
    const watch = ["watch", "--from", "genesis", "--json"];
    const watching = startSextantInProcess(watch, paying, undefined, null, keyboard);
    await expect.poll(() => watching.written.out, { timeout: 15_000 }).toContain("\n");
    keyboard.emit("SIGINT", "SIGINT");
    const watched = await watching.ended;
    expect([watched.code, watched.err]).toEqual([0, expect.stringMatching(/Paid \$0\.00\d* by 0x\w+ on /)]);
    const client = openCommandClient(paying, { needs: [] });
    const read = { operation: "getAgent", method: "GET", url: "/agents/1", body: null } as const;
    const options = { payment: null, signal: new AbortController().signal };
    const before = await owed();
    const sent = await createToolSender(client)({ ...read, parameters: { agentId: "1" } }, options);
    expect([sent.status, JSON.parse(sent.body)]).toEqual([200, await jsonOf(`${free.url}/agents/1`)]);
    expect((await owed()) - before).toBeLessThanOrEqual(PRICE);
    expect((await client.sextant.channels.list()).length).toBe(1);
    await client.close();
  });

  it("signs nothing without a channel, above a limit, or for a payee that the guard does not have", async () => {
    const before = await owed();
    const { sextant: plain, wire } = await openBuyer();
    const unable = createSextant({ api: api.url });
    await expect(unable.getAgent({ agentId: 1n })).rejects.toMatchObject({
      code: "PAYMENT_REQUIRED",
      message: expect.stringContaining("Nothing was paid: reads are bought by a client that has"),
    });
    const guards = [
      { perPayment: "0.0001", payees: [stage.payTo] },
      { payees: [stage.asset] },
      { perHour: "0.05", payees: [stage.payTo] },
      { payees: [stage.payTo], origin: "https://sextant.example" },
    ];
    const codes: unknown[] = [];
    for (const guard of guards) {
      const network = { network: "eip155:31337", asset: stage.asset } as const;
      const { sextant, written } = await openBuyer({ guard: { ...network, ...guard } });
      codes.push(await sextant.getAgent({ agentId: 1n }).catch(({ code }) => code));
      expect(written).toEqual([]);
    }
    expect(codes).toEqual(["TERMS_REJECTED", "TERMS_REJECTED", "LIMIT_EXCEEDED", "TERMS_REJECTED"]);
    expect([wire.paid, await owed()]).toEqual([0, before]);
    await plain.getIntegrity();
    expect(wire.paid).toBe(0);
  });

  it("gets a read whose response was lost without paying again, and never an older state than it has seen", async () => {
    const { sextant, wire } = await openBuyer();
    await sextant.getAgent({ agentId: 1n });
    const before = await owed();
    wire.isLosing = true;
    await expect(sextant.getAgent({ agentId: 2n })).rejects.toMatchObject({ charged: "unknown" });
    wire.isLosing = false;
    await expect(sextant.getAgent({ agentId: 2n })).resolves.toMatchObject({ agent_id: "2" });
    expect((await owed()) - before).toBeLessThanOrEqual(PRICE);
  });

  it("watches by the minute, each bought from where the one before has ended, and signs nothing above a limit", async () => {
    const short = await startTestApi(backend.database, { sale: { ...opened.sale, streamMs: 700 } });
    try {
      const before = await owed();
      const { sextant, receipts } = await openBuyer({ api: short.url });
      const events: string[] = [];
      const stop = new AbortController();
      const collect = async () => {
        for await (const item of sextant.watch({}, { from: "genesis", signal: stop.signal })) {
          if (item.kind === "event") events.push(item.event.id);
        }
      };
      const collecting = expect(collect()).rejects.toMatchObject({ code: "ABORTED" });
      await expect.poll(() => receipts.length, { timeout: 20_000 }).toBe(3);
      // A service that sells moments sells no more of them within the minute.
      await new Promise((resolve) => setTimeout(resolve, 4_000));
      expect(receipts).toHaveLength(3);
      stop.abort();
      await collecting;
      const expected: string[] = [];
      for await (const item of createSextant({ api: free.url }).watch({}, { from: "genesis" })) {
        if (item.kind !== "event") break;
        expected.push(item.event.id);
      }
      expect(events).toEqual(expected);
      const paid = receipts.reduce((sum, amount) => sum + amount, 0n);
      expect((await owed()) - before).toBe(paid);
      expect((await sextant.channels.list())[0]?.bought).toBe(paid);
      // A read goes on from the same sum.
      await expect(sextant.getAgent({ agentId: 1n })).resolves.toMatchObject({ agent_id: "1" });
      const payments = { network: "eip155:31337", asset: stage.asset, payees: [stage.payTo] } as const;
      const guarded = await openBuyer({ api: short.url, guard: { ...payments, perPayment: "0.0001" } });
      const unable = createSextant({ api: short.url });
      for (const [client, message] of [
        [guarded.sextant, "guard.perPayment"],
        [unable, "Nothing was paid"],
      ] as const) {
        const next = client.watch({}, { from: "genesis" }).next();
        await expect(next).rejects.toThrow(message);
      }
      expect(guarded.written).toEqual([]);
    } finally {
      await short.close();
    }
  });

  it("ends a list and a watch of a command once they have cost as much as --max together", async () => {
    const short = await startTestApi(backend.database, { sale: { ...opened.sale, streamMs: 700 } });
    try {
      const { environment } = await openPayer();
      const paying = { ...environment, SEXTANT_API_URL: short.url, SEXTANT_CHANNEL_DEPOSIT: "0.1" };
      // Takes what is free.
      await runSextantInProcess(["get", "agents/1"], paying);
      for (const command of [
        ["list", "events", "--all", "--limit", "2", "--json"],
        ["watch", "--from", "genesis", "--json"],
      ]) {
        const before = await owed();
        const ended = await runSextantInProcess([...command, "--max", "0.0006"], paying);
        expect([ended.code, ended.err]).toEqual([3, expect.stringContaining("exceed --max 0.0006")]);
        expect(ended.err).toMatch(/Paid \$0\.0005 for \d requests by 0x\w+ on /);
        expect(ended.out).not.toBe("");
        expect((await owed()) - before).toBe(2n * PRICE);
      }
    } finally {
      await short.close();
    }
  });

  it("goes on after a stream whose start was lost, which is asked for as a stream again", async () => {
    const { sextant, wire } = await openBuyer();
    await sextant.getAgent({ agentId: 1n });
    await sextant.getAgent({ agentId: 3n });
    const before = await owed();
    wire.isLosing = true;
    await expect(sextant.watch({}, { from: "genesis" }).next()).rejects.toMatchObject({ charged: "unknown" });
    wire.isLosing = false;
    await expect(sextant.getAgent({ agentId: 2n })).resolves.toMatchObject({ agent_id: "2" });
    expect((await owed()) - before).toBe(2n * PRICE);
    expect((await sextant.channels.list())[0]).toMatchObject({ state: "open" });
    for await (const item of sextant.watch({}, { from: "genesis" })) {
      expect(item.kind).toBe("event");
      break;
    }
    // The minute that was paid for is not over.
    expect((await owed()) - before).toBe(2n * PRICE);
  });

  it("goes on after a read that was charged is no longer stored, and calls the channel disputed if that is often", async () => {
    const { account, sextant, wire, written } = await openBuyer();
    await sextant.getAgent({ agentId: 1n });
    await sextant.getAgent({ agentId: 3n });
    let lines = written;
    let later = sextant;
    for (let lost = 1; lost <= 9; lost += 1) {
      wire.isLosing = true;
      await later.getAgent({ agentId: 2n }).catch(() => undefined);
      wire.isLosing = false;
      const old = lines.map((line) => ({ ...line, at: line.at - 301_000 }));
      await backend.database.query("update channel_purchases set answer_until = now()");
      await opened.gate.reconcile();
      const next = await openReader(account, { fetch: losingFetch(wire) }, old);
      [later, lines] = [next.sextant, next.written];
      const reading = later.getAgent({ agentId: 2n });
      if (lost === 9) await expect(reading).rejects.toMatchObject({ code: "TERMS_REJECTED" });
      else await expect(reading).resolves.toMatchObject({ agent_id: "2" });
    }
    const [channel] = await later.channels.list();
    expect(channel?.state).toBe("disputed");
  });
});

describe("an export", () => {
  it("costs ten reads as CSV of the explorer, and one read as lines of events", async () => {
    const client = await openClient();
    const path = "/explorer/agents.csv";
    expect(requiredBy(await fetch(api.url + path)).accepts[0]?.amount).toBe(String(10n * PRICE));
    const file = await client.pay(api.url + path, { headers: { "accept-encoding": "gzip" } });
    expect([file.status, chargedFor(file)]).toEqual([200, String(10n * PRICE)]);
    expect(await file.text()).toBe(await textOf(free.url + path));
    const time = (await fetch(`${free.url}/agents/1`)).headers.get("x-indexed-time") ?? "";
    const dated = await fetch(`${api.url + path}?at=${time.slice(0, 16)}Z`, { redirect: "manual" });
    expect([dated.status, dated.headers.get("location")]).toEqual([
      303,
      expect.stringMatching(/^\/explorer\/agents\.csv\?block=/),
    ]);
    // A form that sends an empty time asks for the file.
    expect((await fetch(`${api.url + path}?at=`)).status).toBe(402);
    const accept = "application/x-ndjson";
    const lines = await client.pay(`${api.url}/events?from=genesis&limit=5`, { headers: { accept } });
    expect([lines.headers.get("content-type"), chargedFor(lines)]).toEqual([
      "application/x-ndjson; charset=utf-8",
      String(PRICE),
    ]);
  });
});

describe("what stays free", () => {
  const FREE_GETS = [
    ...["/", "/health", "/ready", "/metrics", "/openapi.json", "/docs", "/llms.txt", "/robots.txt"],
    ...["/favicon.svg", "/favicon.ico", "/deployments", "/integrity", "/verify", "/webhooks/:id"],
  ];

  it("every GET route is sold in the OpenAPI document, or in the list of free ones", async () => {
    const { paths } = await documentOf(api);
    const sold = Object.entries(paths).flatMap(([path, { get }]) =>
      get?.responses[402] === undefined ? [] : [path.replace(/\{(\w+)\}/g, ":$1")],
    );
    const gets = api.routes.flatMap((route) => (route.startsWith("GET ") ? [route.slice(4)] : []));
    const isPage = (path: string) => /^\/explorer(\/|$)/.test(path) && !path.endsWith(".csv");
    const others = gets.filter((path) => !sold.includes(path) && !isPage(path) && !path.endsWith(".csv"));
    expect(sold.length).toBeGreaterThan(30);
    expect(others.sort()).toEqual(FREE_GETS.sort());
    expect([...FREE_PATHS].filter((path) => !gets.includes(path))).toEqual([]);
    const files = gets.filter((path) => path.endsWith(".csv") && !path.includes(":"));
    for (const path of files) expect((await fetch(api.url + path)).status, path).toBe(402);
    for (const path of [
      "/ready",
      "/health",
      "/openapi.json",
      "/docs",
      "/llms.txt",
      "/integrity",
      "/deployments",
    ])
      expect((await fetch(api.url + path)).status, path).toBe(200);
  });

  it("every list that the document prices responds 402", async () => {
    const { paths } = await documentOf(api);
    const lists = Object.entries(paths).filter(([path, { get }]) => {
      const required = get?.parameters.some((each) => each.required) ?? false;
      return get?.responses[402] !== undefined && !required && !path.includes("{");
    });
    expect(lists.length).toBeGreaterThan(10);
    for (const [path] of lists) expect((await fetch(api.url + path)).status, path).toBe(402);
  });

  it("a route that is neither sold nor free does not start", async () => {
    const { app } = createHttpServer({ ...limits, checkReadiness });
    sellRoutes(app, [], { ...opened.sale, publicUrl: () => "http://127.0.0.1" });
    expect(() => app.get("/new", async () => ({}))).toThrow("/new is neither sold nor free");
    await app.close();
  });

  it("pages of the explorer show what they read", async () => {
    for (const path of ["/explorer", "/explorer/agents", "/explorer/agents/1", "/explorer/events"]) {
      const page = await fetch(api.url + path);
      expect([page.status, page.headers.get("content-type")], path).toEqual([
        200,
        "text/html; charset=utf-8",
      ]);
    }
    expect(await textOf(`${api.url}/explorer/agents`)).toMatch(/href="\/explorer\/agents\/\d+"/);
  });

  it("tools read only what is free, and say where the rest is sold", async () => {
    const call = async (name: string, args: object) => {
      const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
      const response = await fetch(`${api.url}/mcp`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(message),
      });
      return ((await response.json()) as { result: { isError?: boolean; content: [{ text: string }] } })
        .result;
    };
    const refused = await call("get_agent", { agentId: "1" });
    expect(refused.isError).toBe(true);
    expect(refused.content[0].text).toContain(
      `tools do not pay: GET ${api.url}/agents/1 with a client of x402`,
    );
    expect((await call("get_integrity", {})).isError).toBeUndefined();
  });
});

describe("sextant api", () => {
  it("reads the settings of payments only if there is a price", async () => {
    const start = (given: Readonly<Record<string, string>>) =>
      startServiceCommand(apiCommand, { PAYMENT_CHANNEL_KEY: "no key", PAYMENT_NETWORK: "base", ...given })
        .ended;
    await expect(start({ DATABASE_URL: "" })).rejects.toThrow(/^DATABASE_URL must be [^\n]+$/);
    await expect(start({ API_PRICE_USD: "0.00025" })).rejects.toThrow(
      /PAYMENT_NETWORK must be .*\nPAYMENT_CHANNEL_KEY must be/,
    );
  });

  it("sells with the settings of its environment, and shows its sales and its debts", async () => {
    const { deployment, rpcUrl } = await readSharedHistory();
    const files = await DeploymentFiles.create();
    const service = startServiceCommand(apiCommand, {
      ...environment(),
      DATABASE_URL: formatConnectionUrl(place.connection),
      NETWORK: await files.write(deployment),
      RPC_URL: rpcUrl,
      API_PORT: "0",
      SEXTANT_METRICS_PORT: "shared",
    });
    const url = await service.listening();
    const client = await openClient();
    const bought = await client.pay(`${url}/agents/1`);
    expect([bought.status, chargedFor(bought)]).toEqual([200, String(PRICE)]);
    expect(requiredBy(await fetch(`${url}/agents/2`)).resource?.url).toBe(`${url}/agents/2`);
    const metrics = await textOf(`${url}/metrics`);
    expect(metrics).toContain('sextant_payments_total{outcome="settled"} 1');
    expect(metrics).toMatch(/^sextant_channels_unclaimed 0\.0\d+$/m);
    service.stop.abort();
    await expect(service.ended).resolves.toBe(0);
    await files.remove();
  });
});

describe("sextant api with several deployments", () => {
  it("sells each at its own path from one ledger, and a read that fails at one costs nothing", async () => {
    const { deployment, rpcUrl } = await readSharedHistory();
    const files = await DeploymentFiles.create();
    const service = startServiceCommand(apiCommand, {
      ...environment(),
      DATABASE_URL: formatConnectionUrl(place.connection),
      NETWORK: await files.write(deployment),
      DEPLOYMENTS: await files.write({ ...deployment, network: "second-one" }),
      RPC_URL: rpcUrl,
      API_PORT: "0",
      SEXTANT_METRICS_PORT: "shared",
    });
    const url = await service.listening();
    const second = `${url}/d/second-one`;
    expect(requiredBy(await fetch(`${second}/directory/agents`)).resource?.url).toBe(
      `${second}/directory/agents`,
    );
    const client = await openClient();
    const before = (await opened.channelTotals()).unclaimed;
    expect((await client.pay(`${url}/directory/agents`)).status).toBe(200);
    const voucher = client.sent.at(-1) ?? "";
    // A payment at one deployment opens nothing at the other.
    expect((await fetchWithPayment(`${second}/directory/agents`, voucher)).status).toBe(402);
    const other = await client.pay(`${second}/directory/agents`);
    // Nothing has been indexed there: the failure costs nothing, and the channel goes on.
    expect(other.status).toBe(503);
    expect((await client.pay(`${url}/agents/1`)).status).toBe(200);
    expect((await opened.channelTotals()).unclaimed - before).toBe(2n * PRICE);
    service.stop.abort();
    await expect(service.ended).resolves.toBe(0);
    await files.remove();
  });
});

describe("the price", () => {
  it("is in the document, its page and the text for models, and its routes respond as described", async () => {
    const { info, paths } = await documentOf(api);
    expect(info.description).toContain("Reads cost $0.00025 a request");
    expect(paths["/agents/{agentId}"]?.get).toMatchObject({
      security: [{}, { x402: [] }],
      "x-payment-info": { price: { mode: "fixed", amount: "0.00025", currency: "USD" } },
    });
    for (const path of ["/docs", "/llms.txt"]) expect(await textOf(api.url + path)).toContain("$0.00025");
    const client = await openApiClient(api.url);
    expect((await client.call("/agents/1")).status).toBe(402);
    const payer = await openClient();
    await payer.pay(`${api.url}/agents/1`);
    const headers = { "payment-signature": payer.sent.at(-1) ?? "" };
    expect((await client.call("/agents/1", { headers })).status).toBe(200);
  });

  it("is all that it adds to the document", async () => {
    const strip = (document: OpenApiDocument) => {
      const text = JSON.stringify(document, (key, value) =>
        ["402", "409", "304", "x-payment-info", "security", "securitySchemes", "etag"].includes(key) ||
        ["x-security-schemes", "payment-response", "description", "x-codeSamples", "x-client-call"].includes(
          key,
        ) ||
        ["PAYMENT-SIGNATURE", "SIGN-IN-WITH-X"].includes(value?.name)
          ? undefined
          : value,
      );
      const { components, ...rest } = JSON.parse(
        text.replaceAll(/(,null)+]/g, "]").replaceAll(/\[null(,null)*]/g, "[]"),
      );
      const { PaymentRequired, PaymentTerms, ...schemas } = components.schemas;
      return { ...rest, schemas };
    };
    const unpriced = await documentOf(free);
    expect(/"402":\{|x-payment|PAYMENT-SIGNATURE/.test(JSON.stringify(unpriced))).toBe(false);
    expect(strip(await documentOf(api))).toEqual(strip(unpriced));
  });

  it.each([
    ["PAYMENT_CHANNELS", undefined, "API_PRICE_USD needs PAYMENT_CHANNELS=true"],
    ["FACILITATOR_URL", undefined, "API_PRICE_USD needs FACILITATOR_URL"],
    ["PAYMENT_RPC_URL", undefined, "API_PRICE_USD needs PAYMENT_RPC_URL"],
    ["HOST", "0.0.0.0", "API_PRICE_USD needs PUBLIC_BASE_URL"],
    ["PAY_TO", undefined, "PAY_TO must be the address"],
  ])("does not start with %s=%s", async (name, value, message) => {
    await expect(openSale({ [name]: value })).rejects.toThrow(message);
  });

  it("absent, nothing is opened", async () => {
    await expect(openSale({ API_PRICE_USD: undefined })).resolves.toBeNull();
  });
});
