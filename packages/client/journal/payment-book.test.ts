// Decides what counts against a budget, and which signature is sent again.
import { describe, expect, it } from "vitest";
import { PaymentBook } from "./payment-book.ts";
import type { JournalRecord, OutcomeRecord, SignedRecord } from "./records.ts";

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;
const SCOPE = { network: "eip155:8453", asset: "0xa" };

function signed(id: string, change: Partial<SignedRecord> = {}): SignedRecord {
  return {
    type: "signed",
    id,
    at: NOW,
    payer: "0xp",
    method: "GET",
    url: "https://a.example/portfolio",
    request: `request ${id}`,
    purchase: null,
    requirements: { ...SCOPE, payTo: "0xb", amount: "10" },
    validBefore: NOW / 1_000 + 60,
    signature: "c2ln",
    ...change,
  };
}

function outcome(id: string, type: OutcomeRecord["type"], at = NOW): OutcomeRecord {
  return { type, id, at, transaction: null, code: null };
}

function bookOf(...records: readonly JournalRecord[]): PaymentBook {
  const book = new PaymentBook();
  for (const record of records) book.apply(record);
  return book;
}

describe("spent", () => {
  it("counts what is open, paid or in conflict, by hour, day and in total", () => {
    const book = bookOf(
      signed("old", { at: NOW - 25 * HOUR }),
      signed("today", { at: NOW - 2 * HOUR }),
      signed("now"),
      outcome("old", "paid"),
      outcome("today", "conflict"),
      signed("other token", {
        requirements: { network: "eip155:1", asset: "0xa", payTo: "0xb", amount: "7" },
      }),
    );
    expect(book.spent(SCOPE, NOW)).toEqual({ hour: 10n, day: 20n, total: 30n });
  });

  it("counts a rejected payment until the chain has shown that it was not charged", () => {
    const rejected = [signed("a"), outcome("a", "rejected")];
    expect(bookOf(...rejected).spent(SCOPE, NOW + 1_000 * HOUR).total).toBe(10n);
    const book = bookOf(...rejected, outcome("a", "released"));
    expect(book.spent(SCOPE, NOW)).toEqual({ hour: 0n, day: 0n, total: 0n });
  });
});

describe("findReusable", () => {
  it("returns an open payment, however old", () => {
    const book = bookOf(signed("a"));
    expect(book.findReusable("request a", NOW + 1_000 * HOUR)?.id).toBe("a");
    expect(book.findReusable("request b", NOW)).toBeNull();
  });

  it("returns nothing for a purchase without a name that is paid or released", () => {
    for (const type of ["paid", "released"] as const) {
      expect(bookOf(signed("a"), outcome("a", type)).findReusable("request a", NOW)).toBeNull();
    }
  });

  it("returns a rejected payment, which the service may still charge, until a newer one stands for the request", () => {
    const rejected = [signed("a", { request: "r" }), outcome("a", "rejected")];
    expect(bookOf(...rejected).findReusable("r", NOW + 1_000 * HOUR)?.id).toBe("a");
    expect(bookOf(...rejected, signed("b", { request: "r" })).findReusable("r", NOW)?.id).toBe("b");
  });

  it("finds a payment by what it is for and by the name that the caller gave", () => {
    const entry = signed("a", {
      given: { url: "https://a.example/portfolio?address=a.eth", request: "by name" },
    });
    expect(bookOf(entry).findReusable("by name", NOW)?.id).toBe("a");
    expect(bookOf(entry).findReusable("request a", NOW)?.id).toBe("a");
    expect(bookOf(signed("a")).findReusable("by name", NOW)).toBeNull();
  });

  it("returns what may have been charged for a day from when that was learned, with and without a name", () => {
    for (const purchase of [null, "mine"]) {
      const learned = NOW + 100 * HOUR;
      const book = bookOf(signed("a", { purchase }), outcome("a", "conflict", learned));
      expect(book.findReusable("request a", learned + 23 * HOUR)?.id).toBe("a");
      expect(book.findReusable("request a", learned + 25 * HOUR)).toBeNull();
    }
  });

  it("returns a named purchase for a day, unless it was certainly not charged", () => {
    const book = bookOf(signed("a", { purchase: "mine" }), outcome("a", "paid"));
    expect(book.findReusable("request a", NOW + 23 * HOUR)?.id).toBe("a");
    expect(book.findReusable("request a", NOW + 25 * HOUR)).toBeNull();
    const released = bookOf(signed("a", { purchase: "mine" }), outcome("a", "released"));
    expect(released.findReusable("request a", NOW)).toBeNull();
  });

  it("does not take a payment back that another process has seen paid", () => {
    const book = bookOf(signed("a"), outcome("a", "paid"), outcome("a", "rejected"));
    expect(book.get("a")?.state).toBe("paid");
  });
});
