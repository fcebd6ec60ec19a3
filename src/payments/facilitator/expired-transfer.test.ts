// Transfers that are mined after their authorization has expired: whether that blocks their payer.
import type { Hex } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { openPaidBackend, type PaidBackend } from "../../../tests/support/payments/paid-backend.ts";
import { signPaymentFor, TEST_NETWORK } from "../../../tests/support/payments/paid-client.ts";
import { openPaidStage, type PaidStage } from "../../../tests/support/payments/paid-stage.ts";
import { openTestFacilitator, paymentTermsOf } from "../../../tests/support/payments/test-facilitator.ts";
import { systemClock } from "../../lib/clock.ts";
import { openRecordStore } from "../../store/postgres/record-store.ts";
import { requestSettle } from "./facilitator.ts";
import { SettlementRecords } from "./settlement-records.ts";

let backend: PaidBackend;
let stage: PaidStage;
beforeAll(async () => {
  backend = await openPaidBackend();
});
afterAll(() => backend.close());
beforeEach(async () => {
  stage = await openPaidStage("in process", backend);
});
afterEach(() => stage.close());

const GWEI = 10n ** 9n;

/** Sends a transfer that is mined in the last of the blocks, and settles it again afterwards. */
async function barredAfter(blocks: readonly { baseFee?: bigint; pastExpirySeconds?: number }[]) {
  const paid = `${(await stage.serve()).url}/paid?q=x`;
  const payer = await stage.payer();
  const { payload } = await signPaymentFor(paid, payer, stage.asset);
  const { validBefore } = (payload.payload as { authorization: { validBefore: string } }).authorization;
  const { privateKey } = stage.chain.accounts.attestor;
  const facilitator = openTestFacilitator(stage, { privateKey, confirmationMs: 300 });
  await stage.chain.request("evm_setAutomine", [false]);
  const sent = await requestSettle(facilitator, payload, paymentTermsOf(stage));
  expect(sent).toMatchObject({ kind: "unknown", transaction: expect.stringMatching(/^0x/) });
  const hash = (sent as { transaction: Hex }).transaction;
  for (const { baseFee = 0n, pastExpirySeconds } of blocks) {
    await expect(stage.node.getTransactionReceipt({ hash })).rejects.toThrow("could not be found");
    await stage.chain.request("hardhat_setNextBlockBaseFeePerGas", [`0x${baseFee.toString(16)}`]);
    const timestamp = Number(validBefore) + (pastExpirySeconds ?? 0);
    if (pastExpirySeconds !== undefined) await stage.chain.request("evm_setNextBlockTimestamp", [timestamp]);
    await stage.chain.mine();
  }
  expect((await stage.node.getTransactionReceipt({ hash })).status).toBe("reverted");
  expect(await requestSettle(facilitator, payload, paymentTermsOf(stage))).toMatchObject({
    kind: "rejected",
  });
  const records = new SettlementRecords(openRecordStore(stage.database), systemClock);
  return records.isPayerBlocked(TEST_NETWORK, payer.address.toLowerCase() as Hex);
}

it("does not block a payer whose transfer our fee limit delayed past expiry", async () => {
  expect(await barredAfter([{ baseFee: 200n * GWEI }, { pastExpirySeconds: 0 }])).toBe(false);
});

it("does not block a payer whose delayed transfer also missed a block past expiry", async () => {
  const waiting = { baseFee: 200n * GWEI };
  expect(await barredAfter([waiting, { ...waiting, pastExpirySeconds: 1 }, { pastExpirySeconds: 3 }])).toBe(
    false,
  );
});

it("blocks a payer whose transfer was signed to expire before the next block", async () => {
  expect(await barredAfter([{ pastExpirySeconds: 0 }])).toBe(true);
});
