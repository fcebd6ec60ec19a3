// Quotes, receipts and disputes against a plain model of their rules: any steps by anybody, the same outcome and state after each.
import fc from "fast-check";
import { type Address, zeroAddress } from "viem";
import { expect, it } from "vitest";
import { isFullDepth, runsOf } from "../../tests/support/test-depth.ts";
import { commerceRegistryAbi as abi } from "../generated/commerce-registry.ts";
import { type QuoteCommitment, quoteHash } from "../hashes/quote-hash.ts";
import { openCommerceMarket, PAYMENT_RAILS } from "./commerce-market.ts";
import { CommerceModel } from "./commerce-model.ts";
import { decodeEvents, EVM_CHAIN_ID, revertReasonOf, startEvm } from "./evm.ts";

const evm = await startEvm();
const { registry, merchant, rival, facilitator, agent, outsider, terms } = await openCommerceMarket(evm);
const word = (byte: string) => `0x${byte.repeat(32)}` as const;
const opened = await evm.now();

/** Few quotes, so that the same one is committed and settled again and again. */
const catalogue = [
  terms(),
  terms({ paymentRail: PAYMENT_RAILS.x402, facilitator }),
  terms({ paymentRail: PAYMENT_RAILS.facilitator, facilitator, expiresAt: opened + 25n }),
  terms({ paymentRail: PAYMENT_RAILS.swap, facilitator, agent: outsider }),
  terms({ merchantId: 2n, serviceNumericId: 2n, expiresAt: opened + 12n }),
  terms({ paymentRail: PAYMENT_RAILS.x402, facilitator: zeroAddress }),
  terms({ facilitator: outsider }),
  terms({ serviceNumericId: 2n }),
  terms({ merchantId: 3n }),
].map((quote) => ({ quote, hash: quoteHash(quote, BigInt(EVM_CHAIN_ID), registry.address) }));

const person = fc.constantFrom(merchant, agent, facilitator, rival, outsider);
const entry = fc.oneof(
  { arbitrary: fc.constantFrom(...catalogue.slice(0, 5)), weight: 9 },
  { arbitrary: fc.constantFrom(...catalogue), weight: 1 },
);
const id = fc.oneof(
  { arbitrary: fc.integer({ min: 1, max: 2 }), weight: 6 },
  { arbitrary: fc.nat(4), weight: 1 },
);
const hash = fc.constantFrom(word("00"), word("01"), word("02"));
const wait = fc.oneof(
  { arbitrary: fc.constant(0n), weight: 5 },
  { arbitrary: fc.integer({ min: 1, max: 8 }).map(BigInt), weight: 1 },
);

/** Mostly permitted callers, so that sequences get far. */
const caller = fc.oneof(
  { arbitrary: fc.constant("permitted" as const), weight: 2 },
  { arbitrary: person, weight: 1 },
);

const commit = fc.record({ kind: fc.constant("commit" as const), wait, caller, entry });
const receipt = fc.record({ kind: fc.constant("receipt" as const), wait, caller, entry, hash });
const fulfil = fc.record({ kind: fc.constant("fulfil" as const), wait, caller, id, hash });
const dispute = fc.record({ kind: fc.constant("dispute" as const), wait, caller, id, hash });
const resolve = fc.record({
  kind: fc.constant("resolve" as const),
  wait,
  caller,
  id,
  status: fc.nat(2),
  hash,
});
const toggle = fc.record({ kind: fc.constant("switch" as const), wait, active: fc.boolean() });
const step = fc.oneof(
  { arbitrary: commit, weight: 3 },
  { arbitrary: receipt, weight: 5 },
  { arbitrary: fulfil, weight: 2 },
  { arbitrary: dispute, weight: 2 },
  { arbitrary: resolve, weight: 3 },
  { arbitrary: toggle, weight: 1 },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Begins with quotes, receipts and a dispute: before them everything is rejected. */
const steps = fc
  .tuple(
    fc.array(commit, { minLength: 4, maxLength: 4 }),
    fc.array(receipt, { minLength: 3, maxLength: 3 }),
    fc.array(dispute, { minLength: 1, maxLength: 1 }),
    fc.array(step, { minLength: 12, maxLength: 25 }),
  )
  .map((parts): Step[] => parts.flat());

/** Who owns the merchant of a quote. */
const ownerOf = (quote: QuoteCommitment | undefined) => (quote?.merchantId === 2n ? rival : merchant);

/** A caller that may take the step, as far as the caller matters. */
function permittedCaller(model: CommerceModel, taken: Exclude<Step, { kind: "switch" }>): Address {
  switch (taken.kind) {
    case "commit":
      return ownerOf(taken.entry.quote);
    case "receipt":
      return taken.entry.quote.paymentRail >= PAYMENT_RAILS.facilitator
        ? facilitator
        : ownerOf(taken.entry.quote);
    case "fulfil":
    case "dispute":
      return ownerOf(model.receipts[taken.id - 1]?.quote);
    case "resolve":
      return ownerOf(model.disputes[taken.id - 1]?.receipt.quote);
  }
}

/** Applies the step to the model, and sends it. */
function take(model: CommerceModel, taken: Step, now: bigint) {
  if (taken.kind === "switch") {
    const rejection = model.switchFacilitator(facilitator, taken.active);
    const args = [1n, "ipfs://f", word("00"), taken.active] as const;
    return { rejection, sent: registry.send(facilitator, "updateFacilitator", args) };
  }
  const from = taken.caller === "permitted" ? permittedCaller(model, taken) : taken.caller;
  switch (taken.kind) {
    case "commit": {
      const { quote, hash: key } = taken.entry;
      return { rejection: model.commit(from, key, quote), sent: registry.send(from, "commitQuote", [quote]) };
    }
    case "receipt": {
      const rejection = model.receipt(from, taken.entry.hash, taken.hash, now);
      return { rejection, sent: registry.send(from, "recordReceipt", [taken.entry.hash, taken.hash]) };
    }
    case "fulfil": {
      const rejection = model.fulfil(from, taken.id, taken.hash);
      return { rejection, sent: registry.send(from, "recordFulfillment", [BigInt(taken.id), taken.hash]) };
    }
    case "dispute": {
      const rejection = model.dispute(from, taken.id);
      return { rejection, sent: registry.send(from, "openDispute", [BigInt(taken.id), taken.hash]) };
    }
    case "resolve": {
      const rejection = model.resolve(from, taken.id, taken.status, taken.hash);
      const args = [BigInt(taken.id), taken.status, taken.hash] as const;
      return { rejection, sent: registry.send(from, "resolveDispute", args) };
    }
  }
}

async function expectSameState(model: CommerceModel): Promise<void> {
  for (const { hash: key } of catalogue) {
    const quote = model.quotes.get(key);
    if (quote) expect(await registry.read("getQuote", [key])).toMatchObject(quote);
    else
      expect(await revertReasonOf(registry.read("getQuote", [key]), abi)).toMatchObject({
        errorName: "QuoteNotFound",
      });
  }
  for (const [index, { quote, ...fields }] of model.receipts.entries()) {
    const { merchantId, serviceNumericId, token, amount, paymentRail } = quote;
    expect(await registry.read("getReceipt", [BigInt(index + 1)])).toMatchObject({
      ...{ ...fields, merchantId, serviceNumericId, token, amount, paymentRail },
      agent: quote.agent,
      facilitator: quote.facilitator,
    });
  }
  for (const [index, { receipt, ...fields }] of model.disputes.entries()) {
    const receiptId = BigInt(model.receipts.indexOf(receipt) + 1);
    expect(await registry.read("getDispute", [BigInt(index + 1)])).toMatchObject({ receiptId, ...fields });
  }
}

/** Events that may happen once, each with its subject. */
const onceEach: Readonly<Record<string, string>> = {
  QuoteCommitted: "quoteHash",
  ReceiptRecorded: "quoteHash",
  DisputeResolved: "disputeId",
};

it("settles a quote at most once and resolves a dispute at most once, whatever is tried again", async () => {
  const outcomes = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(steps, (sequence) =>
      evm.undone(async () => {
        const model = new CommerceModel([merchant, rival], facilitator);
        const happened = new Set<string>();
        let now = opened + 1n;
        for (const taken of sequence) {
          now += taken.wait;
          await evm.chain.setNextBlockTimestamp(now);
          const { rejection, sent } = take(model, taken, now);
          const outcome = `${taken.kind}: ${rejection ?? "accepted"}`;
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
          expect((await revertReasonOf(sent, abi))?.errorName).toBe(rejection);
          if (rejection !== undefined) continue;
          for (const { eventName, args } of decodeEvents(await sent, abi)) {
            const key = onceEach[eventName];
            if (key === undefined) continue;
            const once = `${eventName} ${(args as Record<string, unknown>)[key]}`;
            expect(happened).not.toContain(once);
            happened.add(once);
          }
        }
        await expectSameState(model);
      }),
    ),
    { numRuns: runsOf(40) },
  );
  // Runs that never get far prove nothing; only all of them surely reach each outcome.
  if (!isFullDepth()) return;
  for (const outcome of [
    "receipt: accepted",
    "receipt: QuoteAlreadySettled",
    "commit: QuoteAlreadyCommitted",
    "resolve: accepted",
  ]) {
    expect(outcomes.get(outcome) ?? 0, outcome).toBeGreaterThan(0);
  }
});
