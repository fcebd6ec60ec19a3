// A service whose payment node is down when it starts, with the pauses of a real outage.
// payment-token.test.ts covers the same rule with short ones ("while no node responds").
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixedReturnCode } from "../../tests/support/chain/fixed-return-contract.ts";
import { startFaultyNode } from "../../tests/support/nodes/faulty-node.ts";
import { waitFor } from "../../tests/support/payments/paid-client.ts";
import { openPaidStage, type PaidStage } from "../../tests/support/payments/paid-stage.ts";
import {
  NO_NODE,
  TOKEN,
  TOKEN_FUNCTIONS,
  tokenEnvironment,
} from "../../tests/support/payments/token-service.ts";
import { startPortfolioCommand } from "../../tests/support/process/service-command.ts";
import { createDatabaseEnvironment } from "../../tests/support/process/sextant-process.ts";

let stage: PaidStage;
let database: Awaited<ReturnType<typeof createDatabaseEnvironment>>;
beforeAll(async () => {
  stage = await openPaidStage("in process");
  await stage.chain.setCode(TOKEN, fixedReturnCode(TOKEN_FUNCTIONS));
  database = await createDatabaseEnvironment();
});
afterAll(async () => {
  await database.drop();
  await stage.close();
});

const start = (url: string) =>
  startPortfolioCommand({ ...tokenEnvironment(stage, database.environment), PAYMENT_RPC_URL: url });

describe("while no node responds", () => {
  it("a service waits, assumes nothing, and starts once one does", async () => {
    let isUp = false;
    const node = await startFaultyNode({
      upstream: stage.chain.rpcUrl,
      plan: () => (isUp ? null : { kind: "reset" }),
    });
    const service = start(node.url);
    try {
      await waitFor(() => service.logged().includes("Reading the payment token failed, retrying"));
      expect(service.logged()).not.toContain("Portfolio service is listening");
      isUp = true;
      expect(await service.listening()).not.toBe("");
    } finally {
      service.stop.abort();
      expect(await service.ended).toBe(0);
      await node.stop();
    }
  }, 60_000);

  it("a service stops on request", async () => {
    const service = start(NO_NODE);
    await waitFor(() => service.logged().includes("Reading the payment token failed, retrying"));
    service.stop.abort();
    expect(await service.ended).toBe(0);
  }, 60_000);
});
