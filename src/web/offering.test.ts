// An offering that a directory would reject fails at start.
import { describe, expect, it } from "vitest";
import { type Offering, type PaidRoute, validateOffering } from "./offering.ts";

const route: PaidRoute = {
  method: "GET",
  path: "/thing",
  summary: "A thing",
  description: "A thing.",
  priceUsd: "0.01",
  priceUsdPerChain: null,
  priceUsdSummary: null,
  priceUsdProof: null,
  prices: [{ priceUsd: "0.01", amount: "10000" }],
  tags: ["a"],
  mimeType: "application/json",
  query: { id: "1" },
  takesMpp: false,
  extensions: {},
  terms: {
    scheme: "exact",
    network: "eip155:1",
    amount: "1",
    asset: "0x",
    payTo: "0x",
    maxTimeoutSeconds: 60,
    extra: { name: "", version: "" },
  },
};
const offering: Offering = {
  origin: "https://a.example",
  name: "Things",
  description: "",
  routes: [route],
  termsSinceMs: 0,
};

describe("an offering", () => {
  it("passes unchanged if directories accept it", () => {
    expect(validateOffering(offering)).toBe(offering);
    validateOffering({ ...offering, routes: [{ ...route, description: "x".repeat(500) }] });
  });

  it.each<[Partial<Offering>, RegExp]>([
    [{ name: "x".repeat(33) }, /name/],
    [{ name: "Sextänt" }, /ASCII/],
    [{ routes: [{ ...route, path: "thing" }] }, /slash/],
    [{ routes: [{ ...route, description: "x".repeat(501) }] }, /500/],
    [{ routes: [{ ...route, priceUsd: "$1" }] }, /price/],
    [{ routes: [{ ...route, priceUsdSummary: "1e-3" }] }, /price/],
    [{ routes: [{ ...route, tags: ["a", "b", "c", "d", "e", "f"] }] }, /5 tags/],
  ])("rejects an offering with %j", (change, sentence) => {
    expect(() => validateOffering({ ...offering, ...change })).toThrow(sentence);
  });
});
