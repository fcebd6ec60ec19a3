// `channel.maxOpen`: how many channels of one payer hold money at a time, over all payees and calls at once.
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSextant } from "../../packages/client/create-sextant.ts";
import { createMemoryJournal } from "../../packages/client/journal/journal.ts";
import { decodeBase64Header } from "../support/payments/paid-client.ts";
import { TEST_PRICE } from "../support/payments/paid-stage.ts";
import { type ClientStage, openClientStage, openShop, walletAt } from "./client-stage.ts";

const DEPOSIT = 20n * TEST_PRICE;
// The chain makes no block while the calls are made.
const channels = { limits: { blockAgeMsMax: 3_600_000 } };
const payeeAt = (index: number) =>
  privateKeyToAccount(`0x${String(index).repeat(64)}`).address.toLowerCase() as `0x${string}`;

let stage: ClientStage;
const shops: Awaited<ReturnType<typeof openShop>>[] = [];
beforeAll(async () => {
  stage = await openClientStage({ channels });
  for (const index of [1, 2]) {
    shops.push(await openShop(stage.paid, { channels, offer: { payTo: payeeAt(index) } }));
  }
});
afterAll(async () => {
  for (const shop of shops) await shop.close();
  await stage?.close();
});

/** Offers no transfers, as a service that sells by channel only. */
async function fetchByChannelOnly(...given: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...given);
  if (response.status !== 402) return response;
  const required = decodeBase64Header<{ accepts: { scheme: string }[] }>(response, "payment-required");
  const accepts = required.accepts.filter(({ scheme }) => scheme === "batch-settlement");
  const header = Buffer.from(JSON.stringify({ ...required, accepts })).toString("base64");
  const headers = { "payment-required": header, "x-error-code": "PAYMENT_REQUIRED" };
  return new Response(await response.text(), { status: 402, headers });
}

/** One payer with one journal, and a client for each payee. */
async function openBuyer(maxOpen: number) {
  const { account } = await stage.payer();
  const journal = createMemoryJournal();
  const payees = [stage.paid.payTo, payeeAt(1), payeeAt(2)];
  const guard = { ...stage.guard, payees, node: stage.paid.chain.rpcUrl };
  const clientOf = (portfolio: string, isChannelOnly = false) =>
    createSextant({
      ...{ portfolio, payer: account, guard, journal, channel: { deposit: DEPOSIT, maxOpen } },
      ...(isChannelOnly ? { fetch: fetchByChannelOnly } : {}),
    });
  const urls = [stage.url, ...shops.map(({ url }) => url)];
  const clients = urls.map((url) => clientOf(url));
  let wallets = 0;
  return {
    clients,
    clientOf,
    urls,
    account,
    async buy(at: number) {
      const bought = await clients[at]?.getPortfolio({ address: walletAt(wallets++) });
      return bought?.receipt?.channel ?? null;
    },
  };
}

it("lets no more channels hold money than maxOpen over all payees, and a refund makes room", async () => {
  const { clients, clientOf, urls, buy, account } = await openBuyer(2);
  const [first, second] = [await buy(0), await buy(1)];
  expect([first, second]).toEqual([expect.stringMatching(/^0x/), expect.stringMatching(/^0x/)]);
  // The third payee is paid by transfer.
  expect(await buy(2)).toBeNull();
  expect((await stage.paid.balance(payeeAt(2))) > 0n).toBe(true);
  await expect(clientOf(urls[2] ?? "", true).getPortfolio({ address: walletAt(40) })).rejects.toMatchObject({
    code: "TERMS_REJECTED",
    message:
      "Not paid by channel: 2 channels hold money, as many as channel.maxOpen allows; refund or withdraw one.",
  });
  expect([await buy(0), await buy(1)]).toEqual([first, second]);
  await clients[0]?.channels.refund(String(first));
  const third = await buy(2);
  expect(third).toMatch(/^0x/);
  expect(await buy(2)).toBe(third);
  // The first channel is empty, and may hold nothing while the other two do.
  expect(await buy(0)).toBeNull();
  const deposits = 3n * DEPOSIT - 18n * TEST_PRICE;
  expect(1_000_000n - (await stage.paid.balance(account.address))).toBe(deposits + 2n * TEST_PRICE);
});

describe("guard.perClient", () => {
  const perClient = 2n * TEST_PRICE + 1n;

  /** A client with the limit, and one without it that has the same journal. */
  async function openLimited(channel: { readonly deposit: bigint; readonly maxOpen: number } | null) {
    const { account } = await stage.payer();
    const shared = { portfolio: stage.url, payer: account, journal: createMemoryJournal() };
    const wire = { status: 0 };
    const fetchSpoiled: typeof fetch = async (url, init) => {
      const isPaid = new Headers(init?.headers).has("payment-signature");
      if (!isPaid || wire.status === 0) return fetch(url, init);
      return new Response("{}", { status: wire.status, headers: { "x-error-code": "INPUT_INVALID" } });
    };
    const open = (guard: object) =>
      createSextant({
        ...{ ...shared, fetch: fetchSpoiled },
        guard: { ...stage.guard, ...guard },
        ...(channel === null ? {} : { channel }),
      });
    return { limited: open({ perClient }), free: open({}), wire };
  }

  it.each([
    ["transfers", null],
    ["vouchers", { deposit: DEPOSIT, maxOpen: 3 }],
  ] as const)("ends the purchases of one client by %s, also at once, and of no other", async (_, channel) => {
    const { limited, free } = await openLimited(channel);
    const runs = stage.runs.length;
    const buying = [1, 2, 3, 4].map((index) => limited.getPortfolio({ address: walletAt(300 + index) }));
    const outcomes = await Promise.allSettled(buying);
    const failed = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    expect([failed.length, stage.runs.length - runs]).toEqual([2, 2]);
    for (const error of failed) {
      expect(error).toMatchObject({
        code: "LIMIT_EXCEEDED",
        charged: "no",
        message: expect.stringContaining("exceed guard.perClient"),
      });
    }
    await expect(free.getPortfolio({ address: walletAt(310) })).resolves.toMatchObject({ receipt: {} });
  });

  it("counts no voucher that the service rejects, because the next one is for the same sum", async () => {
    const { limited, wire } = await openLimited({ deposit: DEPOSIT, maxOpen: 1 });
    await limited.getPortfolio({ address: walletAt(320) });
    wire.status = 400;
    for (const index of [321, 322]) {
      const rejected = limited.getPortfolio({ address: walletAt(index) });
      await expect(rejected).rejects.toMatchObject({ code: "INPUT_INVALID" });
    }
    wire.status = 0;
    await limited.getPortfolio({ address: walletAt(323) });
    await expect(limited.getPortfolio({ address: walletAt(324) })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
    });
  });
});

it("spreads calls at once over as many channels of one payee as maxOpen, and buys each thing once", async () => {
  const { clients } = await openBuyer(3);
  const runs = stage.runs.length;
  const buy = (index: number) => clients[0]?.getPortfolio({ address: walletAt(100 + index) });
  const bought = await Promise.all(Array.from({ length: 9 }, (_, index) => buy(index)));
  expect(new Set(bought.map((each) => each?.receipt?.channel)).size).toBe(3);
  expect(stage.runs.length - runs).toBe(9);
  const held = (await clients[0]?.channels.list()) ?? [];
  expect(held.map(({ state, deposited }) => [state, deposited])).toEqual(Array(3).fill(["open", DEPOSIT]));
  expect(held.reduce((sum, each) => sum + each.signed, 0n)).toBe(9n * TEST_PRICE);
});
