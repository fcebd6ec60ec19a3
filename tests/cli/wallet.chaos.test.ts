// The command itself is killed while it pays; wallet.integration.test.ts loses its response, crash.integration.test.ts kills the client.
import { afterAll, beforeAll, expect, it } from "vitest";
import { exampleSnapshot } from "../../src/schema/portfolio/examples.ts";
import { startSextant } from "../support/process/sextant-process.ts";
import { openPaidRun } from "./paid-run.ts";

const WALLET = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";

let stage: Awaited<ReturnType<typeof openPaidRun>>;
beforeAll(async () => {
  stage = await openPaidRun();
});
afterAll(() => stage?.close());

it("recovers a purchase whose process was killed after settlement, without paying again", async () => {
  const payer = await stage.openPayer();
  const buyer = startSextant(["wallet", WALLET], { environment: payer.environment, cwd: payer.folder });
  payer.proxy.onSettled = () => void buyer.child.kill("SIGKILL");
  expect(await buyer.ended).toEqual({ code: null, out: "", err: "" });
  payer.proxy.onSettled = () => undefined;
  const recovered = await payer.run(["payments", "recover", "--json"]);
  const [transaction, ...others] = await payer.transactions();
  expect([recovered.code, others]).toEqual([0, []]);
  expect(JSON.parse(recovered.out)).toMatchObject({
    payment: { state: "paid", transaction },
    data: exampleSnapshot,
  });
});

it("reports an unknown charge when it is interrupted while it pays", async () => {
  const payer = await stage.openPayer();
  const buyer = startSextant(["wallet", WALLET], { environment: payer.environment, cwd: payer.folder });
  payer.proxy.plan = () => {
    buyer.child.kill("SIGINT");
    return "lose-request";
  };
  const { code, out, err } = await buyer.ended;
  expect([code, out]).toEqual([5, ""]);
  expect(err).toContain("It is not known whether the payment was charged.");
});
