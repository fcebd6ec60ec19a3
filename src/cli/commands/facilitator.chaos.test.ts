// `sextant facilitator` settles once, also when it is killed after it has settled.
// A fast test of the same rule, in one process: src/payments/facilitator/idempotent-settle.test.ts.
import { request } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { openFacilitatorStage } from "../../../tests/support/payments/facilitator-process.ts";
import { signPaymentFor, waitFor } from "../../../tests/support/payments/paid-client.ts";
import { paymentTermsOf } from "../../../tests/support/payments/test-facilitator.ts";

it("settles once when the response is lost and the process is killed", async () => {
  const stage = await openFacilitatorStage();
  onTestFinished(() => stage.close());
  const service = await stage.serve();
  const payer = await stage.payer();
  const { payload } = await signPaymentFor(`${service.url}/paid?q=lost`, payer, stage.asset);
  const sender = stage.chain.accounts.guardian.address;
  const sentBefore = await stage.node.getTransactionCount({ address: sender });
  const body = JSON.stringify({
    ...{ x402Version: 2, paymentPayload: payload, paymentRequirements: paymentTermsOf(stage) },
  });
  const headers = { "content-type": "application/json" };
  const settle = async (url: string) =>
    (await fetch(`${url}/settle`, { method: "POST", headers, body })).json();

  const first = await stage.startFacilitator();
  // Close the connection before the response.
  const lost = request(`${first.url}/settle`, { method: "POST", headers });
  lost.on("error", () => undefined);
  lost.end(body, () => setTimeout(() => lost.destroy(), 5));
  await waitFor(async () => (await stage.transfersFrom(payer.address)).length === 1);
  const [transfer] = await stage.transfersFrom(payer.address);
  const expected = { success: true, transaction: transfer?.transactionHash };
  const repeats = await Promise.all(Array.from({ length: 5 }, () => settle(first.url)));
  for (const repeat of repeats) expect(repeat).toMatchObject(expected);
  first.service.child.kill("SIGKILL");
  await first.service.ended;

  const second = await stage.startFacilitator();
  expect(await settle(second.url)).toMatchObject(expected);
  expect(await stage.node.getTransactionCount({ address: sender })).toBe(sentBefore + 1);
  expect(await stage.transfersFrom(payer.address)).toHaveLength(1);
});
