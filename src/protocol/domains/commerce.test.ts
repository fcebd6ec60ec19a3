// Commerce: services, quotes, receipts, fulfilment and disputes, and the totals that follow from them.
import { describe, expect, it } from "vitest";
import {
  LogSequence,
  MEMORY_ZERO_ADDRESS,
  MEMORY_ZERO_HASH,
  type MemoryRows,
  repeatAddressByte,
  repeatHashByte,
} from "../../../tests/support/index/memory-index.ts";
import {
  disputes,
  quotes,
  receipts,
  settlements,
  signalCounts,
  subjectSignalCounts,
  trustSignals,
} from "./commerce.ts";
import {
  commerceTotals,
  facilitatorVolumes,
  merchantRecords,
  railVolumes,
  serviceVolumes,
  tokenVolumes,
} from "./commerce-totals.ts";
import { facilitators, merchants, services } from "./merchants.ts";

const [OWNER, AGENT, TOKEN, FACILITATOR] = [
  repeatAddressByte("01"),
  repeatAddressByte("02"),
  repeatAddressByte("70"),
  repeatAddressByte("f1"),
];
const QUOTE = repeatHashByte("91");

type Terms = {
  quoteHash?: string;
  merchantId?: bigint;
  facilitator?: string;
  amount?: bigint;
  paymentRail?: number;
};

class Shop extends LogSequence {
  registry(name: string, args: Record<string, unknown>): this {
    return this.append("CommerceRegistry", name, args);
  }
  merchant(merchantId = 1n): this {
    const address = { owner: OWNER, payoutAddress: OWNER };
    return this.registry("MerchantRegistered", { merchantId, ...address, ...document("m") });
  }
  service(serviceNumericId: bigint, serviceId: string): this {
    const about = { ...document("s"), capabilityHash: repeatHashByte("0c") };
    return this.registry("ServiceRegistered", { serviceNumericId, merchantId: 1n, serviceId, ...about });
  }
  quote(terms: Terms = {}): this {
    return this.registry("QuoteCommitted", {
      ...sale(terms),
      expiresAt: 2_000_000_000n,
      paymentNonce: 1n,
      termsHash: repeatHashByte("44"),
      x402PayloadHash: MEMORY_ZERO_HASH,
    });
  }
  receipt(receiptId: bigint, terms: Terms = {}): this {
    const outcome = { resultHash: repeatHashByte("55"), fulfillmentHash: MEMORY_ZERO_HASH };
    return this.registry("ReceiptRecorded", { receiptId, ...sale(terms), ...outcome });
  }
  fulfilled(receiptId: bigint, fulfillmentHash: string): this {
    return this.registry("FulfillmentRecorded", { receiptId, fulfillmentHash });
  }
  disputed(disputeId: bigint, receiptId = 1n): this {
    const about = { opener: AGENT, reasonHash: repeatHashByte("66") };
    return this.registry("DisputeOpened", { disputeId, receiptId, ...about });
  }
  resolved(disputeId: bigint, status: number, resolutionHash: string = repeatHashByte("77")): this {
    return this.registry("DisputeResolved", { disputeId, status, resolutionHash });
  }
}

function document(about: string): { metadataURI: string; metadataHash: string } {
  return { metadataURI: `ipfs://${about}`, metadataHash: repeatHashByte("0d") };
}

function sale(terms: Terms): Record<string, unknown> {
  return {
    quoteHash: QUOTE,
    merchantId: 1n,
    serviceNumericId: 1n,
    agent: AGENT,
    token: TOKEN,
    facilitator: FACILITATOR,
    amount: 100n,
    paymentRail: 3,
    protocolFeeBps: 10,
    protocolFeeAmount: 1n,
    resourceHash: repeatHashByte("33"),
    ...terms,
  };
}

const totalsOf = (rows: MemoryRows) => rows.one(commerceTotals);

describe("services with the same id, which the live deployment allows", () => {
  it("stores services with the same id as separate rows by number", async () => {
    const rows = await new Shop().merchant().service(1n, "translate").service(2n, "translate").rows();
    expect(rows.of(services).map((row) => [row.service_numeric_id, row.service_id])).toEqual([
      [1n, "translate"],
      [2n, "translate"],
    ]);
    expect(totalsOf(rows)).toMatchObject({ merchants: 1n, services: 2n, active_services: 2n });
  });
});

describe("the active state", () => {
  it("every switch of the active state changes the counts, and a repetition does not", async () => {
    const story = new Shop().merchant().service(1n, "a");
    const merchant = { merchantId: 1n, payoutAddress: AGENT, ...document("m2") };
    const service = { serviceNumericId: 1n, ...document("s2"), capabilityHash: repeatHashByte("0e") };
    const count = async () => {
      const rows = await story.rows();
      return [totalsOf(rows).active_merchants, totalsOf(rows).active_services];
    };
    expect(await count()).toEqual([1n, 1n]);
    story.registry("MerchantUpdated", { ...merchant, active: false });
    story.registry("ServiceUpdated", { ...service, active: false });
    expect(await count()).toEqual([0n, 0n]);
    story.registry("MerchantUpdated", { ...merchant, active: false });
    story.registry("ServiceUpdated", { ...service, active: false });
    expect(await count()).toEqual([0n, 0n]);
    story.registry("MerchantUpdated", { ...merchant, active: true });
    story.registry("ServiceUpdated", { ...service, active: true });
    expect(await count()).toEqual([1n, 1n]);
    const rows = await story.rows();
    expect(rows.one(merchants)).toMatchObject({ payout_address: AGENT, metadata_uri: "ipfs://m2" });
    expect(rows.one(services)).toMatchObject({ capability_hash: repeatHashByte("0e"), service_id: "a" });
    expect(totalsOf(rows)).toMatchObject({ merchants: 1n, services: 1n });
  });
});

describe("a facilitator that registers again", () => {
  const registered = (about: string) => ({ facilitatorId: 1n, facilitator: FACILITATOR, ...document(about) });

  it("a facilitator that registers again keeps its id, is active and counted once", async () => {
    const story = new Shop().registry("FacilitatorRegistered", registered("first"));
    story.registry("FacilitatorUpdated", { ...registered("off"), active: false });
    expect(totalsOf(await story.rows())).toMatchObject({ facilitators: 1n, active_facilitators: 0n });
    const rows = await story.registry("FacilitatorRegistered", registered("again")).rows();
    expect(rows.one(facilitators)).toMatchObject({
      facilitator_id: 1n,
      metadata_uri: "ipfs://again",
      active: true,
    });
    expect(totalsOf(rows)).toMatchObject({ facilitators: 1n, active_facilitators: 1n });
  });

  it("a facilitator that registers again while active does not change the counts", async () => {
    const rows = await new Shop()
      .registry("FacilitatorRegistered", registered("first"))
      .registry("FacilitatorRegistered", registered("again"))
      .rows();
    expect(totalsOf(rows)).toMatchObject({ facilitators: 1n, active_facilitators: 1n });
  });
});

describe("a quote", () => {
  it("a receipt settles its quote", async () => {
    const rows = await new Shop().quote().receipt(1n).rows();
    expect(rows.one(quotes)).toMatchObject({ settled: true, block_number: 1n });
    expect(totalsOf(rows)).toMatchObject({
      quotes: 1n,
      settled_quotes: 1n,
      quoted_volume: 100n,
      quoted_protocol_fees: 1n,
      receipts: 1n,
      settled_volume: 100n,
      settled_protocol_fees: 1n,
    });
  });

  it("a quote that is committed again is payable again, and the counters follow", async () => {
    const story = new Shop().quote().receipt(1n).quote();
    const again = await story.rows();
    expect(again.one(quotes)).toMatchObject({ settled: false, block_number: 3n });
    expect(totalsOf(again)).toMatchObject({
      quotes: 1n,
      settled_quotes: 0n,
      quoted_volume: 100n,
      receipts: 1n,
    });
    const paid = await story.receipt(2n).rows();
    expect(paid.one(quotes)).toMatchObject({ settled: true });
    expect(totalsOf(paid)).toMatchObject({
      quotes: 1n,
      settled_quotes: 1n,
      receipts: 2n,
      settled_volume: 200n,
    });
  });

  it("a quote that is committed again before it is paid does not change the counters", async () => {
    const rows = await new Shop().quote().quote().rows();
    expect(totalsOf(rows)).toMatchObject({ quotes: 1n, settled_quotes: 0n, quoted_volume: 100n });
  });

  it("a receipt of a quote that was never committed stops the index", async () => {
    await expect(new Shop().receipt(1n).rows()).rejects.toThrow("could not be folded");
  });
});

describe("a receipt", () => {
  it("a receipt adds to every volume it belongs to", async () => {
    const second = { quoteHash: repeatHashByte("92"), amount: 7n, paymentRail: 2 };
    const rows = await new Shop().quote().quote(second).receipt(1n).receipt(2n, second).rows();
    const volume = { receipts: 2n, settled_volume: 107n, protocol_fees: 2n };
    expect(rows.one(tokenVolumes)).toEqual({ token: TOKEN, ...volume });
    expect(rows.one(facilitatorVolumes)).toEqual({ facilitator: FACILITATOR, ...volume });
    expect(rows.one(serviceVolumes)).toEqual({ service_numeric_id: 1n, ...volume });
    expect(rows.one(merchantRecords)).toMatchObject({ merchant_id: 1n, ...volume });
    expect(rows.of(railVolumes)).toEqual([
      { payment_rail: 3, receipts: 1n, settled_volume: 100n, protocol_fees: 1n },
      { payment_rail: 2, receipts: 1n, settled_volume: 7n, protocol_fees: 1n },
    ]);
  });

  it("a receipt without a facilitator adds to no facilitator's volume", async () => {
    const direct = { facilitator: MEMORY_ZERO_ADDRESS, paymentRail: 0 };
    const rows = await new Shop().quote(direct).receipt(1n, direct).rows();
    expect(rows.of(facilitatorVolumes)).toEqual([]);
    expect(rows.one(receipts).facilitator).toBe(MEMORY_ZERO_ADDRESS);
  });
});

describe("a fulfilment", () => {
  const outcomeOf = async (...hashes: string[]) => {
    const story = new Shop().quote().receipt(1n);
    for (const hash of hashes) story.fulfilled(1n, hash);
    const rows = await story.rows();
    return [rows.one(receipts).fulfillment_hash, rows.one(merchantRecords).fulfilled_receipts];
  };

  it("a fulfilment of zero does not count", async () => {
    expect(await outcomeOf()).toEqual([null, 0n]);
    expect(await outcomeOf(MEMORY_ZERO_HASH)).toEqual([null, 0n]);
  });

  it("a fulfilment counts once, however often it is repeated", async () => {
    expect(await outcomeOf(repeatHashByte("aa"))).toEqual([repeatHashByte("aa"), 1n]);
    expect(await outcomeOf(repeatHashByte("aa"), repeatHashByte("bb"))).toEqual([repeatHashByte("bb"), 1n]);
  });

  it("a zero hash revokes a fulfilment, which may come again", async () => {
    expect(await outcomeOf(repeatHashByte("aa"), MEMORY_ZERO_HASH)).toEqual([null, 0n]);
    expect(await outcomeOf(repeatHashByte("aa"), MEMORY_ZERO_HASH, MEMORY_ZERO_HASH)).toEqual([null, 0n]);
    expect(await outcomeOf(repeatHashByte("aa"), MEMORY_ZERO_HASH, repeatHashByte("cc"))).toEqual([
      repeatHashByte("cc"),
      1n,
    ]);
  });
});

describe("a dispute", () => {
  const paid = () => new Shop().quote().receipt(1n);
  const counts = (rows: MemoryRows) =>
    [totalsOf(rows), rows.one(merchantRecords)].map((row) => [
      row.disputes,
      row.open_disputes,
      row.resolved_disputes,
      row.rejected_disputes,
    ]);
  const both = (...numbers: bigint[]) => [numbers, numbers];

  it("a dispute belongs to the merchant of its receipt", async () => {
    const rows = await paid().disputed(1n).disputed(2n).rows();
    expect(rows.of(disputes)).toMatchObject([
      { dispute_id: 1n, merchant_id: 1n, status: "OPEN", resolution_hash: null, opener: AGENT },
      { dispute_id: 2n, merchant_id: 1n, status: "OPEN", resolution_hash: null },
    ]);
    expect(counts(rows)).toEqual(both(2n, 2n, 0n, 0n));
  });

  it("a dispute moves from open to how it ended", async () => {
    const rows = await paid().disputed(1n).disputed(2n).resolved(1n, 1).resolved(2n, 2).rows();
    expect(rows.of(disputes).map((row) => [row.status, row.resolution_hash])).toEqual([
      ["RESOLVED", repeatHashByte("77")],
      ["REJECTED", repeatHashByte("77")],
    ]);
    expect(counts(rows)).toEqual(both(2n, 0n, 1n, 1n));
  });

  it("a dispute that is resolved again moves its counters once", async () => {
    const story = paid().disputed(1n).resolved(1n, 1).resolved(1n, 1, repeatHashByte("88"));
    const twice = await story.rows();
    expect(twice.one(disputes)).toMatchObject({ status: "RESOLVED", resolution_hash: repeatHashByte("88") });
    expect(counts(twice)).toEqual(both(1n, 0n, 1n, 0n));
    const turned = await story.resolved(1n, 2).resolved(1n, 2).rows();
    expect(turned.one(disputes).status).toBe("REJECTED");
    expect(counts(turned)).toEqual(both(1n, 0n, 0n, 1n));
  });

  it.each([
    ["about a receipt that was never recorded", () => new Shop().disputed(1n)],
    ["that was never opened, when it is resolved", () => new Shop().resolved(1n, 1)],
  ])("a dispute %s stops the index", async (_, story) => {
    await expect(story().rows()).rejects.toThrow("could not be folded");
  });
});

describe("trust signals", () => {
  it("counts trust signals by kind, and by subject and kind", async () => {
    const story = new Shop();
    const signals = [
      [0, 1n, 1],
      [0, 1n, 1],
      [3, 1n, 1],
      [0, 1n, 2],
    ] as const;
    signals.forEach(([subjectType, subjectId, kind], index) => {
      const about = { subjectType, subjectId, kind, reporter: AGENT, signalHash: repeatHashByte("99") };
      story.registry("TrustSignalRecorded", { signalId: BigInt(index + 1), ...about });
    });
    const rows = await story.rows();
    expect(rows.of(trustSignals)).toHaveLength(4);
    expect(rows.of(signalCounts)).toEqual([
      { kind: 1, signals: 3n },
      { kind: 2, signals: 1n },
    ]);
    expect(rows.of(subjectSignalCounts)).toEqual([
      { subject_type: 0, subject_id: 1n, kind: 1, signals: 2n },
      { subject_type: 3, subject_id: 1n, kind: 1, signals: 1n },
      { subject_type: 0, subject_id: 1n, kind: 2, signals: 1n },
    ]);
  });
});

describe("a settlement", () => {
  it("stores a settlement executed twice in one transaction as two", async () => {
    const args = {
      quoteHash: QUOTE,
      settlementPlanHash: repeatHashByte("92"),
      payer: AGENT,
      token: TOKEN,
      grossAmount: 100n,
      executionHash: repeatHashByte("93"),
    };
    const tx = repeatHashByte("e1");
    const rows = await new LogSequence()
      .append("SettlementAdapter", "SettlementExecuted", args, { block: 1, tx })
      .append("SettlementAdapter", "SettlementExecuted", args, { block: 1, tx })
      .rows();
    expect(rows.of(settlements).map((row) => row.settlement_id)).toEqual([`${tx}-0`, `${tx}-1`]);
  });
});
