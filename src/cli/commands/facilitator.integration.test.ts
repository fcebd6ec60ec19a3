// `sextant facilitator` as a process: it settles, ends on a signal, and prints no key.
// Fast tests of the same rules, without a process: facilitator.test.ts.
import { expect, it, onTestFinished } from "vitest";
import { openFacilitatorStage } from "../../../tests/support/payments/facilitator-process.ts";
import { signPaymentFor } from "../../../tests/support/payments/paid-client.ts";
import { paymentTermsOf } from "../../../tests/support/payments/test-facilitator.ts";
import { createRemoteFacilitator, requestSettle } from "../../payments/facilitator/facilitator.ts";

it("settles a payment as a process, exits with 0 on SIGTERM, and does not print its key", async () => {
  const stage = await openFacilitatorStage();
  onTestFinished(() => stage.close());
  const { service: facilitator, url } = await stage.startFacilitator();
  const remote = createRemoteFacilitator({ url, timeoutMs: 5_000 });
  const service = await stage.serve();
  const payer = await stage.payer();
  const { payload } = await signPaymentFor(`${service.url}/paid?q=process`, payer, stage.asset);
  expect(await requestSettle(remote, payload, paymentTermsOf(stage))).toMatchObject({ kind: "settled" });
  expect(await stage.transfersFrom(payer.address)).toHaveLength(1);
  facilitator.child.kill("SIGTERM");
  const { code, out, err } = await facilitator.ended;
  expect(code).toBe(0);
  expect(out + err).toContain("facilitator_listening");
  expect(out + err).not.toContain(stage.chain.accounts.guardian.privateKey.slice(2));
});
