// `sextant facilitator` as a process: it serves what the x402 client expects, and refuses to start half configured.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, signedFor } from "../../tests/support/paid-client.ts";
import { openPaidStage, type PaidStage } from "../../tests/support/paid-stage.ts";
import { sextantHere } from "../../tests/support/sextant-here.ts";
import { startSextant } from "../../tests/support/sextant-process.ts";
import { createRemoteFacilitator } from "../payments/facilitator/remote-facilitator.ts";

let stage: PaidStage;
beforeAll(async () => {
  stage = await openPaidStage("in process");
});
afterAll(() => stage.close());

const environment = () => ({
  FACILITATOR_PORT: "0",
  FACILITATOR_PRIVATE_KEY: stage.chain.accounts.guardian.privateKey,
  FACILITATOR_PAYEES: stage.payTo,
  PAYMENT_NETWORK: "eip155:31337",
  PAYMENT_RPC_URL: stage.chain.rpcUrl,
  PAYMENT_ASSET: stage.asset,
  PAYMENT_ASSET_NAME: "USD Coin",
  PAYMENT_ASSET_VERSION: "2",
});

describe("the facilitator's door", () => {
  it("carries out payments for a service elsewhere, and never shows its key", async () => {
    const door = startSextant(["facilitator"], { environment: environment() });
    const said = await door.saw(/facilitator on http:\/\/127\.0\.0\.1:\d+/);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? "";
    const remote = createRemoteFacilitator({ url, timeoutMs: 5_000 });
    expect((await remote.getSupported()).kinds).toEqual([
      { x402Version: 2, scheme: "exact", network: "eip155:31337" },
    ]);
    const service = await stage.serve();
    service.injected.verify = () => (payload, terms) => remote.verify(payload, terms);
    service.injected.settle = () => (payload, terms) => remote.settle(payload, terms);
    const payer = await stage.payer();
    const target = `${service.url}/paid?q=remote`;
    const { header } = await signedFor(target, payer, stage.asset);
    expect((await ask(target, header)).status).toBe(200);
    expect(await stage.transfersFrom(payer.address)).toHaveLength(1);

    expect((await fetch(`${url}/ready`)).status).toBe(200);
    expect(await (await fetch(`${url}/metrics`)).text()).toContain(
      'sextant_facilitator_requests_total{operation="settle",outcome="ok"} 1',
    );
    const malformed = await fetch(`${url}/settle`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ x402Version: 2, paymentPayload: {}, paymentRequirements: {} }),
    });
    expect(malformed.status).toBe(400);
    door.child.kill("SIGTERM");
    const { code, out, err } = await door.ended;
    expect(code).toBe(0);
    expect(out + err).not.toContain(stage.chain.accounts.guardian.privateKey.slice(2));
  });

  it.each([
    ["FACILITATOR_PRIVATE_KEY", {}, /FACILITATOR_PRIVATE_KEY must be the key/],
    ["PAYMENT_RPC_URL", {}, /PAYMENT_RPC_URL must name at least one node/],
    ["PAYMENT_ASSET", {}, /PAYMENT_ASSET must name the token/],
    ["PAYMENT_ASSET_NAME", {}, /PAYMENT_ASSET needs PAYMENT_ASSET_NAME/],
    [
      "FACILITATOR_PAYEES",
      { PAYMENT_NETWORK: "eip155:8453" },
      /FACILITATOR_PAYEES must name who may be paid/,
    ],
  ])("does not start without %s", async (left, changed, words) => {
    const { [left]: _left, ...rest } = environment() as Record<string, string>;
    const { code, err } = await sextantHere(["facilitator"], { ...rest, ...changed });
    expect(err).toMatch(words);
    expect(code).toBe(78);
  });
});
