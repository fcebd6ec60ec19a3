// A payer who is charged gets the response, is charged once, and no response is delivered without payment.
import { get, type IncomingMessage } from "node:http";
import type { PaymentRequired, SettleResponse } from "@x402/core/types";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createPayingFetch,
  decodeBase64Header,
  fetchWithPayment,
  signPaymentFor,
  TEST_NETWORK,
} from "../../../tests/support/payments/paid-client.ts";
import {
  openPaidStage,
  type PaidStage,
  type StagedPaidService,
  TEST_ORIGIN,
  TEST_PRICE,
} from "../../../tests/support/payments/paid-stage.ts";
import { encodeSignedTransfer } from "../../../tests/support/payments/transfer-calldata.ts";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { systemClock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import { FacilitatorUnavailableError } from "../facilitator/facilitator.ts";

describe.each(["in process", "over HTTP"] as const)("with a facilitator %s", (kind) => {
  let stage: PaidStage;
  let service: StagedPaidService;
  const url = (q: string) => `${service.url}/paid?q=${q}`;
  const body = async (response: Response) => (await response.json()) as { run?: number; error?: string };
  const namedBy = (payer: Hex) => (required: PaymentRequired) => {
    const declared = required.extensions?.["payment-identifier"] as { info: object };
    const info = { ...declared.info, id: `order-${payer}` };
    return { ...required, extensions: { "payment-identifier": { ...declared, info } } };
  };
  const spentBy = async (payer: Hex) => (await stage.transfersFrom(payer)).length;

  beforeAll(async () => {
    stage = await openPaidStage(kind);
    service = await stage.serve();
  });
  afterAll(() => stage.close());

  it("challenges with our own origin whatever the Host header says", async () => {
    const raw = await new Promise<IncomingMessage>((resolve, reject) => {
      get(url("probe"), { headers: { host: "evil.example" } }, resolve).on("error", reject);
    });
    raw.resume();
    const header = String(raw.headers["payment-required"]);
    expect(raw.statusCode).toBe(402);
    expect(Buffer.from(header, "base64").toString()).not.toContain("evil.example");
    const response = await fetch(url("probe"));
    expect(response.headers.get("payment-required")).toBe(header);
    const required = decodeBase64Header<PaymentRequired>(response, "payment-required");
    expect(required).toMatchObject({
      x402Version: 2,
      resource: { url: `${TEST_ORIGIN}/paid?q=probe`, description: "A snapshot." },
      accepts: [
        { scheme: "exact", network: TEST_NETWORK, amount: "10000", asset: stage.asset, payTo: stage.payTo },
      ],
    });
    expect(await response.json()).toEqual({
      x402Version: 2,
      error: required.error,
      accepts: required.accepts,
    });
    expect(String(response.headers.get("payment-required")).length).toBeLessThan(8_000);
  });

  it("sells to the x402 client library", async () => {
    const payer = await stage.payer();
    const response = await createPayingFetch(payer, stage.asset)(url("sold"));
    expect(response.status).toBe(200);
    const receipt = decodeBase64Header<SettleResponse>(response, "payment-response");
    const [transfer, ...others] = await stage.transfersFrom(payer.address);
    expect(others).toEqual([]);
    expect(transfer?.args.value).toBe(TEST_PRICE);
    expect(receipt).toMatchObject({
      success: true,
      network: TEST_NETWORK,
      transaction: transfer?.transactionHash,
    });
  });

  it("same signature ×10 at once: one run, one transaction, one response", async () => {
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("ten"), payer, stage.asset);
    const before = service.runs.length;
    service.sold.work = async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { status: 200, body: { run: service.runs.length } };
    };
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => fetchWithPayment(url("ten"), header)),
    );
    service.sold.work = async () => ({ status: 200, body: { run: service.runs.length } });
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(new Set(await Promise.all(responses.map((response) => response.text()))).size).toBe(1);
    expect(service.runs.length - before).toBe(1);
    expect(await spentBy(payer.address)).toBe(1);
    const nonce = await stage.node.getTransactionCount({ address: stage.inProcess.address });
    const again = await Promise.all(Array.from({ length: 3 }, () => fetchWithPayment(url("ten"), header)));
    expect(again.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await stage.node.getTransactionCount({ address: stage.inProcess.address })).toBe(nonce);
  });

  it("same signature on another request at once: 409 for the other", async () => {
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("one"), payer, stage.asset);
    const responses = await Promise.all([
      fetchWithPayment(url("one"), header),
      fetchWithPayment(url("two"), header),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await spentBy(payer.address)).toBe(1);
  });

  it("time-out after broadcast: 503, then the stored response without a second charge", async () => {
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("late"), payer, stage.asset);
    const runs = service.runs.length;
    service.injected.settle = (real) => async (payload, terms) => {
      await real(payload, terms);
      throw new FacilitatorUnavailableError("timed out");
    };
    const first = await fetchWithPayment(url("late"), header);
    service.injected.settle = () => () => Promise.reject(new Error("must not be called again"));
    expect(first.status).toBe(503);
    expect(Number(first.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(first.headers.get("x-error-code")).toBe("PAYMENT_PENDING");
    const second = await fetchWithPayment(url("late"), header);
    delete service.injected.settle;
    expect(second.status).toBe(200);
    expect(await body(second)).toEqual({ run: runs + 1 });
    const [transfer] = await stage.transfersFrom(payer.address);
    expect(decodeBase64Header<SettleResponse>(second, "payment-response").transaction).toBe(
      transfer?.transactionHash,
    );
    expect(service.runs.length).toBe(runs + 1);
    expect(await spentBy(payer.address)).toBe(1);
  });

  it("settlement_pending: 503, then the stored response without a second charge", async () => {
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("pending"), payer, stage.asset);
    service.injected.settle = (real) => async (payload, terms) => {
      const { transaction, network } = await real(payload, terms);
      return { success: false, errorReason: "settlement_pending", transaction, network };
    };
    const first = await fetchWithPayment(url("pending"), header);
    delete service.injected.settle;
    expect(first.status).toBe(503);
    const second = await fetchWithPayment(url("pending"), header);
    expect(second.status).toBe(200);
    expect(await spentBy(payer.address)).toBe(1);
  });

  it("time-out before broadcast: 503, and the same signature is charged once later", async () => {
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("early"), payer, stage.asset);
    const runs = service.runs.length;
    service.injected.settle = () => () => Promise.reject(new FacilitatorUnavailableError("timed out"));
    const first = await fetchWithPayment(url("early"), header);
    delete service.injected.settle;
    expect(first.status).toBe(503);
    expect(await spentBy(payer.address)).toBe(0);
    const second = await fetchWithPayment(url("early"), header);
    expect(second.status).toBe(200);
    expect(service.runs.length).toBe(runs + 1);
    expect(await spentBy(payer.address)).toBe(1);
  });

  it("replay of a spent signature: the stored response, also after it has expired; elsewhere 409", async () => {
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("spent"), payer, stage.asset);
    const first = await fetchWithPayment(url("spent"), header);
    const text = await first.text();
    const balance = await stage.balance(payer.address);
    const again = await fetchWithPayment(url("spent"), header);
    expect(again.status).toBe(200);
    expect(await again.text()).toBe(text);
    expect(again.headers.get("payment-response")).toBe(first.headers.get("payment-response"));
    const tomorrow = { ...systemClock, nowMs: () => Date.now() + 23 * 3_600_000 };
    const later = await stage.serve({ clock: tomorrow });
    const late = await fetchWithPayment(`${later.url}/paid?q=spent`, header);
    expect([late.status, await late.text()]).toEqual([200, text]);
    const elsewhere = await fetchWithPayment(url("other"), header);
    expect(elsewhere.status).toBe(409);
    expect(elsewhere.headers.get("x-error-code")).toBe("PAYMENT_CONFLICT");
    expect(await stage.balance(payer.address)).toBe(balance);
  });

  it("facilitator down: 503 and never 402; the same signature works once it is back", async () => {
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("down"), payer, stage.asset);
    const runs = service.runs.length;
    service.injected.verify = () => () => Promise.reject(new TypeError("fetch failed"));
    const first = await fetchWithPayment(url("down"), header);
    delete service.injected.verify;
    expect(first.status).toBe(503);
    expect(first.headers.get("payment-required")).toBeNull();
    expect(first.headers.get("x-error-code")).toBe("FACILITATOR_UNAVAILABLE");
    expect((await body(first)).error).not.toContain("fetch failed");
    expect(service.runs.length).toBe(runs);
    expect((await fetchWithPayment(url("down"), header)).status).toBe(200);
    expect(await spentBy(payer.address)).toBe(1);
  });

  it("HEAD is priced like GET, and one payment is good for both", async () => {
    const runs = service.runs.length;
    expect((await fetch(url("head"), { method: "HEAD" })).status).toBe(402);
    expect(service.runs.length).toBe(runs);
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("head"), payer, stage.asset);
    expect((await fetchWithPayment(url("head"), header, { method: "HEAD" })).status).toBe(200);
    expect((await fetchWithPayment(url("head"), header)).status).toBe(200);
    expect(service.runs.length).toBe(runs + 1);
    expect(await spentBy(payer.address)).toBe(1);
  });

  it.each([
    ["no base64", "@@@"],
    ["no JSON", Buffer.from("{nope").toString("base64")],
    ["a key twice", Buffer.from('{"x402Version":2,"x402Version":2}').toString("base64")],
    ["no object", Buffer.from("[]").toString("base64")],
    ["no payload", Buffer.from('{"x402Version":2,"accepted":{}}').toString("base64")],
    ["far too long", "A".repeat(15_400)],
  ])("malformed header (%s): 400 without JavaScript's words", async (_name, header) => {
    const response = await fetchWithPayment(url("malformed"), header);
    expect(response.status).toBe(400);
    expect(response.headers.get("x-error-code")).toBe("INPUT_INVALID");
    expect((await body(response)).error).toMatch(/^The PAYMENT-SIGNATURE header .*\.$/);
  });

  it("failing work: never charged, and limited per payer", async () => {
    const strict = await stage.serve({ limits: { failuresMax: 3 } });
    const payer = await stage.payer();
    const target = `${strict.url}/paid?q=failing`;
    const { header } = await signPaymentFor(target, payer, stage.asset);
    strict.sold.work = async () => ({ status: 404, body: { error: "Not found." } });
    expect((await fetchWithPayment(target, header)).status).toBe(404);
    strict.sold.work = () => Promise.reject(new Fault("NODE_UNAVAILABLE", "No."));
    expect((await fetchWithPayment(target, header)).status).toBe(503);
    strict.sold.work = () => Promise.reject(new Error("a defect"));
    expect((await fetchWithPayment(target, header)).status).toBe(500);
    const limited = await fetchWithPayment(target, header);
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
    const another = await signPaymentFor(target, payer, stage.asset);
    expect((await fetchWithPayment(target, another.header)).status).toBe(429);
    expect(strict.runs.length).toBe(3);
    expect(await spentBy(payer.address)).toBe(0);
    // Another payer is not concerned, and the same one is served again when the window is over.
    strict.sold.work = async () => ({ status: 200, body: { ok: true } });
    expect((await createPayingFetch(await stage.payer(), stage.asset)(target)).status).toBe(200);
    await stage.database.query(
      "update payments set failed_at = now() - interval '2 minutes' where failures > 0",
    );
    expect((await fetchWithPayment(target, header)).status).toBe(200);
    expect(await spentBy(payer.address)).toBe(1);
  });

  it("sells to many payers at once", async () => {
    const count = runsOf(15, { min: 5 });
    const payers = [];
    for (let i = 0; i < count; i += 1) payers.push(await stage.payer());
    const responses = await Promise.all(
      payers.map((payer, i) => createPayingFetch(payer, stage.asset)(url(`crowd-${i}`))),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(count).fill(200));
    for (const payer of payers) expect(await spentBy(payer.address)).toBe(1);
  });

  it("rejects another recipient, amount or token before it calls the facilitator", async () => {
    const payer = await stage.payer();
    let verifications = 0;
    service.injected.verify = (real) => (payload, terms) => {
      verifications += 1;
      return real(payload, terms);
    };
    const changes: Partial<PaymentRequired["accepts"][number]>[] = [
      { payTo: stage.chain.accounts.guardian.address },
      { amount: "9999" },
      { maxTimeoutSeconds: 200_000 },
    ];
    for (const changed of changes) {
      const { header } = await signPaymentFor(url("wrong"), payer, stage.asset, (required) => ({
        ...required,
        accepts: required.accepts.map((accept) => ({ ...accept, ...changed })),
      }));
      const response = await fetchWithPayment(url("wrong"), header);
      expect([response.status, changed]).toEqual([402, changed]);
      expect(decodeBase64Header<PaymentRequired>(response, "payment-required").error).not.toBe(
        "Payment required.",
      );
    }
    const { payload } = await signPaymentFor(url("wrong"), payer, stage.asset);
    const foreign = [
      { ...payload, x402Version: 1 },
      { ...payload, accepted: { ...payload.accepted, scheme: "upto" } },
      { ...payload, accepted: { ...payload.accepted, network: "eip155:1" } },
      { ...payload, accepted: { ...payload.accepted, asset: stage.payTo } },
      { ...payload, payload: { permit2Authorization: {}, signature: "0x" } },
    ];
    for (const other of foreign) {
      const header = Buffer.from(JSON.stringify(other)).toString("base64");
      expect((await fetchWithPayment(url("wrong"), header)).status).toBe(402);
    }
    delete service.injected.verify;
    expect(verifications).toBe(0);
    expect(await spentBy(payer.address)).toBe(0);
  });

  it("rejects a forged signature, stores nothing, and still accepts the real one", async () => {
    const payer = await stage.payer();
    const { header, payload } = await signPaymentFor(url("forged"), payer, stage.asset);
    const forged = { ...payload, payload: { ...payload.payload, signature: `0x${"11".repeat(64)}1b` } };
    const runs = service.runs.length;
    const text = Buffer.from(JSON.stringify(forged)).toString("base64");
    const [rejected, sold] = await Promise.all([
      fetchWithPayment(url("forged"), text),
      fetchWithPayment(url("forged"), header),
    ]);
    expect([402, 409]).toContain(rejected.status);
    expect(sold.status).toBe(200);
    expect((await fetchWithPayment(url("forged"), text)).status).toBe(409);
    expect(service.runs.length).toBe(runs + 1);
    const outsider = {
      ...forged.payload,
      authorization: { ...Object(payload.payload.authorization), nonce: `0x${"77".repeat(32)}` },
    };
    const never = Buffer.from(JSON.stringify({ ...payload, payload: outsider })).toString("base64");
    expect((await fetchWithPayment(url("forged"), never)).status).toBe(402);
    const left = await stage.database.query({
      text: "select 1 from payments where nonce = $1",
      values: [`0x${"77".repeat(32)}`],
    });
    expect(left.rows).toEqual([]);
  });

  it("payment identifier: the same request is not sold twice, another one is rejected", async () => {
    const payer = await stage.payer();
    const named = namedBy(payer.address);
    const first = await signPaymentFor(url("named"), payer, stage.asset, named);
    const second = await signPaymentFor(url("named"), payer, stage.asset, named);
    const sold = await fetchWithPayment(url("named"), first.header);
    const again = await fetchWithPayment(url("named"), second.header);
    expect([sold.status, again.status]).toEqual([200, 200]);
    expect(await again.text()).toBe(await sold.text());
    expect(await spentBy(payer.address)).toBe(1);
    const other = await signPaymentFor(url("named-other"), payer, stage.asset, named);
    expect((await fetchWithPayment(url("named-other"), other.header)).status).toBe(409);
    // The identifier alone proves nothing: its sender must be able to sign for the payer.
    const forged = {
      ...second.payload,
      payload: { ...second.payload.payload, signature: `0x${"22".repeat(64)}1b` },
    };
    const text = Buffer.from(JSON.stringify(forged)).toString("base64");
    expect((await fetchWithPayment(url("named"), text)).status).toBe(402);
    expect(await spentBy(payer.address)).toBe(1);
  });

  it("payment identifier: what the chain shows of a payment does not open its response", async () => {
    const payer = await stage.payer();
    const { header, payload } = await signPaymentFor(url("seen"), payer, stage.asset, namedBy(payer.address));
    expect((await fetchWithPayment(url("seen"), header)).status).toBe(200);
    const [transfer] = await stage.transfersFrom(payer.address);
    const { input } = await stage.node.getTransaction({ hash: transfer?.transactionHash ?? "0x" });
    expect(input).toContain(String(payload.payload.signature).slice(2, 130));
    const { extensions, ...seen } = payload;
    expect(extensions).toHaveProperty("payment-identifier");
    const read = Buffer.from(JSON.stringify(seen)).toString("base64");
    expect((await fetchWithPayment(url("seen"), read)).status).toBe(409);
    expect((await fetchWithPayment(url("seen"), header)).status).toBe(200);
  });

  /** Anyone who holds a signature can do this: a facilitator, or one who sees the request. */
  const carryOut = (payload: Parameters<typeof encodeSignedTransfer>[0]) =>
    stage.chain.request("eth_sendTransaction", [
      {
        from: stage.chain.accounts.guardian.address,
        to: stage.asset,
        data: encodeSignedTransfer(payload),
        gas: "0x493e0",
      },
    ]);

  it("sells for a transfer that someone else made after the first try failed", async () => {
    // Exactly the price: afterwards the payer's balance is too low as well.
    const payer = await stage.payer(0n);
    await stage.mint(payer.address, TEST_PRICE);
    const { header, payload } = await signPaymentFor(url("carried"), payer, stage.asset);
    const runs = service.runs.length;
    service.sold.work = () => Promise.reject(new Error("a defect"));
    expect((await fetchWithPayment(url("carried"), header)).status).toBe(500);
    await carryOut(payload);
    // The transfer stays the payer's while the work goes on failing.
    expect((await fetchWithPayment(url("carried"), header)).status).toBe(500);
    service.sold.work = async () => ({ status: 200, body: { run: service.runs.length } });
    const elsewhere = await stage.serve();
    const responses = await Promise.all(
      [service.url, elsewhere.url, service.url].map((each) =>
        fetchWithPayment(`${each}/paid?q=carried`, header),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(await Promise.all(responses.map((each) => each.text()))).size).toBe(1);
    expect(service.runs.length + elsewhere.runs.length).toBe(runs + 3);
    const [transfer, ...others] = await stage.transfersFrom(payer.address);
    expect(others).toEqual([]);
    for (const response of responses) {
      const { success, transaction } = decodeBase64Header<SettleResponse>(response, "payment-response");
      expect([success, transaction]).toEqual([true, transfer?.transactionHash]);
    }
    expect((await fetchWithPayment(url("another"), header)).status).toBe(409);
  });

  it("sells to the x402 client library although the facilitator takes the money and rejects", async () => {
    const payer = await stage.payer();
    service.injected.verify = (real) => async (payload, terms) => {
      await carryOut(payload);
      return { ...(await real(payload, terms)), isValid: false, invalidReason: "unexpected_verify_error" };
    };
    const response = await createPayingFetch(payer, stage.asset)(url("taken"));
    delete service.injected.verify;
    expect(response.status).toBe(200);
    const [transfer, ...others] = await stage.transfersFrom(payer.address);
    const { transaction } = decodeBase64Header<SettleResponse>(response, "payment-response");
    expect([transaction, others]).toEqual([transfer?.transactionHash, []]);
  });

  it("sells once for a transfer of a signature that it has never seen", async () => {
    const payer = await stage.payer();
    const { header, payload } = await signPaymentFor(url("unseen"), payer, stage.asset);
    await carryOut(payload);
    const runs = service.runs.length;
    const forged = { ...payload, payload: { ...payload.payload, signature: `0x${"11".repeat(64)}1b` } };
    const text = Buffer.from(JSON.stringify(forged)).toString("base64");
    expect([402, 409]).toContain((await fetchWithPayment(url("unseen"), text)).status);
    const requests = ["unseen", "unseen", "other"].map((q) => fetchWithPayment(url(q), header));
    const statuses = (await Promise.all(requests)).map(({ status }) => status).sort();
    expect([[200, 200, 409].join(), [200, 409, 409].join()]).toContain(statuses.join());
    expect(service.runs.length).toBe(runs + 1);
    expect(await spentBy(payer.address)).toBe(1);
  });

  it("no funds: 402 with the reason, and good again once there are some", async () => {
    const payer = await stage.payer(0n);
    const { header } = await signPaymentFor(url("poor"), payer, stage.asset);
    const rejected = await fetchWithPayment(url("poor"), header);
    expect(rejected.status).toBe(402);
    expect((await body(rejected)).error).toContain("balance");
    await stage.mint(payer.address, 1_000_000n);
    expect((await fetchWithPayment(url("poor"), header)).status).toBe(200);
  });

  it("the ledger's sum is the chain's", async () => {
    await service.gate.reconcile();
    expect(await service.gate.totalPaid()).toBe(await stage.balance(stage.payTo));
  });
});
