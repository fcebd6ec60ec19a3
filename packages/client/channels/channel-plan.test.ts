// `maxOpen` counts channels with money over all payees, tokens and networks of a journal, whatever is bought, lost or rejected.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { PaymentBook } from "../journal/payment-book.ts";
import type { SignedRecord } from "../journal/records.ts";
import type { ChannelUse } from "../payments/standing.ts";
import type { PaymentTerms } from "../payments/terms.ts";
import { planVoucher } from "./channel-plan.ts";
import { newChannel } from "./voucher.ts";

const PAYER = `0x${"aa".repeat(20)}` as const;
const TOPUP = 40n;
const DEPOSIT = 60n;
const account = (at: number) => `0x${(at + 1).toString(16).padStart(40, "0")}` as const;

type Step = {
  readonly payee: number;
  readonly token: number;
  readonly chain: number;
  readonly price: number;
  readonly outcome: "paid" | "lost" | "rejected";
};

const steps = fc.array(
  fc.record<Step>({
    payee: fc.nat(2),
    token: fc.nat(1),
    chain: fc.nat(1),
    price: fc.integer({ min: 1, max: 12 }),
    outcome: fc.constantFrom("paid", "paid", "paid", "lost", "rejected"),
  }),
  { maxLength: 60 },
);

function termsOf({ payee, token, chain, price }: Step): PaymentTerms {
  return {
    network: `eip155:${chain + 1}`,
    asset: account(100 + token),
    payTo: account(payee),
    amount: BigInt(price),
    maxTimeoutSeconds: 60,
    tokenName: "USD Coin",
    tokenVersion: "2",
    accepted: {},
    identifier: null,
    channel: { receiverAuthorizer: account(50 + payee), withdrawDelay: 900, minDeposit: 0n },
  };
}

/** A buyer that does what the plan says, in a journal that several clients share: each has its own network and token. */
class Buyer {
  readonly book = new PaymentBook();
  /** The price that each channel was last used for, apart from the journal. */
  readonly #prices = new Map<string, bigint>();
  readonly #use: ChannelUse;
  #nowMs = 1_700_000_000_000;
  #count = 0;

  constructor(maxOpen: number) {
    const inTurn: ChannelUse["inTurn"] = (act) => act();
    this.#use = {
      ...{ deposit: DEPOSIT, topUp: TOPUP, maxOpen, withdrawSecondsMax: 900, owner: "0x01" },
      ...{ sending: new Set(), inTurn },
    };
  }

  /** How many other channels have money when one gets a deposit; null without a deposit. */
  step(step: Step): number | null {
    this.#nowMs += 120_000;
    this.#count += 1;
    const terms = termsOf(step);
    const { network, asset, payTo, amount } = terms;
    const wish = { terms, payer: PAYER, use: this.#use, nowMs: this.#nowMs, hasNode: true };
    const plan = planVoucher(this.book, wish);
    if (plan.kind === "none" || plan.kind === "busy") return null;
    const others = plan.kind === "deposit" ? this.#countFunded() : null;
    const { id, config } = plan.channel ?? newChannel(PAYER, terms);
    const made = {
      ...{ id: `deposit-${this.#count}`, at: this.#nowMs, salt: "0x01", signature: "0x01", config },
      validBefore: this.#nowMs / 1_000 + 60,
    };
    const deposit = plan.kind === "voucher" ? plan.deposit : { ...made, amount: plan.amount.toString() };
    const record: SignedRecord = {
      ...{ type: "voucher", id: `voucher-${this.#count}`, at: this.#nowMs, payer: PAYER, method: "GET" },
      ...{ url: "https://a.example/", request: `request-${this.#count}`, purchase: null, signature: "0x01" },
      requirements: { network, asset, payTo, amount: amount.toString() },
      validBefore: deposit?.validBefore ?? 0,
      voucher: {
        ...{ channel: id, cumulative: ((plan.channel?.charged ?? 0n) + amount).toString() },
        ...{ owner: "0x01", name: `name-${this.#count}`, deposit },
      },
    };
    this.book.apply(record);
    this.#prices.set(id, amount);
    if (step.outcome === "lost") return others;
    const ended = { id: record.id, at: this.#nowMs, transaction: null, code: null };
    this.book.apply({ type: step.outcome, ...ended });
    return others;
  }

  /** Channels that can buy once more what they last bought. */
  #countFunded(): number {
    const held = this.book.channels.list().filter(({ id, charged, deposits }) => {
      const sum = deposits.reduce((all, { amount }) => all + BigInt(amount), 0n);
      return sum - charged >= (this.#prices.get(id) ?? 0n);
    });
    return held.length;
  }
}

describe("channel.maxOpen", () => {
  it("lets no channel have a deposit while as many have money, over two networks, two tokens and three payees", () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 4 }), (given, maxOpen) => {
        const buyer = new Buyer(maxOpen);
        for (const step of given) {
          expect(buyer.step(step) ?? -1).toBeLessThan(maxOpen);
        }
      }),
      { numRuns: runsOf(2_000) },
    );
  });

  it("counts a channel of another token and network: with one, the second is not opened before the first is used up", () => {
    const buyer = new Buyer(1);
    const first: Step = { payee: 0, token: 0, chain: 0, price: 10, outcome: "paid" };
    const second: Step = { payee: 0, token: 1, chain: 1, price: 10, outcome: "paid" };
    buyer.step(first);
    buyer.step(second);
    expect(buyer.book.channels.list().length).toBe(1);
    for (let bought = 1; bought < 6; bought += 1) buyer.step(first);
    buyer.step(second);
    expect(buyer.book.channels.list().map(({ network }) => network)).toEqual(["eip155:1", "eip155:2"]);
  });
});
