// Payments by the Machine Payments Protocol: bound to their request, charged once, and rejected before anything is charged.
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Secret } from "../../src/lib/secret.ts";
import { FacilitatorUnavailableError } from "../../src/payments/facilitator/facilitator.ts";
import { ChallengeIssuer, type MppChallenge } from "../../src/payments/mpp/challenges.ts";
import {
  changeRequest,
  decodeCredential,
  encodeCredential,
  fetchWithCredential,
  readChallenge,
  readReceipt,
  signChallenge,
  testMppKey,
  toX402Header,
  type WireCredential,
} from "../support/payments/mpp-client.ts";
import { createPayingFetch, decodeBase64Header, fetchWithPayment } from "../support/payments/paid-client.ts";
import {
  openPaidStage,
  type PaidStage,
  type StagedPaidService,
  TEST_PRICE,
} from "../support/payments/paid-stage.ts";
import { encodeSignedTransfer } from "../support/payments/transfer-calldata.ts";
import { decodePayload } from "./chaos/forgeries.ts";

const mpp = new ChallengeIssuer(testMppKey);
const OTHER_KEY = new Secret<Hex>(`0x${"0123456789abcdef".repeat(4)}`);

let stage: PaidStage;
let service: StagedPaidService;
const url = (q: string) => `${service.url}/paid?q=${q}`;
const errorOf = async (response: Response) => ((await response.json()) as { error: string }).error;
const spentBy = async (payer: Hex) => (await stage.transfersFrom(payer)).map(({ args }) => args.value);

beforeAll(async () => {
  stage = await openPaidStage("in process");
  service = await stage.serve({ offer: { mpp, amountPerChain: 2_500n } });
});
afterAll(() => stage?.close());

/** A new payer's credential for a request, signed after `change`. */
async function sign(q: string, change: (challenge: MppChallenge) => MppChallenge = (challenge) => challenge) {
  const payer = await stage.payer();
  const credential = await signChallenge(change(await readChallenge(url(q))), payer);
  return { payer, credential };
}

describe("a payment by credential", () => {
  it("is charged exactly the price of the request's chains, and gets a receipt of each protocol", async () => {
    const { payer, credential } = await sign("sold:3");
    const before = await stage.balance(stage.payTo);
    const response = await fetchWithCredential(url("sold:3"), credential);
    expect(response.status).toBe(200);
    const price = TEST_PRICE + 2n * 2_500n;
    expect((await stage.balance(stage.payTo)) - before).toBe(price);
    const [transfer, ...others] = await stage.transfersFrom(payer.address);
    expect([transfer?.args.value, others]).toEqual([price, []]);
    expect(readReceipt(response)).toMatchObject({
      method: "evm",
      status: "success",
      reference: transfer?.transactionHash,
      chainId: 31_337,
    });
    expect(response.headers.get("cache-control")).toBe("private, no-store");
    expect(decodeBase64Header(response, "payment-response")).toMatchObject({
      transaction: transfer?.transactionHash,
    });
  });

  it("is offered next to x402, whose clients pay as before", async () => {
    const payer = await stage.payer();
    const response = await createPayingFetch(payer, stage.asset)(url("x402"));
    expect([response.status, response.headers.get("payment-receipt")]).toEqual([200, null]);
    expect(await spentBy(payer.address)).toEqual([TEST_PRICE]);
  });

  it("gets the stored response again, also after the first one was lost, by HEAD, and in the other header", async () => {
    const { payer, credential } = await sign("again");
    service.injected.settle = (real) => async (payload, terms) => {
      await real(payload, terms);
      throw new FacilitatorUnavailableError("timed out");
    };
    const lost = await fetchWithCredential(url("again"), credential);
    delete service.injected.settle;
    const headers = ["retry-after", "www-authenticate", "payment-receipt", "x-error-code"];
    const [retryAfter, ...others] = headers.map((name) => lost.headers.get(name));
    expect([lost.status, ...others]).toEqual([503, null, null, "PAYMENT_PENDING"]);
    expect(Number(retryAfter)).toBeGreaterThan(0);
    const runs = service.runs.length;
    const again = await fetchWithCredential(url("again"), credential);
    expect([again.status, await again.json()]).toEqual([200, { run: runs }]);
    const head = await fetchWithCredential(url("again"), credential, { method: "HEAD" });
    const other = await fetch(url("again"), { headers: { "payment-authorization": credential } });
    for (const response of [again, head, other]) {
      expect(response.status).toBe(200);
      expect(readReceipt(response).reference).toBe(readReceipt(again).reference);
    }
    expect(service.runs.length).toBe(runs);
    expect(await spentBy(payer.address)).toEqual([TEST_PRICE]);
  });

  it.each(["x402 first", "credential first", "both at once"])(
    "is one payment with the same transfer by x402: %s",
    async (order) => {
      const q = order.replaceAll(" ", "-");
      const { payer, credential } = await sign(q);
      const byX402 = () => fetchWithPayment(url(q), toX402Header(credential, stage.asset));
      const byCredential = () => fetchWithCredential(url(q), credential);
      const sends = order === "x402 first" ? [byX402, byCredential] : [byCredential, byX402];
      const responses: Response[] = [];
      if (order === "both at once") responses.push(...(await Promise.all(sends.map((send) => send()))));
      else for (const send of sends) responses.push(await send());
      const bodies = await Promise.all(responses.map(async (each) => [each.status, await each.text()]));
      expect(bodies[0]).toEqual(bodies[1]);
      expect(bodies[0]?.[0]).toBe(200);
      expect(service.runs.filter((each) => each === q)).toHaveLength(1);
      expect(await spentBy(payer.address)).toEqual([TEST_PRICE]);
    },
  );

  it("buys twice when the same request is paid for twice at once", async () => {
    const { payer, credential } = await sign("twice");
    const pay = (signed: string) => fetchWithCredential(url("twice"), signed);
    // A new payer has one payment in progress at most.
    expect((await pay(credential)).status).toBe(200);
    const challenges = await Promise.all([1, 2].map(() => readChallenge(url("twice"))));
    const signed = await Promise.all(challenges.map((each) => signChallenge(each, payer)));
    const both = await Promise.all(signed.map(pay));
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(await spentBy(payer.address)).toEqual([TEST_PRICE, TEST_PRICE, TEST_PRICE]);
  });

  it("is taken by a process with the same key, and finished after key and price have changed", async () => {
    const { payer, credential } = await sign("shared");
    const second = await stage.serve({ offer: { mpp: new ChallengeIssuer(testMppKey) } });
    second.injected.settle = () => () => Promise.reject(new FacilitatorUnavailableError("timed out"));
    expect((await fetchWithCredential(`${second.url}/paid?q=shared`, credential)).status).toBe(503);
    const later = await stage.serve({
      offer: { mpp: new ChallengeIssuer(OTHER_KEY), amount: 2n * TEST_PRICE },
    });
    const finished = await fetchWithCredential(`${later.url}/paid?q=shared`, credential);
    expect([finished.status, await finished.json()]).toEqual([200, { run: 1 }]);
    expect(later.runs).toEqual([]);
    expect(await spentBy(payer.address)).toEqual([TEST_PRICE]);
  });
});

type Hostile = readonly [name: string, message: RegExp, change: (challenge: MppChallenge) => MppChallenge];
const NOT_ISSUED = /not issued for this request on these terms/;

describe("a credential that does not pay for its request", () => {
  const cases: readonly Hostile[] = [
    ["a made-up id", NOT_ISSUED, (challenge) => ({ ...challenge, id: "A".repeat(43) })],
    [
      "an id that only begins right",
      NOT_ISSUED,
      (challenge) => ({ ...challenge, id: challenge.id.slice(1) }),
    ],
    ["another realm", NOT_ISSUED, (challenge) => ({ ...challenge, realm: "other.example" })],
    ["a smaller amount", NOT_ISSUED, (challenge) => changeRequest(challenge, { amount: "1" })],
    [
      "another recipient",
      NOT_ISSUED,
      (challenge) => changeRequest(challenge, { recipient: `0x${"12".repeat(20)}` }),
    ],
    ["a later expiry", NOT_ISSUED, (challenge) => ({ ...challenge, expires: "2999-01-01T00:00:00Z" })],
    ["other opaque data", NOT_ISSUED, (challenge) => ({ ...challenge, opaque: "e30" })],
  ];

  async function expectRejected(response: Response, message: RegExp, payer: Hex) {
    expect(response.status).toBe(402);
    expect(response.headers.get("payment-receipt")).toBeNull();
    expect(response.headers.get("www-authenticate")).toMatch(/^Payment id="[\w-]{43}", realm="sold.example"/);
    expect(await errorOf(response)).toMatch(message);
    expect(await spentBy(payer)).toEqual([]);
    const { rows } = await stage.database.query<{ payer: Hex }>("select payer from payments");
    expect(rows.map((row) => row.payer)).not.toContain(payer.toLowerCase());
  }

  it.each(cases)(
    "gets a new challenge, and is neither charged nor reserved: %s",
    async (_name, message, change) => {
      const { payer, credential } = await sign("hostile", change);
      await expectRejected(await fetchWithCredential(url("hostile"), credential), message, payer.address);
    },
  );

  type Change = (credential: WireCredential) => WireCredential;
  const payload =
    (changed: Record<string, unknown>): Change =>
    (credential) => ({
      ...credential,
      payload: { ...credential.payload, ...changed },
    });
  it.each<[string, RegExp, Change]>([
    ["another nonce", /nonce of the transfer must be/, payload({ nonce: `0x${"34".repeat(32)}` })],
    ["another validity", /valid until its challenge expires/, payload({ validBefore: "32503680000" })],
    [
      "another source",
      /source of the credential must be/,
      (credential) => ({ ...credential, source: `did:pkh:eip155:31337:0x${"56".repeat(20)}` }),
    ],
    [
      "another chain in its source",
      /source of the credential/,
      (credential) => ({
        ...credential,
        source: String(credential.source).replace("31337", "1"),
      }),
    ],
    ["a smaller amount", /the price is 10000/, payload({ value: "1" })],
    ["another payee", /The payment goes to/, payload({ to: `0x${"78".repeat(20)}` })],
    ["another signature", /not signed by its payer/, payload({ signature: `0x${"11".repeat(64)}1b` })],
    ["a permit", /type "authorization"/, payload({ type: "permit2" })],
    [
      "another method",
      /Only the payment method "evm"/,
      (credential) => ({ ...credential, challenge: { ...credential.challenge, method: "tempo" } }),
    ],
  ])("gets a new challenge for what it changed after signing: %s", async (_name, message, change) => {
    const { payer, credential } = await sign("changed");
    const changed = encodeCredential(change(decodeCredential(credential)));
    await expectRejected(await fetchWithCredential(url("changed"), changed), message, payer.address);
    // The challenge itself is still good.
    expect((await fetchWithCredential(url("changed"), credential)).status).toBe(200);
  });

  it("pays for no other query, path or key, and after its own request for none with 409", async () => {
    const { payer, credential } = await sign("mine");
    const other = await stage.serve({ offer: { mpp: new ChallengeIssuer(OTHER_KEY) } });
    for (const target of [url("yours"), url("mine:2"), `${other.url}/paid?q=mine`]) {
      await expectRejected(await fetchWithCredential(target, credential), NOT_ISSUED, payer.address);
    }
    expect((await fetchWithCredential(url("mine"), credential)).status).toBe(200);
    const late = await fetchWithCredential(url("yours"), credential);
    expect([late.status, late.headers.get("www-authenticate")]).toEqual([409, null]);
    expect(await spentBy(payer.address)).toEqual([TEST_PRICE]);
  });

  it("pays for its own request only, also once someone else has carried its transfer out", async () => {
    const { payer, credential } = await sign("carried");
    const payment = decodePayload(toX402Header(credential, stage.asset));
    const { address: from } = stage.chain.accounts.guardian;
    const transfer = { from, to: stage.asset, data: encodeSignedTransfer(payment), gas: "0x493e0" };
    const transaction = await stage.chain.request("eth_sendTransaction", [transfer]);
    const other = await fetchWithCredential(url("elsewhere"), credential);
    expect([other.status, await errorOf(other)]).toEqual([402, expect.stringMatching(NOT_ISSUED)]);
    const own = await fetchWithCredential(url("carried"), credential);
    expect([own.status, readReceipt(own).reference]).toEqual([200, transaction]);
    expect(await spentBy(payer.address)).toEqual([TEST_PRICE]);
  });

  it("is over when its challenge expired by the chain, and until then may be sent again", async () => {
    let aheadMs = -600_000;
    const clock = { nowMs: () => Date.now() + aheadMs };
    const old = new ChallengeIssuer(testMppKey, { ...clock, sleep: async () => undefined });
    const late = await stage.serve({ offer: { mpp: old } });
    const payer = await stage.payer();
    const target = `${late.url}/paid?q=late`;
    const overdue = await signChallenge(await readChallenge(target), payer);
    await stage.chain.mine();
    const rejected = await fetchWithCredential(target, overdue);
    expect([rejected.status, await errorOf(rejected)]).toEqual([402, expect.stringMatching(/expired/)]);
    // Too little time is left to settle, but others could still carry it out.
    aheadMs = -115_000;
    const soon = await signChallenge(await readChallenge(target), payer);
    const pending = await fetchWithCredential(target, soon);
    expect([pending.status, pending.headers.get("www-authenticate")]).toEqual([503, null]);
    expect(late.runs).toEqual([]);
    expect(await spentBy(payer.address)).toEqual([]);
  });

  it("is rejected next to another payment, before any of them is read", async () => {
    const { payer, credential } = await sign("both");
    const runs = service.runs.length;
    const statements = service.statements();
    const others = {
      "payment-signature": toX402Header(credential, stage.asset),
      "payment-authorization": credential,
    };
    for (const [name, value] of Object.entries(others)) {
      const response = await fetchWithCredential(url("both"), credential, { headers: { [name]: value } });
      expect([response.status, await errorOf(response)]).toEqual([
        400,
        expect.stringMatching(/^Send one payment: /),
      ]);
    }
    expect([service.runs.length, service.statements()]).toEqual([runs, statements]);
    expect(await spentBy(payer.address)).toEqual([]);
  });

  it.each([
    ["no token", "Payment", 400],
    ["no base64url", "Payment @@@", 400],
    ["no JSON", "Payment e25vcGU", 400],
    ["a list", encodeCredential([]), 400],
    ["no challenge", encodeCredential({ payload: {} }), 400],
    ["no payload", encodeCredential({ challenge: {} }), 400],
    ["too deep", encodeCredential(JSON.parse("[".repeat(200) + "]".repeat(200))), 400],
    ["too long", `Payment ${"A".repeat(15_400)}`, 400],
    ["100 kB", `Payment ${"A".repeat(100_000)}`, 431],
    ["another scheme", "Bearer token", 402],
    ["Basic", "Basic dTpw", 402],
  ])("is malformed (%s) and gets no 5xx", async (_name, authorization, status) => {
    const response = await fetchWithCredential(url("malformed"), authorization);
    expect(response.status).toBe(status);
    if (status === 400) expect(await errorOf(response)).toMatch(/^The Payment credential .*\.$/);
  });

  it("is not read at all by a service that takes x402 only", async () => {
    const only = await stage.serve();
    const target = `${only.url}/paid?q=only`;
    const { credential, payer } = await sign("only");
    const response = await fetchWithCredential(target, credential);
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([402, null]);
    const both = await fetchWithPayment(target, toX402Header(credential, stage.asset), {
      headers: { authorization: credential },
    });
    expect(both.status).toBe(200);
    expect(await spentBy(payer.address)).toEqual([TEST_PRICE]);
  });
});
