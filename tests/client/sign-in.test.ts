// A process without the journal gets what its owner has bought, from the real service, and pays only for what is not there.
import { afterAll, beforeAll, expect, it } from "vitest";
import { createSextant } from "../../packages/client/create-sextant.ts";
import { exampleSnapshot } from "../../src/schema/portfolio/examples.ts";
import { type ClientStage, openClientStage } from "./client-stage.ts";

const WALLET = { address: exampleSnapshot.address };

let stage: ClientStage;
beforeAll(async () => {
  stage = await openClientStage({ signIn: true });
  Object.defineProperty(stage.service.sale.offer, "resourceOrigin", { value: stage.url });
});
afterAll(() => stage?.close());

it("gets the response of another process again, however often, and pays once", async () => {
  const { account } = await stage.payer();
  const open = () => createSextant({ portfolio: stage.url, payer: account, guard: stage.guard });
  const bought = await open().getPortfolio(WALLET);
  for (const sextant of [open(), open()]) {
    const again = await sextant.getPortfolio(WALLET, { again: true });
    expect(again.data).toEqual(bought.data);
    expect(again.receipt).toBeNull();
    expect(again.exchange.response.headers).toEqual(bought.exchange.response.headers);
    expect((await sextant.payments.budget()).spent.total).toBe("0");
  }
  expect(stage.runs).toHaveLength(1);
  expect((await stage.payments(account.address)).chain).toHaveLength(1);
});

it("buys what it has not bought, and finds it the next time", async () => {
  const { account } = await stage.payer();
  const before = stage.runs.length;
  for (const receipts of [1, 0]) {
    const sextant = createSextant({ portfolio: stage.url, payer: account, guard: stage.guard });
    const { receipt } = await sextant.getPortfolio({ ...WALLET, chains: "base" }, { again: true });
    expect(receipt === null ? 0 : 1).toBe(receipts);
  }
  expect(stage.runs.length - before).toBe(1);
  expect((await stage.payments(account.address)).chain).toHaveLength(1);
});
