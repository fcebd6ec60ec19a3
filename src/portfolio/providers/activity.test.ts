// Lookalikes of counterparties, and which entries are shown.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Hex } from "../../lib/hex.ts";
import { ACTIVITY_MAX } from "../../schema/portfolio/snapshot.ts";
import { findLookalikes, getCounterparty, keepNewest } from "./activity.ts";

const WALLET: Hex = `0x14dc${"7".repeat(32)}9955`;
const FRIEND: Hex = `0xf21e${"0".repeat(32)}beef`;
const POISONER: Hex = `0xf21e${"1".repeat(32)}beef`;
const SHOP: Hex = `0x5409${"0".repeat(32)}5409`;
const ZERO: Hex = `0x${"0".repeat(40)}`;

const sent = (to: Hex) => ({ from: WALLET, to });
const received = (from: Hex) => ({ from, to: WALLET });
const lookalikes = (...transfers: { from: Hex; to: Hex }[]) => [...findLookalikes(WALLET, transfers)];

describe("lookalikes", () => {
  it("marks an address that shares the shown digits with one that the wallet paid", () => {
    expect(lookalikes(sent(FRIEND), received(POISONER), sent(SHOP))).toEqual([POISONER]);
    expect(lookalikes(sent(FRIEND), received(FRIEND), sent(SHOP))).toEqual([]);
  });

  it("marks both similar addresses when the wallet paid neither or both", () => {
    expect(lookalikes(received(FRIEND), received(POISONER))).toEqual([FRIEND, POISONER]);
    expect(lookalikes(sent(FRIEND), sent(POISONER))).toEqual([FRIEND, POISONER]);
  });

  it("marks lookalikes of the wallet and of the zero address, but not these two", () => {
    const ofWallet: Hex = `0x14dc${"1".repeat(32)}9955`;
    const ofZero: Hex = `0x0000${"1".repeat(32)}0000`;
    expect(lookalikes(sent(ofWallet), sent(WALLET), received(ofZero), received(ZERO))).toEqual([
      ofWallet,
      ofZero,
    ]);
  });

  it("marks no address whose digits are equal at one end only", () => {
    const start: Hex = `0xf21e${"1".repeat(32)}bee0`;
    const end: Hex = `0xf210${"1".repeat(32)}beef`;
    expect(lookalikes(sent(FRIEND), received(start), received(end))).toEqual([]);
  });
});

describe("the counterparty", () => {
  it("the counterparty is the other side, and the wallet itself when it paid itself", () => {
    expect(getCounterparty(WALLET, sent(FRIEND))).toBe(FRIEND);
    expect(getCounterparty(WALLET, received(FRIEND))).toBe(FRIEND);
    expect(getCounterparty(WALLET, sent(WALLET))).toBe(WALLET);
    expect(getCounterparty(WALLET, { from: null, to: WALLET })).toBeNull();
  });
});

describe("the shown entries", () => {
  const entry = (kind: "signed" | "paid" | "received" | "lookalike", index: number) => ({
    index,
    kind,
    sender: kind === "signed" ? WALLET : SHOP,
    from: kind === "paid" ? WALLET : kind === "lookalike" ? POISONER : FRIEND,
    lookalike: kind === "lookalike",
  });
  type Kind = ReturnType<typeof entry>["kind"];
  const rows = (count: number, kind: Kind) => Array<Kind>(count).fill(kind);
  const keep = (kinds: readonly Kind[]) => keepNewest(WALLET, kinds.map(entry));
  const count = (kept: ReturnType<typeof keep>, ...kinds: readonly Kind[]) =>
    kept.filter(({ kind }) => kinds.includes(kind)).length;

  it("shows the newest entries of each kind, in order, and each kind keeps its quota", () => {
    const kind = fc.constantFrom<Kind[]>("signed", "paid", "received", "lookalike");
    fc.assert(
      fc.property(fc.array(kind, { maxLength: 120 }), (kinds) => {
        const entries = kinds.map(entry);
        const kept = keep(kinds);
        expect(kept).toHaveLength(Math.min(ACTIVITY_MAX, entries.length));
        expect(kept.map(({ index }) => index)).toEqual(kept.map(({ index }) => index).sort((a, b) => a - b));
        for (const group of [["signed", "paid"], ["received"], ["lookalike"]] as const) {
          const all = entries.filter((each) => (group as readonly Kind[]).includes(each.kind));
          const shown = kept.filter((each) => (group as readonly Kind[]).includes(each.kind));
          expect(shown.map(({ index }) => index)).toEqual(
            all.slice(0, shown.length).map(({ index }) => index),
          );
        }
        const own = entries.filter((each) => each.kind === "signed" || each.kind === "paid").length;
        const received = entries.filter((each) => each.kind === "received").length;
        expect(count(kept, "signed", "paid")).toBeGreaterThanOrEqual(Math.min(own, 13));
        expect(count(kept, "received")).toBeGreaterThanOrEqual(Math.min(received, 12));
        expect(count(kept, "lookalike")).toBeLessThanOrEqual(Math.max(0, ACTIVITY_MAX - own - received));
      }),
    );
  });

  it("keeps what the wallet did under a flood of gifts, and gifts under a flood of its own payments", () => {
    const flooded = keep([...rows(500, "lookalike"), ...rows(500, "received"), ...rows(20, "signed")]);
    expect([count(flooded, "signed"), count(flooded, "received")]).toEqual([13, 12]);
    const busy = keep([...rows(500, "paid"), ...rows(3, "received")]);
    expect([count(busy, "paid"), count(busy, "received")]).toEqual([22, 3]);
  });
});
