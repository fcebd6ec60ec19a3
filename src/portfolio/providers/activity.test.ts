// Lookalikes of counterparties, and which entries are shown.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Hex } from "../../lib/hex.ts";
import { ACTIVITY_MAX } from "../types.ts";
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
  it("are those that share the shown digits with one that the wallet paid", () => {
    expect(lookalikes(sent(FRIEND), received(POISONER), sent(SHOP))).toEqual([POISONER]);
    expect(lookalikes(sent(FRIEND), received(FRIEND), sent(SHOP))).toEqual([]);
  });

  it("are both when the wallet paid neither or both", () => {
    expect(lookalikes(received(FRIEND), received(POISONER))).toEqual([FRIEND, POISONER]);
    expect(lookalikes(sent(FRIEND), sent(POISONER))).toEqual([FRIEND, POISONER]);
  });

  it("include those of the wallet itself and of the zero address, which are none", () => {
    const ofWallet: Hex = `0x14dc${"1".repeat(32)}9955`;
    const ofZero: Hex = `0x0000${"1".repeat(32)}0000`;
    expect(lookalikes(sent(ofWallet), sent(WALLET), received(ofZero), received(ZERO))).toEqual([
      ofWallet,
      ofZero,
    ]);
  });

  it("need equal digits at both ends", () => {
    const start: Hex = `0xf21e${"1".repeat(32)}bee0`;
    const end: Hex = `0xf210${"1".repeat(32)}beef`;
    expect(lookalikes(sent(FRIEND), received(start), received(end))).toEqual([]);
  });
});

describe("the counterparty", () => {
  it("is the other side, and the wallet itself when it paid itself", () => {
    expect(getCounterparty(WALLET, sent(FRIEND))).toBe(FRIEND);
    expect(getCounterparty(WALLET, received(FRIEND))).toBe(FRIEND);
    expect(getCounterparty(WALLET, sent(WALLET))).toBe(WALLET);
    expect(getCounterparty(WALLET, { from: null, to: WALLET })).toBeNull();
  });
});

describe("the shown entries", () => {
  it("are the newest, in order, and no lookalike takes the place of another entry", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 80 }), (marks) => {
        const entries = marks.map((lookalike, index) => ({ index, lookalike }));
        const kept = keepNewest(entries);
        expect(kept).toHaveLength(Math.min(ACTIVITY_MAX, entries.length));
        expect(kept).toEqual(entries.filter((entry) => kept.includes(entry)));
        const others = entries.filter(({ lookalike }) => !lookalike);
        expect(kept.filter(({ lookalike }) => !lookalike)).toEqual(others.slice(0, ACTIVITY_MAX));
      }),
    );
  });
});
