// Explanations: the events of the protocol in log order, with exact numbers.
import { describe, expect, it } from "vitest";
import {
  encodeProtocolLog,
  MEMORY_ACCOUNT,
  MEMORY_DEPLOYMENT,
  repeatAddressByte,
  repeatHashByte,
} from "../../tests/support/index/memory-index.ts";
import { createLogDecoder } from "./decode-logs.ts";
import { explainLogs } from "./reads/transactions.ts";

const decoder = createLogDecoder(MEMORY_DEPLOYMENT);
const TX = repeatHashByte("77");
const OWNER = repeatAddressByte("aa");
const LARGEST = 2n ** 256n - 1n;

const submitted = encodeProtocolLog(
  "IntentBook",
  "IntentSubmitted",
  { intentId: 7n, owner: OWNER, nonce: LARGEST },
  { block: 12, index: 0 },
);
const sessionKey = { sessionKey: OWNER, expiresAt: 1_800_000_000, active: true };

describe("an explanation", () => {
  it("an explanation has every event in order, integers as text and flags as booleans", () => {
    const opened = encodeProtocolLog("PolicyAccount", "SessionKeyUpdated", sessionKey, {
      block: 12,
      index: 1,
    });
    expect(explainLogs(TX, [submitted, opened], decoder)).toEqual({
      tx_hash: TX,
      block_number: "12",
      summary: `Transaction contained 2 event(s): Intent #7 submitted by ${OWNER}; Account ${MEMORY_ACCOUNT} gave session key ${OWNER} access until 1800000000.`,
      events: [
        {
          eventName: "IntentSubmitted",
          args: { intentId: "7", owner: OWNER, nonce: LARGEST.toString() },
          description: `Intent #7 submitted by ${OWNER}`,
        },
        {
          eventName: "SessionKeyUpdated",
          args: { sessionKey: OWNER, expiresAt: "1800000000", active: true },
          description: `Account ${MEMORY_ACCOUNT} gave session key ${OWNER} access until 1800000000`,
        },
      ],
    });
  });

  it("omits imitations of events of the protocol", () => {
    const elsewhere = { ...submitted, address: repeatAddressByte("99") };
    expect(explainLogs(TX, [elsewhere, submitted], decoder)?.events).toHaveLength(1);
    expect(explainLogs(TX, [elsewhere], decoder)).toBeNull();
    expect(explainLogs(TX, [], decoder)).toBeNull();
  });
});
