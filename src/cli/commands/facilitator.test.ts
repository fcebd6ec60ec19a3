// `sextant facilitator` serves x402 clients, and rejects an incomplete configuration.
// facilitator.integration.test.ts starts it as a process.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openApiClient } from "../../../tests/support/http/api-client.ts";
import { expectLimitPerForwardedClient } from "../../../tests/support/http/forwarded-clients.ts";
import {
  type FacilitatorStage,
  openFacilitatorStage,
} from "../../../tests/support/payments/facilitator-process.ts";
import { fetchWithPayment, signPaymentFor } from "../../../tests/support/payments/paid-client.ts";
import { paymentTermsOf } from "../../../tests/support/payments/test-facilitator.ts";
import { runSextantInProcess } from "../../../tests/support/process/run-in-process.ts";
import { startServiceCommand } from "../../../tests/support/process/service-command.ts";
import { createRemoteFacilitator } from "../../payments/facilitator/facilitator.ts";
import { facilitatorCommand } from "./facilitator.ts";

let stage: FacilitatorStage;
beforeAll(async () => {
  stage = await openFacilitatorStage();
});
afterAll(() => stage?.close());

/** A service that has no facilitator of its own pays through it. */
async function settlesForRemoteService(url: string): Promise<void> {
  const remote = createRemoteFacilitator({ url, timeoutMs: 5_000 });
  expect((await remote.getSupported()).kinds).toEqual([
    { x402Version: 2, scheme: "exact", network: "eip155:31337" },
  ]);
  const service = await stage.serve();
  service.injected.verify = () => (payload, terms) => remote.verify(payload, terms);
  service.injected.settle = () => (payload, terms) => remote.settle(payload, terms);
  const payer = await stage.payer();
  const target = `${service.url}/paid?q=remote`;
  const { header } = await signPaymentFor(target, payer, stage.asset);
  expect((await fetchWithPayment(target, header)).status).toBe(200);
  expect(await stage.transfersFrom(payer.address)).toHaveLength(1);

  expect((await fetch(`${url}/ready`)).status).toBe(200);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toContain('sextant_facilitator_requests_total{operation="settle",outcome="ok"} 1');
  expect(metrics).toMatch(/sextant_rpc_calls_total\{.*method="eth_sendRawTransaction",outcome="ok"\} 1/);
  const malformed = await fetch(`${url}/settle`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ x402Version: 2, paymentPayload: {}, paymentRequirements: {} }),
  });
  expect(malformed.status).toBe(400);
}

/** Every path and method, with requests of each kind. */
async function respondsAsDocumented(url: string): Promise<void> {
  const client = await openApiClient(url);
  const service = await stage.serve();
  const { payload } = await signPaymentFor(`${service.url}/paid?q=doc`, await stage.payer(), stage.asset);
  const body = { x402Version: 2, paymentPayload: payload, paymentRequirements: paymentTermsOf(stage) };
  const unserved = { ...body, paymentRequirements: { ...body.paymentRequirements, network: "eip155:1" } };
  const statuses: number[] = [];
  for (const [path, methods] of Object.entries(client.document.paths)) {
    for (const method of Object.keys(methods)) {
      if (method === "get") {
        statuses.push((await client.call(path)).status, (await client.call(path, { method: "HEAD" })).status);
        continue;
      }
      const example = methods[method]?.requestBody?.content["application/json"]?.example;
      for (const sent of [body, body, unserved, example]) {
        statuses.push((await client.call(path, { method: "POST", body: sent })).status);
      }
      expect((await client.call(path, { method: "POST", body: {} })).status).toBe(400);
      const plain = { method: "POST", body: "{}", headers: { "content-type": "text/plain" } };
      expect((await client.call(path, plain)).status).toBe(415);
      expect((await client.call(path, { method: "POST", body: "9".repeat(140_000) })).status).toBe(413);
    }
    expect((await client.call(path, { method: "DELETE" })).status).toBe(405);
  }
  expect(statuses).toEqual(Array.from(statuses, () => 200));
}

describe("sextant facilitator", () => {
  it("settles payments, responds as documented, counts clients behind a proxy, and does not reveal its key", async () => {
    const facilitator = startServiceCommand(facilitatorCommand, {
      ...stage.environment,
      ...{ SEXTANT_TRUST_PROXY: "1", SEXTANT_REQUESTS_PER_MINUTE: "100" },
    });
    const url = await facilitator.listening();
    await settlesForRemoteService(url);
    await respondsAsDocumented(url);
    // Browsers request it together with /docs.
    expect((await fetch(`${url}/favicon.ico`)).headers.get("content-type")).toBe("image/x-icon");
    await expectLimitPerForwardedClient(`${url}/supported`, 100);
    facilitator.stop.abort();
    expect(await facilitator.ended).toBe(0);
    expect(facilitator.logged()).not.toContain(stage.chain.accounts.guardian.privateKey.slice(2));
  });

  it.each([
    ["FACILITATOR_PRIVATE_KEY", {}, /FACILITATOR_PRIVATE_KEY must be the key/],
    ["PAYMENT_RPC_URL", {}, /PAYMENT_RPC_URL must name at least one node/],
    ["PAYMENT_ASSET", {}, /PAYMENT_ASSET must name the token/],
    ["PAYMENT_ASSET_NAME", {}, /PAYMENT_ASSET needs PAYMENT_ASSET_NAME/],
    ["FACILITATOR_PAYEES", { PAYMENT_NETWORK: "eip155:8453" }, /FACILITATOR_PAYEES must list the payees/],
    [
      "FACILITATOR_GAS_PRICE_MAX",
      { PAYMENT_NETWORK: "eip155:424242" },
      /FACILITATOR_GAS_PRICE_MAX must set the most paid per gas/,
    ],
  ])("does not start without %s", async (missing, changed, message) => {
    const { [missing]: _missing, ...rest } = stage.environment;
    const { code, err } = await runSextantInProcess(["facilitator"], { ...rest, ...changed });
    expect(err).toMatch(message);
    expect(code).toBe(78);
  });
});
