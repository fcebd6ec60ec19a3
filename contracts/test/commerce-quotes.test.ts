// Quotes: committed once by the merchant, settled once by who may, fulfilled and disputed by the parties.
import fc from "fast-check";
import { type Address, type Hex, maxUint256, numberToHex, zeroAddress, zeroHash } from "viem";
import { describe, expect, it } from "vitest";
import { commerceRegistryAbi as abi } from "../generated/commerce-registry.ts";
import { type QuoteCommitment, quoteHash } from "../hashes/quote-hash.ts";
import { openCommerceMarket, PAYMENT_RAILS } from "./commerce-market.ts";
import { decodeEvents, EVM_CHAIN_ID, expectBareRevert, expectRevert, startEvm } from "./evm.ts";
import { findPermissionlessFunctions } from "./permissionless-functions.ts";

const evm = await startEvm();
const market = await openCommerceMarket(evm);
const { registry, merchant, rival, facilitator, agent, outsider, terms, commit } = market;
const word = (byte: string): Hex => `0x${byte.repeat(32)}`;
const [result, proof, reason, verdict] = [word("e1"), word("f1"), word("d1"), word("d2")];
const byFacilitator = { paymentRail: PAYMENT_RAILS.facilitator, facilitator } as const;
const byX402 = { paymentRail: PAYMENT_RAILS.x402, facilitator, x402PayloadHash: word("42") } as const;

/** Values that the registry stores and emits beyond the terms. */
const stored = { protocolFeeBps: 0, protocolFeeAmount: 0n };

async function settle(quote: QuoteCommitment, by: Address): Promise<bigint> {
  const hash = await commit(quote);
  const receiptId = await registry.call(by, "recordReceipt", [hash, result]);
  await registry.send(by, "recordReceipt", [hash, result]);
  return receiptId;
}

describe("the hash of a quote", () => {
  it("hashes a quote by the published formula in both functions, for any terms", async () => {
    const uint256 = fc.bigInt({ min: 0n, max: maxUint256 });
    const bytes32 = uint256.map((value) => numberToHex(value, { size: 32 }));
    const address = fc
      .bigInt({ min: 0n, max: 2n ** 160n - 1n })
      .map((value) => numberToHex(value, { size: 20 }));
    const anyTerms = fc.record({
      merchantId: uint256,
      serviceNumericId: uint256,
      agent: address,
      token: address,
      facilitator: address,
      amount: uint256,
      paymentRail: fc.nat({ max: 3 }),
      expiresAt: uint256,
      paymentNonce: uint256,
      resourceHash: bytes32,
      termsHash: bytes32,
      x402PayloadHash: bytes32,
    });
    await fc.assert(
      fc.asyncProperty(anyTerms, async (quote) => {
        const expected = quoteHash(quote, BigInt(EVM_CHAIN_ID), registry.address);
        expect(await registry.read("computeQuoteHash", [quote])).toBe(expected);
        const { merchantId, serviceNumericId, token, amount, paymentRail, expiresAt, paymentNonce } = quote;
        expect(
          await registry.read("computeQuoteHash", [
            ...([merchantId, serviceNumericId, quote.agent, token, quote.facilitator, amount] as const),
            ...([paymentRail, expiresAt, paymentNonce, quote.resourceHash] as const),
            ...([quote.termsHash, quote.x402PayloadHash] as const),
          ]),
        ).toBe(expected);
      }),
      { numRuns: 40 },
    );
    expect(await registry.read("PROTOCOL_FEE_BPS", [])).toBe(0);
  });
});

describe("commitQuote", () => {
  it.each([
    ["by transfer", {}],
    ["by swap through a facilitator", { paymentRail: PAYMENT_RAILS.swap, facilitator }],
    ["by facilitator", byFacilitator],
    ["by x402", byX402],
    ["of any size, for anybody, already expired", { amount: maxUint256, agent: zeroAddress, expiresAt: 0n }],
  ])("stores and emits every term: %s", (_, different) =>
    evm.undone(async () => {
      const quote = terms(different);
      const hash = quoteHash(quote, BigInt(EVM_CHAIN_ID), registry.address);
      expect(await registry.call(merchant, "commitQuote", [quote])).toBe(hash);
      const receipt = await registry.send(merchant, "commitQuote", [quote]);
      expect(decodeEvents(receipt, abi)).toEqual([
        { eventName: "QuoteCommitted", args: { quoteHash: hash, ...quote, ...stored } },
      ]);
      expect(await registry.read("getQuote", [hash])).toEqual({ ...quote, ...stored, settled: false });
    }),
  );

  it("commits a quote once: not again, not after settlement, not after expiry", () =>
    evm.undone(async () => {
      const quote = terms();
      const hash = await commit(quote);
      const again = () => registry.send(merchant, "commitQuote", [quote]);
      await expectRevert(again(), abi, "QuoteAlreadyCommitted", [hash]);
      await registry.send(agent, "recordReceipt", [hash, result]);
      await expectRevert(again(), abi, "QuoteAlreadyCommitted", [hash]);
      await evm.chain.setNextBlockTimestamp(quote.expiresAt + 1n);
      await expectRevert(again(), abi, "QuoteAlreadyCommitted", [hash]);
      expect(await registry.read("getQuote", [hash])).toMatchObject({ settled: true });
      await commit(terms({ paymentNonce: 1n }));
    }));

  it("lets only the merchant commit a quote, for a service of that merchant", async () => {
    for (const from of [rival, facilitator, agent, outsider]) {
      await expectRevert(registry.call(from, "commitQuote", [terms()]), abi, "Unauthorized");
    }
    const attempt = (different: Partial<QuoteCommitment>) =>
      registry.call(merchant, "commitQuote", [terms(different)]);
    await expectRevert(attempt({ merchantId: 0n }), abi, "MerchantNotFound");
    await expectRevert(attempt({ merchantId: 3n }), abi, "MerchantNotFound");
    await expectRevert(attempt({ serviceNumericId: 0n }), abi, "ServiceNotFound");
    await expectRevert(attempt({ serviceNumericId: 3n }), abi, "ServiceNotFound");
    await expectRevert(attempt({ serviceNumericId: 2n }), abi, "ServiceNotFound");
  });

  it.each(Object.entries(PAYMENT_RAILS))(
    "a quote requires a facilitator as its rail does: %s",
    (_, paymentRail) =>
      evm.undone(async () => {
        const attempt = (by: Address) =>
          registry.call(merchant, "commitQuote", [terms({ paymentRail, facilitator: by })]);
        await attempt(facilitator);
        if (paymentRail >= PAYMENT_RAILS.facilitator)
          await expectRevert(attempt(zeroAddress), abi, "FacilitatorNotFound");
        else await attempt(zeroAddress);
        await expectRevert(attempt(outsider), abi, "FacilitatorNotFound");
        await registry.send(facilitator, "updateFacilitator", [1n, "", zeroHash, false]);
        await expectRevert(attempt(facilitator), abi, "FacilitatorInactive");
        await registry.send(facilitator, "registerFacilitator", [facilitator, "", zeroHash]);
        await attempt(facilitator);
      }),
  );

  it("commitQuote rejects a rail beyond the four", async () => {
    for (const paymentRail of [4, 255]) {
      const quote = terms({ paymentRail, facilitator });
      await expectBareRevert(registry.call(merchant, "commitQuote", [quote]));
      await expectBareRevert(registry.read("computeQuoteHash", [quote]));
    }
  });
});

describe("recordReceipt", () => {
  it.each([
    ["transfer", { paymentRail: PAYMENT_RAILS.transfer, facilitator }, [merchant, agent]],
    ["swap", { paymentRail: PAYMENT_RAILS.swap, facilitator }, [merchant, agent]],
    ["facilitator", byFacilitator, [facilitator]],
    ["x402", byX402, [facilitator]],
  ] as const)("lets only the right party record a receipt: %s", (_, different, permitted) =>
    evm.undone(async () => {
      const hash = await commit(terms(different));
      for (const from of [merchant, agent, facilitator, rival, outsider, zeroAddress]) {
        const attempt = registry.call(from, "recordReceipt", [hash, result]);
        if (permitted.some((address) => address === from)) expect(await attempt).toBe(1n);
        else await expectRevert(attempt, abi, "Unauthorized");
      }
    }),
  );

  it("a receipt counts from 1, keeps the quote's terms and settles it, once", () =>
    evm.undone(async () => {
      const quote = terms(byX402);
      const hash = await commit(quote);
      const receipt = await registry.send(facilitator, "recordReceipt", [hash, result]);
      const { expiresAt, paymentNonce, termsHash, x402PayloadHash, ...committed } = quote;
      const fields = {
        quoteHash: hash,
        ...committed,
        ...stored,
        resultHash: result,
        fulfillmentHash: zeroHash,
      };
      expect(decodeEvents(receipt, abi)).toEqual([
        { eventName: "ReceiptRecorded", args: { receiptId: 1n, ...fields } },
      ]);
      expect(await registry.read("getReceipt", [1n])).toEqual(fields);
      expect(await registry.read("getQuote", [hash])).toEqual({ ...quote, ...stored, settled: true });
      const again = registry.send(facilitator, "recordReceipt", [hash, result]);
      await expectRevert(again, abi, "QuoteAlreadySettled");
      expect(await settle(terms(), agent)).toBe(2n);
    }));

  it("records a receipt until the quote expires, that second included", () =>
    evm.undone(async () => {
      const quote = terms();
      const hash = await commit(quote);
      await evm.chain.setNextBlockTimestamp(quote.expiresAt);
      await registry.call(agent, "recordReceipt", [hash, result]);
      await evm.chain.setNextBlockTimestamp(quote.expiresAt + 1n);
      await expectRevert(registry.call(agent, "recordReceipt", [hash, result]), abi, "QuoteExpired");
    }));

  it("rejects a receipt of a quote that was not committed", async () => {
    for (const hash of [zeroHash, await registry.read("computeQuoteHash", [terms()])]) {
      await expectRevert(registry.call(agent, "recordReceipt", [hash, result]), abi, "QuoteNotFound");
      await expectRevert(registry.read("getQuote", [hash]), abi, "QuoteNotFound");
    }
  });
});

describe("recordFulfillment", () => {
  it("merchant and facilitator may record, repeat and withdraw a fulfilment", () =>
    evm.undone(async () => {
      const receiptId = await settle(terms({ facilitator }), agent);
      for (const [from, hash] of [
        [merchant, proof],
        [facilitator, result],
        [merchant, zeroHash],
      ] as const) {
        const receipt = await registry.send(from, "recordFulfillment", [receiptId, hash]);
        expect(decodeEvents(receipt, abi)).toEqual([
          { eventName: "FulfillmentRecorded", args: { receiptId, fulfillmentHash: hash } },
        ]);
        expect(await registry.read("getReceipt", [receiptId])).toMatchObject({ fulfillmentHash: hash });
      }
    }));
});

describe("disputes", () => {
  it("opens disputes with ids from 1, as many as the parties like", () =>
    evm.undone(async () => {
      const receiptId = await settle(terms(byFacilitator), facilitator);
      for (const [index, opener] of [agent, merchant, facilitator, agent].entries()) {
        const disputeId = BigInt(index + 1);
        expect(await registry.call(opener, "openDispute", [receiptId, reason])).toBe(disputeId);
        const receipt = await registry.send(opener, "openDispute", [receiptId, reason]);
        expect(decodeEvents(receipt, abi)).toEqual([
          { eventName: "DisputeOpened", args: { disputeId, receiptId, opener, reasonHash: reason } },
        ]);
        expect(await registry.read("getDispute", [disputeId])).toEqual({
          receiptId,
          opener,
          reasonHash: reason,
          status: 0,
          resolutionHash: zeroHash,
        });
      }
    }));

  it.each([
    ["resolved", 1],
    ["rejected", 2],
  ])("a dispute is %s once", (_, status) =>
    evm.undone(async () => {
      const receiptId = await settle(terms(), agent);
      await registry.send(agent, "openDispute", [receiptId, reason]);
      await registry.send(agent, "openDispute", [receiptId, reason]);
      const receipt = await registry.send(merchant, "resolveDispute", [1n, status, verdict]);
      expect(decodeEvents(receipt, abi)).toEqual([
        { eventName: "DisputeResolved", args: { disputeId: 1n, status, resolutionHash: verdict } },
      ]);
      const resolved = { receiptId, opener: agent, reasonHash: reason, status, resolutionHash: verdict };
      expect(await registry.read("getDispute", [1n])).toEqual(resolved);
      for (const next of [1, 2]) {
        const again = registry.send(merchant, "resolveDispute", [1n, next, proof]);
        await expectRevert(again, abi, "DisputeAlreadyResolved", [1n]);
      }
      expect(await registry.read("getDispute", [1n])).toEqual(resolved);
      expect(await registry.read("getDispute", [2n])).toMatchObject({ status: 0 });
    }),
  );

  it("rejects a resolution of a dispute to open or to an unknown status", () =>
    evm.undone(async () => {
      await registry.send(agent, "openDispute", [await settle(terms(), agent), reason]);
      const resolve = (status: number) => registry.call(merchant, "resolveDispute", [1n, status, verdict]);
      await expectRevert(resolve(0), abi, "InvalidDisputeStatus", [0]);
      await expectBareRevert(resolve(3));
      await expectBareRevert(resolve(255));
    }));
});

describe("after settlement", () => {
  const accounts = { merchant, facilitator, agent, rival, outsider, zeroAddress };
  type Name = keyof typeof accounts;
  const permitted: readonly (readonly [string, (from: Address) => Promise<unknown>, readonly Name[]])[] = [
    [
      "recordFulfillment",
      (from) => registry.call(from, "recordFulfillment", [1n, proof]),
      ["merchant", "facilitator"],
    ],
    [
      "openDispute",
      (from) => registry.call(from, "openDispute", [1n, reason]),
      ["merchant", "facilitator", "agent"],
    ],
    [
      "resolveDispute",
      (from) => registry.call(from, "resolveDispute", [1n, 1, verdict]),
      ["merchant", "facilitator"],
    ],
  ];

  it.each(permitted)("lets the parties alone act after settlement: %s", (_, attempt, names) =>
    evm.undone(async () => {
      const receiptId = await settle(terms(byFacilitator), facilitator);
      await registry.send(agent, "openDispute", [receiptId, reason]);
      for (const [name, from] of Object.entries(accounts)) {
        if (names.some((one) => one === name)) await attempt(from);
        else await expectRevert(attempt(from), abi, "Unauthorized");
      }
    }),
  );

  it("a facilitator of another quote has no rights after settlement", () =>
    evm.undone(async () => {
      await settle(terms(), agent);
      await registry.send(agent, "openDispute", [1n, reason]);
      for (const [, attempt] of permitted) await expectRevert(attempt(facilitator), abi, "Unauthorized");
    }));

  it.each([0n, 2n, maxUint256])("rejects the unknown receipt and dispute %s", (id) =>
    evm.undone(async () => {
      await registry.send(agent, "openDispute", [await settle(terms(), agent), reason]);
      await expectRevert(registry.read("getReceipt", [id]), abi, "ReceiptNotFound");
      await expectRevert(registry.read("getDispute", [id]), abi, "DisputeNotFound");
      for (const from of [merchant, zeroAddress]) {
        await expectRevert(registry.call(from, "recordFulfillment", [id, proof]), abi, "ReceiptNotFound");
        await expectRevert(registry.call(from, "openDispute", [id, reason]), abi, "ReceiptNotFound");
        await expectRevert(registry.call(from, "resolveDispute", [id, 1, verdict]), abi, "DisputeNotFound");
      }
    }),
  );
});

describe("outsiders", () => {
  it("other accounts can register and signal, and change nothing that is there", () =>
    evm.undone(async () => {
      const settled = await commit(terms(byFacilitator));
      const pending = await commit(terms({ paymentNonce: 1n }));
      await registry.send(facilitator, "recordReceipt", [settled, result]);
      await registry.send(agent, "openDispute", [1n, reason]);
      const open = await findPermissionlessFunctions({
        evm,
        contract: registry,
        outsiders: [outsider, evm.chain.accounts.guardian.address],
        pool: {
          numbers: [0n, 1n, 2n, 3n, terms().expiresAt],
          addresses: [merchant, facilitator, agent, outsider, zeroAddress],
          words: [settled, pending, zeroHash, result],
        },
        world: () =>
          Promise.all([
            registry.read("getMerchant", [1n]),
            registry.read("getMerchant", [2n]),
            registry.read("getService", [1n]),
            registry.read("getService", [2n]),
            registry.read("getFacilitator", [1n]),
            registry.read("getQuote", [settled]),
            registry.read("getQuote", [pending]),
            registry.read("getReceipt", [1n]),
            registry.read("getDispute", [1n]),
          ]),
        numRuns: 40,
      });
      expect(open).toEqual(["recordTrustSignal", "registerFacilitator", "registerMerchant"]);
    }));
});
