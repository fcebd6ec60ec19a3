// Explanations: what the protocol logged, in the order it was logged, with every digit of every number.
import { describe, expect, it } from "vitest";
import { ACCOUNT, addressOf, DEPLOYMENT, hashOf, logOf } from "../../tests/support/index/memory-index.ts";
import { createLogDecoder } from "./decode/logs.ts";
import { explain } from "./explain.ts";

const decoder = createLogDecoder(DEPLOYMENT);
const TX = hashOf("77");
const OWNER = addressOf("aa");
const LARGEST = 2n ** 256n - 1n;

const submitted = logOf(
  "IntentBook",
  "IntentSubmitted",
  { intentId: 7n, owner: OWNER, nonce: LARGEST },
  { block: 12, index: 0 },
);
const sessionKey = { sessionKey: OWNER, expiresAt: 1_800_000_000, active: true };

describe("an explanation", () => {
  it("tells every event in order, integers as text and flags as flags", () => {
    const opened = logOf("PolicyAccount", "SessionKeyUpdated", sessionKey, { block: 12, index: 1 });
    expect(explain(TX, [submitted, opened], decoder)).toEqual({
      tx_hash: TX,
      block_number: "12",
      summary: `Transaction contained 2 event(s): Intent #7 submitted by ${OWNER}; Account ${ACCOUNT} gave session key ${OWNER} access until 1800000000.`,
      events: [
        {
          eventName: "IntentSubmitted",
          args: { intentId: "7", owner: OWNER, nonce: LARGEST.toString() },
          description: `Intent #7 submitted by ${OWNER}`,
        },
        {
          eventName: "SessionKeyUpdated",
          args: { sessionKey: OWNER, expiresAt: "1800000000", active: true },
          description: `Account ${ACCOUNT} gave session key ${OWNER} access until 1800000000`,
        },
      ],
    });
  });

  it("leaves out what only looks like an event of the protocol", () => {
    const elsewhere = { ...submitted, address: addressOf("99") };
    expect(explain(TX, [elsewhere, submitted], decoder)?.events).toHaveLength(1);
    expect(explain(TX, [elsewhere], decoder)).toBeNull();
    expect(explain(TX, [], decoder)).toBeNull();
  });
});
