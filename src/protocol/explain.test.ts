// Explanations: the events of the protocol in log order, with exact numbers.
import { describe, expect, it } from "vitest";
import fixtures from "../../tests/fixtures/events/sentences.json" with { type: "json" };
import {
  encodeProtocolLog,
  MEMORY_ACCOUNT,
  MEMORY_DEPLOYMENT,
  repeatAddressByte,
  repeatHashByte,
} from "../../tests/support/index/memory-index.ts";
import type { Sentence } from "../schema/sentence.ts";
import { ZERO_ADDRESS } from "../schema/table.ts";
import { createLogDecoder, explainEvent, explainParts } from "./decode-logs.ts";
import { EVENT_TYPES } from "./event-filter.ts";
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

type Fixture = (typeof fixtures)[number];

function decode({ address, topics, data }: Fixture) {
  const event = decoder.decode({ ...submitted, address, topics, data } as typeof submitted, 0n);
  if (event === null) throw new Error("the log is not an event of the protocol");
  return event;
}

describe("the parts of a sentence", () => {
  it("every sentence is the same as before there were parts", () => {
    for (const each of fixtures) expect(explainEvent(decode(each)).description).toBe(each.sentence);
    expect(new Set(fixtures.map(({ type }) => type))).toEqual(new Set(EVENT_TYPES));
  });

  it("the parts mark every address and hash, and nothing in a text that someone else wrote", () => {
    const parts = fixtures.flatMap((each) => explainParts(decode(each)));
    for (const { kind, text } of parts) if (kind === "text") expect(text).not.toMatch(/0x[0-9a-f]{40}/);
    const quoted = parts.filter(({ kind }) => kind === "quoted").map(({ text }) => text);
    expect(quoted).toEqual(["weather", `5 of 0x${"ab".repeat(20)}`, "<b>\u202e", ""]);
  });

  it("the parts name the token of each amount; for intents, bids and fills the rows of the intent do", () => {
    const [input, output] = [repeatAddressByte("01"), repeatAddressByte("02")];
    const linked = {
      input_token: new Set([input]),
      output_token: new Set([output]),
      amount_in_max: new Set(["5"]),
      amount_out_min: new Set(["4"]),
    };
    const tokensOf = (parts: Sentence) =>
      parts.flatMap((part) => (part.kind === "amount" ? [part.token] : []));
    for (const each of fixtures) {
      const event = decode(each);
      const tokens = tokensOf(explainParts({ ...event, linked }));
      const isOfIntent = ["IntentSubmitted", "SolverBidSubmitted", "IntentFilled"].includes(each.type);
      const { token = ZERO_ADDRESS } = event.args as { readonly token?: string };
      // A bid has a fee besides, which the contract records without a token.
      const fee = each.type === "SolverBidSubmitted" ? [null] : [];
      expect(tokens).toEqual(isOfIntent ? [input, output, ...fee] : tokens.map(() => token));
      if (isOfIntent) expect(tokensOf(explainParts(event)).filter((each) => each !== null)).toEqual([]);
    }
  });
});
