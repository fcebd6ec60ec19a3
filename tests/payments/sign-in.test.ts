// A payer that lost its response gets it again by signing in: from any process, once for each nonce, and no other account does.
import type { PaymentRequired } from "@x402/core/types";
import {
  createSIWxPayload,
  encodeSIWxHeader,
  type SIWxExtension,
  wrapFetchWithSIWx,
} from "@x402/extensions/sign-in-with-x";
import type { PrivateKeyAccount } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ChallengeIssuer } from "../../src/payments/mpp/challenges.ts";
import { createChannelClient } from "../support/payments/channel-client.ts";
import { openChannelWorld } from "../support/payments/channel-world.ts";
import { readChallenge, signChallenge, testMppKey } from "../support/payments/mpp-client.ts";
import {
  createPayingFetch,
  decodeBase64Header,
  fetchWithPayment,
  signPaymentFor,
} from "../support/payments/paid-client.ts";
import { openPaidStage, type PaidStage, TEST_PRICE } from "../support/payments/paid-stage.ts";
import { createTestKeys } from "../support/signing/test-keys.ts";

let stage: PaidStage;

beforeAll(async () => {
  stage = await openPaidStage("in process");
});
afterAll(() => stage.close());

type Options = NonNullable<Parameters<PaidStage["serve"]>[0]>;

/** A process whose clients find it at its own URL. All of them are behind one proxy. */
async function serve(options: Options = {}, origin?: string) {
  const service = await stage.serve({ signIn: true, ...options });
  Object.defineProperty(service.sale.offer, "resourceOrigin", { value: origin ?? service.url });
  return { ...service, at: (q: string) => `${service.url}/paid?q=${q}` };
}

type Service = Awaited<ReturnType<typeof serve>>;

async function challengeOf(url: string): Promise<SIWxExtension> {
  const { extensions } = decodeBase64Header<PaymentRequired>(await fetch(url), "payment-required");
  return extensions?.["sign-in-with-x"] as SIWxExtension;
}

async function signInTo(url: string, account: PrivateKeyAccount): Promise<string> {
  const { info, supportedChains } = await challengeOf(url);
  const [chain] = supportedChains;
  if (chain === undefined) throw new Error("no chain is offered");
  return encodeSIWxHeader(await createSIWxPayload({ ...info, ...chain }, account, info.uri));
}

const fetchSignedIn = (url: string, header: string, init: RequestInit = {}) =>
  fetch(url, { ...init, headers: { ...init.headers, "sign-in-with-x": header } });

/** The status, and the reason of a 402. */
async function outcomeOf(response: Response): Promise<number | string> {
  await response.arrayBuffer();
  if (response.status !== 402) return response.status;
  return decodeBase64Header<PaymentRequired>(response, "payment-required").error ?? "";
}

async function buy(service: Service, q: string, account?: PrivateKeyAccount) {
  const payer = account ?? (await stage.payer());
  const { header } = await signPaymentFor(service.at(q), payer, stage.asset);
  const response = await fetchWithPayment(service.at(q), header);
  expect(response.status).toBe(200);
  return { payer, receipt: response.headers.get("payment-response"), text: await response.text() };
}

const spentBy = async ({ address }: PrivateKeyAccount) => (await stage.transfersFrom(address)).length;

async function countNonces(): Promise<number> {
  const { rows } = await stage.database.query<{ count: number }>(
    "select count(*)::int as count from sign_ins",
  );
  return rows[0]?.count ?? -1;
}

describe("a payer that signs in", () => {
  it("gets its response again with the client of x402's own package, from another process", async () => {
    const [first, other] = [await serve(), await serve()];
    const { payer, receipt, text } = await buy(first, "stock");
    const response = await wrapFetchWithSIWx(fetch, payer)(other.at("stock"));
    expect(response.status).toBe(200);
    expect(response.headers.get("payment-response")).toBe(receipt);
    expect(response.headers.get("cache-control")).toBe("private, no-store");
    expect(await response.text()).toBe(text);
    expect([first.runs, other.runs]).toEqual([["stock"], []]);
    expect(other.outcomes).toEqual(["challenged", "replayed"]);
    expect(await spentBy(payer)).toBe(1);
  });

  it("pays with the client of x402's own package if there is nothing to get, once", async () => {
    const service = await serve();
    const payer = await stage.payer();
    const signingIn = wrapFetchWithSIWx(fetch, payer) as typeof fetch;
    const pay = createPayingFetch(payer, stage.asset, signingIn);
    const responses = [await pay(service.at("twice")), await pay(service.at("twice"))];
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    expect(service.runs).toEqual(["twice"]);
    expect(await spentBy(payer)).toBe(1);
  });

  it("gets what it bought by channel, and no channel changes", async () => {
    const service = await serve({ channels: {} });
    const world = await openChannelWorld(stage);
    await world.deposit(10n * TEST_PRICE);
    const bought = await world.send(service, TEST_PRICE, "voucher");
    const text = await bought.text();
    const { url } = service;
    const again = await fetchSignedIn(
      service.at("voucher"),
      await signInTo(service.at("voucher"), world.account),
    );
    expect([again.status, await again.text()]).toEqual([200, text]);
    expect(decodeBase64Header(again, "payment-response")).toEqual({
      ...{ success: true, transaction: "", network: service.offer.network, amount: "0" },
      payer: world.account.address.toLowerCase(),
    });
    await expect(world.buy({ url }, 2)).resolves.toBe(200);
    expect(service.runs).toEqual(["voucher", "q2"]);
  });

  it("gets what it bought by a credential of the Machine Payments Protocol", async () => {
    const service = await serve({ offer: { mpp: new ChallengeIssuer(testMppKey) } });
    const payer = await stage.payer();
    const authorization = await signChallenge(await readChallenge(service.at("mpp")), payer);
    const bought = await fetch(service.at("mpp"), { headers: { authorization } });
    expect(bought.status).toBe(200);
    const again = await wrapFetchWithSIWx(fetch, payer)(service.at("mpp"));
    expect([again.status, await again.text()]).toEqual([200, await bought.text()]);
    expect(await spentBy(payer)).toBe(1);
  });

  it("gets the same signed receipts", async () => {
    const signingKeys = createTestKeys();
    const origin = "http://localhost:1";
    const [first, other] = [
      await serve({ offer: { signingKeys } }, origin),
      await serve({ offer: { signingKeys } }, origin),
    ];
    const { payer, receipt } = await buy(first, "receipt");
    const again = await fetchSignedIn(other.at("receipt"), await signInTo(other.at("receipt"), payer));
    expect(again.headers.get("payment-response")).toBe(receipt);
    expect(decodeBase64Header(again, "payment-response")).toHaveProperty("extensions.sextant-answer");
  });

  it("gets the newest of its responses", async () => {
    const service = await serve();
    const { payer } = await buy(service, "newest");
    service.runs.push("in between");
    const { text } = await buy(service, "newest", payer);
    const again = await wrapFetchWithSIWx(fetch, payer)(service.at("newest"));
    expect(await again.text()).toBe(text);
  });

  it("waits while it is paying, and is not invited to pay again", async () => {
    const service = await serve();
    const payer = await stage.payer();
    const { header } = await signPaymentFor(service.at("slow"), payer, stage.asset);
    let finish = () => {};
    const blocked = new Promise<void>((resolve) => {
      finish = resolve;
    });
    service.sold.work = async () => {
      await blocked;
      return { status: 200, body: { run: "slow" } };
    };
    const paying = fetchWithPayment(service.at("slow"), header);
    await expect.poll(() => service.runs).toEqual(["slow"]);
    const proof = await signInTo(service.at("slow"), payer);
    const early = await fetchSignedIn(service.at("slow"), proof);
    expect([early.status, early.headers.get("x-error-code")]).toEqual([503, "PAYMENT_PENDING"]);
    finish();
    expect((await paying).status).toBe(200);
    // Its nonce was not used up.
    expect(await outcomeOf(await fetchSignedIn(service.at("slow"), proof))).toBe(200);
    const unsettle = "update payments set state = $1, reason = $2 where payer = $3";
    for (const state of ["settling", "refused", "released"]) {
      await stage.database.query({ text: unsettle, values: [state, null, payer.address.toLowerCase()] });
      expect(
        await outcomeOf(await fetchSignedIn(service.at("slow"), await signInTo(service.at("slow"), payer))),
      ).toBe(503);
    }
  });

  it("waits for the request of its own channel, and for none of an outsider's channel that names it", async () => {
    const service = await serve({ channels: {} });
    const [own, outsider] = [await openChannelWorld(stage), await openChannelWorld(stage)];
    for (const world of [own, outsider]) {
      await world.deposit(10n * TEST_PRICE);
      await expect(world.buy(service, 1)).resolves.toBe(200);
    }
    // As if the outsider's channel named the account, which needs no signature of it.
    await stage.database.query({
      text: "update payment_channels set payer = $1 where channel_id = $2",
      values: [own.config.payer, outsider.channelId],
    });
    let finish = () => {};
    const blocked = new Promise<void>((resolve) => {
      finish = resolve;
    });
    service.sold.work = async () => {
      await blocked;
      return { status: 200, body: {} };
    };
    const signIn = async () =>
      outcomeOf(await fetchSignedIn(service.at("held"), await signInTo(service.at("held"), own.account)));
    const runs = () => service.runs.filter((each) => each === "held").length;
    const others = outsider.buy(service, 2, "held");
    await expect.poll(runs).toBe(1);
    await expect(signIn()).resolves.toMatch("no stored response");
    const ours = own.buy(service, 2, "held");
    await expect.poll(runs).toBe(2);
    await expect(signIn()).resolves.toBe(503);
    finish();
    await expect(Promise.all([others, ours])).resolves.toEqual([200, 200]);
  });
});

describe("a nonce", () => {
  it("is good once over all processes, also after a restart", async () => {
    const origin = "http://localhost:2";
    const [one, two] = [await serve({}, origin), await serve({}, origin)];
    const { payer } = await buy(one, "once");
    const header = await signInTo(one.at("once"), payer);
    const before = await countNonces();
    const sent = [one, two, one, two, one, two].map(({ at }) => fetchSignedIn(at("once"), header));
    const outcomes = await Promise.all((await Promise.all(sent)).map(outcomeOf));
    expect(outcomes.filter((outcome) => outcome === 200)).toHaveLength(1);
    const restarted = await serve({}, origin);
    outcomes.push(await outcomeOf(await fetchSignedIn(restarted.at("once"), header)));
    expect(new Set(outcomes)).toEqual(
      new Set([200, "Not signed in. The nonce was used; sign the new challenge."]),
    );
    expect((await countNonces()) - before).toBe(1);
  });

  it("is used up if the process dies behind it, and the next one gives the response", async () => {
    const origin = "http://localhost:3";
    const [dying, restarted] = [await serve({}, origin), await serve({}, origin)];
    const { payer, text } = await buy(dying, "dies");
    const header = await signInTo(dying.at("dies"), payer);
    let statements = 0;
    dying.injected.statement = async (run) => {
      const rows = await run();
      statements += 1;
      if (statements === 1) throw new Error("this process is dead");
      return rows;
    };
    expect((await fetchSignedIn(dying.at("dies"), header)).status).toBe(500);
    expect(await outcomeOf(await fetchSignedIn(restarted.at("dies"), header))).toMatch("nonce was used");
    const again = await fetchSignedIn(restarted.at("dies"), await signInTo(restarted.at("dies"), payer));
    expect([again.status, await again.text()]).toEqual([200, text]);
    expect(await spentBy(payer)).toBe(1);
  });

  it("has a row only if it gave a response", async () => {
    const service = await serve();
    const payer = await stage.payer();
    const before = await countNonces();
    const header = await signInTo(service.at("row"), payer);
    for (let asked = 0; asked < 3; asked += 1) {
      expect(await outcomeOf(await fetchSignedIn(service.at("row"), header))).toMatch("no stored response");
    }
    expect(await countNonces()).toBe(before);
    await buy(service, "row", payer);
    expect(await outcomeOf(await fetchSignedIn(service.at("row"), header))).toBe(200);
    expect(await countNonces()).toBe(before + 1);
  });

  it("is forgotten once no process takes it", async () => {
    const service = await serve();
    const { payer } = await buy(service, "old");
    await wrapFetchWithSIWx(fetch, payer)(service.at("old"));
    await stage.database.query("update sign_ins set used_at = now() - interval '61 minutes'");
    await service.gate.reconcile();
    expect(await countNonces()).toBe(0);
  });
});

describe("someone who signs in", () => {
  it("gets nothing that another account has bought, or this one for another request", async () => {
    const service = await serve();
    const { payer } = await buy(service, "mine");
    const other = await stage.payer();
    const asOther = await fetchSignedIn(service.at("mine"), await signInTo(service.at("mine"), other));
    expect(await outcomeOf(asOther)).toMatch("no stored response to this request");
    const header = await signInTo(service.at("mine"), payer);
    expect(await outcomeOf(await fetchSignedIn(service.at("yours"), header))).toMatch(
      "not issued here for this",
    );
    const stolen = JSON.parse(Buffer.from(header, "base64").toString()) as Record<string, string>;
    const asPayer = { ...stolen, signature: await other.signMessage({ message: "x" }) };
    expect(
      await outcomeOf(await fetchSignedIn(service.at("mine"), encodeSIWxHeader(asPayer as never))),
    ).toMatch("has not signed this message");
    expect(await outcomeOf(await fetchSignedIn(service.at("mine"), "x".repeat(5_000)))).toMatch(
      "more than 4096",
    );
    expect(service.runs).toEqual(["mine"]);
    // None of it has used the nonce up.
    expect(await outcomeOf(await fetchSignedIn(service.at("mine"), header))).toBe(200);
  });

  it("gets no head, and its payment counts before its sign-in", async () => {
    const service = await serve();
    const { payer } = await buy(service, "head");
    const header = await signInTo(service.at("head"), payer);
    expect((await fetchSignedIn(service.at("head"), header, { method: "HEAD" })).status).toBe(402);
    const payment = { "payment-signature": "bm90IGEgcGF5bWVudA==" };
    expect((await fetchSignedIn(service.at("head"), header, { headers: payment })).status).toBe(400);
    expect(await outcomeOf(await fetchSignedIn(service.at("head"), header))).toBe(200);
  });

  it("gets 402 for a response that is no longer stored", async () => {
    const service = await serve();
    const { payer } = await buy(service, "pruned");
    const drop = "update payments set (answer_body, answer_headers) = (null, null) where payer = $1";
    await stage.database.query({ text: drop, values: [payer.address.toLowerCase()] });
    const header = await signInTo(service.at("pruned"), payer);
    expect(await outcomeOf(await fetchSignedIn(service.at("pruned"), header))).toMatch("no stored response");
  });

  it("has a limit of sign-ins in vain, and an account one of all", async () => {
    const service = await serve({ limits: { unpaidPerClientPerMinute: 2 } });
    const { payer } = await buy(service, "limit");
    const header = await signInTo(service.at("limit"), payer);
    const proof = JSON.parse(Buffer.from(header, "base64").toString()) as Record<string, string>;
    const forged = encodeSIWxHeader({ ...proof, signature: `0x${"11".repeat(64)}1b` } as never);
    const outcomes = [];
    for (let sent = 0; sent < 3; sent += 1) {
      outcomes.push(await outcomeOf(await fetchSignedIn(service.at("limit"), forged)));
    }
    const isWrong = expect.stringMatching("has not signed");
    expect(outcomes).toEqual([isWrong, isWrong, expect.stringMatching("Too many sign-ins of this client")]);
    const limited = await fetchSignedIn(service.at("limit"), header);
    expect([limited.status, Number(limited.headers.get("retry-after")) > 0]).toEqual([402, true]);
    const elsewhere = { headers: { "x-forwarded-for": "198.51.100.7" } };
    const asPayer = async () =>
      fetchSignedIn(service.at("limit"), await signInTo(service.at("limit"), payer), elsewhere);
    expect((await asPayer()).status).toBe(200);
    await stage.database.query({
      text: "insert into sign_ins (nonce, payer) select 'n' || each, $1 from generate_series(1, 99) each",
      values: [payer.address.toLowerCase()],
    });
    const late = await asPayer();
    expect([late.status, late.headers.get("retry-after")]).toEqual([429, "300"]);
  });

  it("has a limit of sign-ins during a payment, too", async () => {
    const service = await serve({ limits: { unpaidPerClientPerMinute: 2 } });
    const { payer } = await buy(service, "busy");
    const text = "update payments set state = 'settling' where payer = $1";
    await stage.database.query({ text, values: [payer.address.toLowerCase()] });
    const header = await signInTo(service.at("busy"), payer);
    const statuses = [];
    for (let sent = 0; sent < 3; sent += 1) {
      statuses.push((await fetchSignedIn(service.at("busy"), header)).status);
    }
    expect(statuses).toEqual([503, 503, 402]);
  });

  it("costs those who pay no statement", async () => {
    const [plain, service] = [await stage.serve({ channels: {} }), await serve({ channels: {} })];
    const counts = [];
    for (const shop of [plain, service]) {
      const world = await openChannelWorld(stage);
      await world.deposit(10n * TEST_PRICE);
      await world.buy(shop, 1);
      const before = shop.statements();
      await expect(world.buy(shop, 2)).resolves.toBe(200);
      counts.push(shop.statements() - before);
    }
    expect(counts).toEqual([2, 2]);
  });
});

describe("a 402 with sign-in", () => {
  it("is paid by a stock client of channels, which sends the challenge back with its payment", async () => {
    const service = await serve({ channels: {} });
    const payer = await stage.payer();
    const { pay, sent } = createChannelClient(payer, { node: stage.node, asset: stage.asset });
    expect((await pay(service.at("both"))).status).toBe(200);
    const payload = Buffer.from(sent[0] ?? "", "base64").toString();
    expect(payload).toContain('"sign-in-with-x"');
    expect(service.runs).toEqual(["both"]);
  });
});
