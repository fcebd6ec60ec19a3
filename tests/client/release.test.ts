// Reads from the chain about a rejected payment: whether its amount is free again, and whether a new one may be signed.
import type { PaymentPayload } from "@x402/core/types";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createSextant, type SextantOptions } from "../../packages/client/create-sextant.ts";
import { SextantError } from "../../packages/client/errors.ts";
import { createMemoryJournal } from "../../packages/client/journal/journal.ts";
import {
  requirePayment,
  type ScriptedService,
  startScriptedService,
  TERMS,
} from "../../packages/client/testing/scripted-service.ts";
import { Fault } from "../../src/lib/fault.ts";
import { startLoopbackServer } from "../support/http/loopback-server.ts";
import { encodeSignedTransfer } from "../support/payments/transfer-calldata.ts";
import { type ClientStage, openClientStage, walletAt } from "./client-stage.ts";
import { startFaultyProxy } from "./faulty-proxy.ts";

const DAY_SECONDS = 86_400n;
/** More than the local chain needs for its first block to be final. */
const FINALITY_DEPTH = 40;

let stage: ClientStage;
beforeAll(async () => {
  stage = await openClientStage();
});
afterAll(() => stage?.close());
afterEach(() => void vi.useRealTimers());

/** For the chain only; what is mined is final except for the last blocks. */
async function passOnChain(seconds: bigint, blocks = FINALITY_DEPTH): Promise<void> {
  const { chain, node } = stage.paid;
  const { timestamp } = await node.getBlock();
  await chain.setNextBlockTimestamp(timestamp + seconds);
  await chain.mine(blocks);
}

/** For this machine and for the chain. */
async function passADay(): Promise<void> {
  await passOnChain(DAY_SECONDS);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + Number(DAY_SECONDS) * 1_000 });
}

/** Anyone who has the signature can do this. */
async function carryOut(signature: unknown): Promise<void> {
  const payment = JSON.parse(Buffer.from(String(signature), "base64").toString()) as PaymentPayload;
  const { chain, asset } = stage.paid;
  const from = chain.accounts.facilitator.address;
  await chain.request("eth_sendTransaction", [
    { from, to: asset, data: encodeSignedTransfer(payment), gas: "0xf4240" },
  ]);
}

// First: the clocks of chain and machine still agree.
describe("a signature that another party carries out after a failed read", () => {
  it("gets the response by the same signature, and pays once", async () => {
    const { account } = await stage.payer();
    const journal = createMemoryJournal();
    const guard = { ...stage.guard, node: stage.paid.chain.rpcUrl };
    const sextant = createSextant({ portfolio: stage.url, payer: account, guard, journal, attemptsMax: 1 });
    const buy = () => sextant.getPortfolio({ address: walletAt(20) }, { purchase: "report" });
    stage.reads.fault = new Fault("PROVIDER_FAILED", "The chain cannot be read.");
    await expect(buy()).rejects.toMatchObject({ code: "PROVIDER_FAILED", charged: "unknown" });
    stage.reads.fault = null;
    await carryOut((await journal.read()).list()[0]?.signature);
    const { data, receipt } = await buy();
    expect(data).toMatchObject({ address: walletAt(20) });
    const { chain } = await stage.payments(account.address);
    expect([chain, await sextant.payments.list()]).toMatchObject([
      [receipt?.transaction],
      [{ state: "paid" }],
    ]);
  });
});

describe("a payment that the service rejects", () => {
  it("releases a payment that was not charged, and holds it when the service lies", async () => {
    const { account: poor } = await stage.payer(0n);
    const { account: rich } = await stage.payer();
    const liar = await startFaultyProxy(stage.url);
    // Charges, and says that it did not.
    liar.plan = () => "claim-rejection";
    const guard = { ...stage.guard, node: stage.paid.chain.rpcUrl };
    const honest = createSextant({ portfolio: stage.url, payer: poor, guard });
    const deceived = createSextant({ portfolio: liar.url, payer: rich, guard });
    for (const [index, sextant] of [honest, deceived].entries()) {
      await expect(sextant.getPortfolio({ address: walletAt(index) })).rejects.toMatchObject({
        ...{ code: "PAYMENT_REQUIRED", charged: "unknown", retry: "same-signature" },
      });
      // As long as the signature is valid, nothing is proven.
      expect(await sextant.payments.recover()).toEqual([]);
    }
    await passADay();
    expect(await honest.payments.recover()).toMatchObject([
      { payment: { state: "released" }, result: null, error: null },
    ]);
    expect((await honest.payments.budget()).spent.total).toBe("0");
    expect(await deceived.payments.recover()).toEqual([]);
    expect((await deceived.payments.budget()).spent.total).toBe("0.01");
    expect((await stage.payments(rich.address)).chain).toHaveLength(1);
    await liar.stop();
  });

  it("releases no payment by a node of another network, or by another kind of server", async () => {
    const { account } = await stage.payer(0n);
    const mainnet = await startLoopbackServer((_, response) => response.end('{"result":"0x1"}'));
    for (const [node, code] of [
      [mainnet.url, "NOT_CONFIGURED"],
      [stage.url, "RESPONSE_INVALID"],
    ] as const) {
      const sextant = createSextant({
        portfolio: stage.url,
        payer: account,
        guard: { ...stage.guard, node },
      });
      await expect(sextant.getPortfolio({ address: walletAt(7) })).rejects.toThrow();
      await passADay();
      expect(await sextant.payments.recover()).toMatchObject([{ result: null, error: { code } }]);
      expect((await sextant.payments.budget()).spent.total).toBe("0.01");
    }
    await mainnet.stop();
  });
});

describe("a client with a node, of a service that says 402 to every signature,", () => {
  let service: ScriptedService;
  let options: SextantOptions;
  let signed: number;
  beforeEach(async () => {
    service = await startScriptedService();
    const { asset, payTo, chain, node } = stage.paid;
    const terms = [{ ...TERMS, asset, payTo, maxTimeoutSeconds: WINDOW }];
    service.onUnpaid = (_, response) => requirePayment(response, terms);
    service.onPaid = (_, response) => requirePayment(response, terms);
    const { account } = await stage.payer();
    signed = 0;
    const payer: SextantOptions["payer"] = {
      address: account.address,
      signTypedData: (data) => {
        signed += 1;
        return account.signTypedData(data);
      },
    };
    const guard = { ...stage.guard, node: chain.rpcUrl };
    options = { portfolio: service.url, payer, guard, journal: createMemoryJournal(), attemptsMax: 1 };
    // Signatures are valid by the time of this machine; the chain may be ahead of it after other tests.
    const { timestamp } = await node.getBlock();
    vi.useFakeTimers({ toFake: ["Date"], now: Number(timestamp) * 1_000 });
  });
  afterEach(() => service.stop());

  const WINDOW = 60;
  const MARGIN = 300;

  async function fail(): Promise<string> {
    const error = await createSextant(options)
      .getPortfolio({ address: walletAt(1) }, { purchase: "report" })
      .catch((thrown: unknown) => thrown);
    if (!(error instanceof SextantError)) throw error;
    return `${error.code} ${error.charged} ${error.retry}`;
  }

  const transfers = async () => (await stage.payments(options.payer?.address ?? "0x")).chain.length;

  it("makes one transfer for a named purchase although each signature is carried out and denied", async () => {
    const deny = service.onPaid;
    service.onPaid = async (request, response) => {
      await carryOut(request.headers["payment-signature"]);
      deny(request, response);
    };
    expect(await fail()).toBe("PAYMENT_REQUIRED unknown same-signature");
    service.onPaid = deny;
    for (let call = 0; call < 5; call += 1) await fail();
    await passOnChain(DAY_SECONDS / 2n);
    vi.setSystemTime(Date.now() + Number(DAY_SECONDS / 2n) * 1_000);
    await fail();
    expect([signed, await transfers()]).toEqual([1, 1]);
    expect((await createSextant(options).payments.budget()).spent.total).toBe("0.01");
  });

  it("learns from the chain that it has paid, and gets what it paid for when the service delivers after all", async () => {
    const deny = service.onPaid;
    service.onPaid = (_, response) =>
      response.writeHead(500, { "x-error-code": "PROVIDER_FAILED" }).end('{"error":"No."}');
    expect(await fail()).toBe("PROVIDER_FAILED unknown same-signature");
    await carryOut(service.received[0]);
    await passOnChain(1n);
    service.onPaid = deny;
    expect(await fail()).toBe("PAYMENT_REQUIRED once same-signature");
    service.onPaid = (_, response) => response.end('{"ok":true}');
    const sextant = createSextant(options);
    const bought = await sextant.getPortfolio({ address: walletAt(1) }, { purchase: "report" });
    expect([bought.data, signed, await transfers()]).toEqual([{ ok: true }, 1, 1]);
  });

  it("signs again once the chain has it unused well past its end, whatever the clock of the machine says", async () => {
    await fail();
    // A clock that runs ahead ends no signature.
    vi.setSystemTime(Date.now() + Number(DAY_SECONDS) * 1_000);
    await fail();
    expect(signed).toBe(1);
    vi.setSystemTime(Date.now() - Number(DAY_SECONDS) * 1_000);
    await passOnChain(BigInt(WINDOW + MARGIN - 1), 1);
    await fail();
    expect(signed).toBe(1);
    await passOnChain(1n, 1);
    await fail();
    expect(signed).toBe(2);
    const sextant = createSextant(options);
    expect((await sextant.payments.budget()).spent.total).toBe("0.02");
    // Final: the amount of the first is released, too.
    await passADay();
    expect((await sextant.payments.recover()).map(({ payment }) => payment.state)).toEqual([
      "released",
      "released",
    ]);
    expect((await sextant.payments.budget()).spent.total).toBe("0");
  });

  it("learns from its node that a payment whose response was lost is over and was not charged", async () => {
    const deny = service.onPaid;
    service.onPaid = (request) => request.socket.destroy();
    expect(await fail()).toBe("UNREACHABLE unknown same-signature");
    await passOnChain(BigInt(WINDOW + MARGIN), 1);
    service.onPaid = deny;
    const [recovered] = await createSextant(options).payments.recover();
    expect(recovered?.error).toMatchObject({ charged: "no", retry: "sign-again" });
  });

  it("asks its node about a request that the service calls wrong: it may have charged all the same", async () => {
    const rejectAfter = (act: (signature: unknown) => Promise<void>): typeof service.onPaid => {
      return (request, response) =>
        void act(request.headers["payment-signature"]).then(() =>
          response.writeHead(400, { "x-error-code": "INPUT_INVALID" }).end('{"error":"No."}'),
        );
    };
    service.onPaid = rejectAfter(async (signature) => {
      await carryOut(signature);
      await passOnChain(1n);
    });
    expect(await fail()).toBe("INPUT_INVALID once same-signature");
    expect(signed).toBe(1);
    service.onPaid = rejectAfter(async () => undefined);
    options = { ...options, journal: createMemoryJournal() };
    expect(await fail()).toBe("INPUT_INVALID unknown never");
    await passOnChain(BigInt(WINDOW + MARGIN), 1);
    expect(await fail()).toBe("INPUT_INVALID no never");
  });

  it("signs nothing new while its node does not respond, or sends nonsense", async () => {
    await fail();
    await passADay();
    const nonsense = await startLoopbackServer((_, response) => response.end('{"result":"0x7a69"}'));
    for (const node of ["http://127.0.0.1:9", nonsense.url]) {
      options = { ...options, guard: { ...stage.guard, node } };
      expect(await fail()).toBe("PAYMENT_REQUIRED unknown same-signature");
    }
    await nonsense.stop();
    expect(signed).toBe(1);
  });

  it("recovers what was charged although the service rejected it", async () => {
    await fail();
    await carryOut(service.received[0]);
    await passADay();
    service.onPaid = (_, response) => response.end('{"ok":true}');
    const sextant = createSextant(options);
    expect(await sextant.payments.recover()).toMatchObject([
      { payment: { state: "paid" }, result: { data: { ok: true } }, error: null },
    ]);
    expect([signed, await transfers()]).toEqual([1, 1]);
  });
});
