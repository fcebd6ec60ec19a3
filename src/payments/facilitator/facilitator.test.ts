// Every response of a facilitator, and none at all, is a verdict, a rejection or unknown; nothing is guessed.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { describe, expect, it, onTestFinished } from "vitest";
import { LOCAL_GAS } from "../../../tests/support/chain/local-gas.ts";
import { openTestDatabase } from "../../../tests/support/index/test-index.ts";
import { singleProcessTurns } from "../../../tests/support/payments/single-process-turns.ts";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import type { Hex } from "../../lib/hex.ts";
import { Secret } from "../../lib/secret.ts";
import { openRecordStore } from "../../store/postgres/record-store.ts";
import { rejectionMessage } from "../rejection-reasons.ts";
import { createRemoteFacilitator, requestSettle, requestVerify } from "./facilitator.ts";
import { createLocalFacilitator } from "./local.ts";

const HASH = `0x${"ab".repeat(32)}`;
const terms: PaymentRequirements = {
  ...{ scheme: "exact", network: "eip155:1", amount: "1", asset: `0x${"01".repeat(20)}` },
  ...{ payTo: `0x${"02".repeat(20)}`, maxTimeoutSeconds: 60, extra: { name: "USD Coin", version: "2" } },
};
const payload: PaymentPayload = {
  x402Version: 2,
  accepted: terms,
  payload: {
    authorization: {
      ...{ from: `0x${"03".repeat(20)}`, to: terms.payTo, value: "1", validAfter: "0" },
      ...{ validBefore: "9999999999", nonce: HASH },
    },
    signature: `0x${"11".repeat(64)}1b`,
  },
};

async function saying(status: number, text: string, timeoutMs = 2_000) {
  const server = createServer((request, response) => {
    request.resume();
    if (status > 0) response.writeHead(status, { "content-type": "application/json" }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return createRemoteFacilitator({ url: `http://127.0.0.1:${port}`, timeoutMs });
}

describe("a verification", () => {
  it.each([
    [200, '{"isValid":true}', "valid"],
    [200, '{"isValid":false,"invalidReason":"invalid_exact_evm_signature"}', "rejected"],
    [400, '{"isValid":false,"invalidReason":"invalid_exact_evm_signature"}', "rejected"],
    [500, '{"isValid":false,"invalidReason":"unexpected"}', "unavailable"],
    [200, '{"isValid":"yes"}', "unavailable"],
    [200, "<html>", "unavailable"],
    [503, "<html>", "unavailable"],
    [429, "{}", "unavailable"],
  ])("reads a verify response %i %s as %s", async (status, text, kind) => {
    expect(await requestVerify(await saying(status, text), payload, terms)).toMatchObject({ kind });
  });

  it("calls a verification without a response unavailable", async () => {
    expect(await requestVerify(await saying(0, "", 100), payload, terms)).toMatchObject({
      kind: "unavailable",
    });
    const unreachable = createRemoteFacilitator({ url: "http://127.0.0.1:1", timeoutMs: 1_000 });
    expect(await requestVerify(unreachable, payload, terms)).toMatchObject({ kind: "unavailable" });
  });
});

describe("a settlement", () => {
  const settleBody = (fields: object) => JSON.stringify({ transaction: "", network: "eip155:1", ...fields });

  it.each([
    [200, settleBody({ success: true, transaction: HASH }), { kind: "settled", transaction: HASH }],
    [200, settleBody({ success: true }), { kind: "unknown" }],
    [
      200,
      settleBody({ success: false, errorReason: "invalid_exact_evm_insufficient_balance" }),
      { kind: "rejected" },
    ],
    [402, settleBody({ success: false, errorReason: "invalid_exact_evm_signature" }), { kind: "rejected" }],
    [
      200,
      settleBody({ success: false, errorReason: "settlement_pending", transaction: HASH }),
      { kind: "unknown", transaction: HASH },
    ],
    [
      200,
      settleBody({ success: false, errorReason: "invalid_exact_evm_transaction_failed", transaction: HASH }),
      { kind: "rejected" },
    ],
    [
      200,
      settleBody({ success: false, errorReason: "invalid_exact_evm_transaction_failed" }),
      { kind: "unknown" },
    ],
    [200, settleBody({ success: false, errorReason: "something_new" }), { kind: "unknown" }],
    [200, settleBody({ success: false }), { kind: "unknown" }],
    [500, settleBody({ success: false, errorReason: "unexpected" }), { kind: "unknown" }],
    [502, "<html>", { kind: "unknown" }],
    [200, "{", { kind: "unknown" }],
  ])("reads a settle response %i %s as %j", async (status, text, outcome) => {
    expect(await requestSettle(await saying(status, text), payload, terms)).toMatchObject(outcome);
  });

  it("calls a settlement without a response unknown", async () => {
    expect(await requestSettle(await saying(0, "", 100), payload, terms)).toMatchObject({ kind: "unknown" });
  });
});

describe("a failure of our own facilitator", () => {
  it("reports the cause of a failure, and not the key in a node's address", async () => {
    const { database, drop } = await openTestDatabase();
    onTestFinished(drop);
    const store = openRecordStore(database);
    const facilitator = createLocalFacilitator({
      network: "eip155:1",
      urls: [new Secret("http://127.0.0.1:1/v2/hunter2"), new Secret("http://user:hunter2@127.0.0.1:1/")],
      privateKey: new Secret<Hex>(`0x${"07".repeat(32)}`),
      store,
      turns: singleProcessTurns(store),
      gas: LOCAL_GAS,
      log: silentLog,
      onCall: null,
    });
    const verdict = await requestVerify(facilitator, payload, terms);
    expect(verdict.kind).toBe("unavailable");
    expect(inspect(verdict, { depth: 20 })).toContain("127.0.0.1");
    expect(inspect(verdict, { depth: 20 })).not.toContain("hunter2");
    const outcome = await requestSettle(facilitator, payload, terms);
    expect(outcome.kind).toBe("unknown");
    expect(inspect(outcome, { depth: 20 })).not.toContain("hunter2");
  });
});

describe("a rejection", () => {
  it("describes a rejection, and does not repeat untrusted text", () => {
    expect(rejectionMessage("invalid_exact_evm_insufficient_balance")).toContain("balance");
    expect(rejectionMessage("something_new")).toContain("something_new");
    expect(rejectionMessage("constructor")).toBe("The payment was not accepted (constructor).");
    expect(rejectionMessage("<script>alert(1)</script>")).toBe("The payment was not accepted (unknown).");
  });
});
