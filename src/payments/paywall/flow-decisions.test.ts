// The two decisions of the payment flow, check by check: by the row of the payment, and by the holder of its identifier.
import { describe, expect, it } from "vitest";
import { LEDGER_OFFER, TEST_KEY, TEST_PAY_TO } from "../../../tests/support/payments/ledger-rows.ts";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Hex } from "../../lib/hex.ts";
import type { LedgerRow } from "../ledger/row.ts";
import { NONCE_UNTRACED, NONCE_USED, WRONG_SIGNATURE } from "../rejection-reasons.ts";
import { decideByRow } from "./flow-open.ts";
import { decideByHolder } from "./flow-run.ts";
import type { Flow, FlowServices, FlowState } from "./flow-states.ts";
import { GATE_LIMITS } from "./limits.ts";
import { createPaymentResponses } from "./responses.ts";
import { UnpaidShare } from "./unpaid-work.ts";

const ID = "identifier-0123456789";
const NOW_SECONDS = 1_800_000_000;
const TRANSACTION: Hex = `0x${"77".repeat(32)}`;
const resource = { method: "GET", path: "/paid", query: {} };
const terms = {} as LedgerRow["terms"];
const payload = {} as LedgerRow["payload"];

const ROW: LedgerRow = {
  ...TEST_KEY,
  payTo: TEST_PAY_TO,
  amount: 10_000n,
  validBefore: NOW_SECONDS + 60,
  fingerprint: "fingerprint",
  digest: "digest",
  paymentId: null,
  payload,
  terms,
  state: "released",
  isVerified: true,
  isLeased: false,
  transaction: null,
  block: null,
  attempts: 0,
  failures: 1,
  reason: null,
  createdSeconds: NOW_SECONDS,
  wasSettled: false,
};

type Facts = {
  readonly paymentId?: string | null;
  readonly aheadSeconds?: number;
  readonly firstSeen?: Partial<LedgerRow>;
  readonly problem?: string | null;
};

function flowOf(facts: Facts, row: LedgerRow): Flow {
  const { paymentId = null, aheadSeconds = 0, firstSeen = {}, problem = null } = facts;
  const clock = { ...systemClock, nowMs: () => (NOW_SECONDS + aheadSeconds) * 1_000 };
  const shared = { limits: GATE_LIMITS, log: silentLog, clock, count: () => undefined };
  const first = { ...row, ...firstSeen };
  return {
    // A decision reads no ledger and calls no facilitator: there are none.
    services: shared as unknown as FlowServices,
    offer: LEDGER_OFFER,
    resource,
    payment: {
      from: TEST_KEY.payer,
      to: TEST_PAY_TO,
      value: 10_000n,
      validAfter: 0n,
      validBefore: BigInt(NOW_SECONDS + 60),
      nonce: TEST_KEY.nonce,
      signature: "0x01",
      paymentId,
      digest: "digest",
    },
    owner: "this process",
    key: TEST_KEY,
    payload,
    terms,
    problem,
    fingerprint: "fingerprint",
    respond: createPaymentResponses({ ...shared, offer: LEDGER_OFFER }, resource),
    handler: async () => ({ status: 200, body: {} }),
    unpaid: new UnpaidShare(null, "192.0.2.1"),
    deadlineMs: Number.POSITIVE_INFINITY,
    firstSeen: { row: first, holder: first },
  };
}

const outcomeOf = (state: FlowState) => (state.at === "done" ? state.response.status : state.at);

const settled = { state: "settled", transaction: TRANSACTION } as const;
const FAILURES_MAX = { payerFailures: GATE_LIMITS.failuresMax };
const EXPIRING = { aheadSeconds: 55 };
const OTHER_CHALLENGE = { problem: "The challenge was issued for another request." };

type Case = readonly [
  name: string,
  row: Partial<LedgerRow>,
  expected: FlowState["at"] | number,
  facts?: Facts & { readonly payerFailures?: number },
];

function withFacts([name, row, expected, facts = {}]: Case) {
  return [name, row, expected, facts] as const;
}

describe("by the row, a request decides in this order:", () => {
  const cases: readonly Case[] = [
    ["another verified signature with the nonce", { digest: "other" }, 409],
    ["another signature, leased", { digest: "other", isVerified: false, isLeased: true }, "waiting"],
    ["another signature, not verified", { digest: "other", isVerified: false }, "discarding"],
    [
      "another signature, before another request",
      { digest: "other", fingerprint: "other", isVerified: false },
      "discarding",
    ],
    ["another request", { fingerprint: "other" }, 409],
    ["another request, although settled", { ...settled, fingerprint: "other" }, 409],
    ["an identifier that the request does not name", { paymentId: ID }, 409],
    ["an identifier that the request does not name, although settled", { ...settled, paymentId: ID }, 409],
    ["another identifier", { paymentId: ID }, 409, { paymentId: `${ID}-2` }],
    ["settled", settled, "replaying"],
    ["settled, with its identifier", { ...settled, paymentId: ID }, "replaying", { paymentId: ID }],
    ["settled, after it expired", settled, "replaying", EXPIRING],
    ["settled without a transaction", { state: "settled" }, 503],
    ["lost", { state: "lost" }, 402],
    ["expired", { state: "expired" }, 402],
    ["leased", { isLeased: true }, "waiting"],
    ["leased, of a payer with failures", { isLeased: true }, "waiting", FAILURES_MAX],
    ["a failure since the request came", { failures: 2 }, 503, { firstSeen: { failures: 1 } }],
    [
      "an attempt since the request came",
      { state: "settling", attempts: 2 },
      503,
      { firstSeen: { attempts: 1 } },
    ],
    [
      "a rejection since then",
      { state: "refused", attempts: 2, reason: "other" },
      503,
      { firstSeen: { attempts: 1 } },
    ],
    [
      "a final rejection since then",
      { state: "refused", attempts: 2, reason: NONCE_USED },
      402,
      { firstSeen: { attempts: 1 } },
    ],
    [
      "a rejected signature since then",
      { state: "refused", attempts: 2, reason: WRONG_SIGNATURE },
      503,
      { firstSeen: { attempts: 1 } },
    ],
    [
      "a nonce without a log since then",
      { state: "refused", attempts: 2, reason: NONCE_UNTRACED },
      503,
      { firstSeen: { attempts: 1 } },
    ],
    ["settling", { state: "settling" }, "reclaiming"],
    ["settling, of a payer with failures", { state: "settling" }, "reclaiming", FAILURES_MAX],
    ["settling, after it expired", { state: "settling" }, "reclaiming", EXPIRING],
    ["rejected", { state: "refused" }, "reclaiming"],
    ["rejected, of a payer with failures", { state: "refused" }, 429, FAILURES_MAX],
    ["rejected, after it expired", { state: "refused" }, "reclaiming", EXPIRING],
    ["reserved", { state: "reserved" }, "reclaiming"],
    ["released", {}, "reclaiming"],
    ["reserved, and expires too soon", { state: "reserved" }, "reclaiming", EXPIRING],
    [
      "released, and expires too soon, of a payer with failures",
      {},
      "reclaiming",
      { ...EXPIRING, ...FAILURES_MAX },
    ],
    ["released, of a payer with failures", {}, 429, FAILURES_MAX],
    ["settled, for another challenge", settled, "replaying", OTHER_CHALLENGE],
    ["settling, for another challenge", { state: "settling" }, "reclaiming", OTHER_CHALLENGE],
  ];
  it.each(cases.map(withFacts))(
    "decides a request by its own row: %s",
    (_name, changed, expected, { payerFailures = 0, ...facts }) => {
      const row = { ...ROW, ...changed };
      expect(outcomeOf(decideByRow(flowOf(facts, row), { at: "deciding", row, payerFailures }))).toBe(
        expected,
      );
    },
  );
});

describe("by the holder of its identifier, a request decides in this order:", () => {
  const cases: readonly Case[] = [
    ["not verified", { isVerified: false }, "waiting"],
    ["not verified, of another request", { isVerified: false, fingerprint: "other" }, "waiting"],
    ["of another request", { fingerprint: "other" }, 409],
    ["of another request, although paid", { ...settled, fingerprint: "other" }, 409],
    ["paid", settled, "verifyingPayer"],
    [
      "paid, with an attempt since the request came",
      { ...settled, attempts: 2 },
      "verifyingPayer",
      { firstSeen: { attempts: 1 } },
    ],
    ["settled without a transaction", { state: "settled" }, "waiting"],
    ["leased", { state: "settling", isLeased: true }, "waiting"],
    ["reserved", { state: "reserved" }, "verifyingPayer"],
    ["reserved, leased", { state: "reserved", isLeased: true }, "waiting"],
    ["released", {}, "verifyingPayer"],
    ["expired", { state: "expired" }, "waiting"],
    ["lost", { state: "lost" }, "waiting"],
    [
      "an attempt since the request came",
      { state: "settling", attempts: 2 },
      503,
      { firstSeen: { attempts: 1 } },
    ],
    ["settling", { state: "settling" }, "verifyingPayer"],
    ["rejected", { state: "refused" }, "verifyingPayer"],
  ];
  it.each(cases.map(withFacts))(
    "decides a request by the holder of its identifier: %s",
    (_name, changed, expected, facts) => {
      const holder = { ...ROW, nonce: `0x${"02".repeat(32)}` as Hex, ...changed };
      expect(outcomeOf(decideByHolder(flowOf(facts, holder), { at: "joining", holder }))).toBe(expected);
    },
  );
});
