// A rejected amount is free again only when the chain shows that it was not charged.
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createSextant } from "../../packages/client/create-sextant.ts";
import { startLoopbackServer } from "../support/http/loopback-server.ts";
import { type ClientStage, openClientStage, walletAt } from "./client-stage.ts";
import { startFaultyProxy } from "./faulty-proxy.ts";

const DAY_SECONDS = 86_400n;
/** More than the local chain needs for its first block to be final. */
const FINALITY_DEPTH = 40;

describe("a payment that the service rejects", () => {
  let stage: ClientStage;
  beforeAll(async () => {
    stage = await openClientStage();
  });
  afterAll(async () => {
    vi.useRealTimers();
    await stage?.close();
  });

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
        ...{ code: "PAYMENT_REQUIRED", charged: "no", retry: "sign-again" },
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

  /** For this machine and for the chain. */
  async function passADay(): Promise<void> {
    const { chain, node } = stage.paid;
    const { timestamp } = await node.getBlock();
    await chain.setNextBlockTimestamp(timestamp + DAY_SECONDS);
    await chain.mine(FINALITY_DEPTH);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + Number(DAY_SECONDS) * 1_000 });
  }
});
