// Collecting positions: a failing reader becomes a warning, and no receipt token represents two positions.
import { describe, expect, it } from "vitest";
import {
  makeChainAccess,
  makeChainConfig,
  makePosition,
  numberedContract,
  TEST_WALLET,
} from "../../../tests/support/portfolio/portfolio-parts.ts";
import type { PositionReader, ProtocolPosition } from "../types.ts";
import { collectPositions } from "./collect-positions.ts";

const signal = new AbortController().signal;
const at = await makeChainAccess(makeChainConfig("base", 8453)).pin(signal);
const query = { at, wallet: TEST_WALLET, holdings: [] };

function reader(protocol: string, ...found: readonly Partial<ProtocolPosition>[]): PositionReader {
  const positions = found.map((position) => makePosition({ ...position, protocol }));
  return { protocol, read: async () => ({ positions, warnings: [`${protocol} was read.`] }) };
}

describe("collectPositions", () => {
  it("returns positions and warnings in the order of the readers", async () => {
    const { positions, warnings } = await collectPositions(
      [reader("A", {}, {}), reader("B", {})],
      query,
      signal,
    );
    expect(positions.map(({ protocol }) => protocol)).toEqual(["A", "A", "B"]);
    expect(warnings).toEqual(["A was read.", "B was read."]);
  });

  it("returns the positions of the others when one reader fails", async () => {
    const failing: PositionReader = { protocol: "F", read: () => Promise.reject(new Error("secret")) };
    const { positions, warnings } = await collectPositions([failing, reader("B", {})], query, signal);
    expect(positions.map(({ protocol }) => protocol)).toEqual(["B"]);
    expect(warnings).toEqual(["Positions in F are missing on Base: they could not be read.", "B was read."]);
  });

  it.each([
    ["fails", () => Promise.reject(new Error("down"))],
    ["hangs", () => new Promise<never>(() => {})],
    ["could not read a market", async () => ({ positions: [], warnings: [], hasUnreadDebt: true as const })],
  ])("names a lending protocol whose reader %s: a debt may be missing", async (_, read) => {
    const readers = [
      { protocol: "Lend", readsDebt: true, read },
      { protocol: "Vault", read: () => Promise.reject(new Error("down")) },
      { protocol: "B", readsDebt: true, read: async () => ({ positions: [], warnings: [] }) },
    ];
    const { unreadDebts } = await collectPositions(readers, query, signal, 20);
    expect([...unreadDebts]).toEqual(["Lend"]);
  });

  it("says what is missing before the details of other readers", async () => {
    const failing: PositionReader = { protocol: "F", read: () => Promise.reject(new Error("down")) };
    const { warnings } = await collectPositions([reader("A"), failing], query, signal);
    expect(warnings).toEqual(["Positions in F are missing on Base: they could not be read.", "A was read."]);
  });

  it("gives a receipt token to the earlier reader, which may use it for several positions", async () => {
    const receiptTokens = [numberedContract(1)];
    const readers = [
      reader("A", { receiptTokens }, { receiptTokens }),
      { ...reader("B", { receiptTokens: [numberedContract(2), ...receiptTokens] }, {}), readsDebt: true },
    ];
    const { positions, warnings, unreadDebts } = await collectPositions(readers, query, signal);
    expect(positions.map((position) => [position.protocol, position.receiptTokens.length])).toEqual([
      ["A", 1],
      ["A", 1],
      ["B", 0],
    ]);
    // A hidden position may be a debt.
    expect([...unreadDebts]).toEqual(["B"]);
    expect(warnings).toContain(
      "A token on Base represents positions in both A and B: only the former is shown.",
    );
  });

  it.each([
    [
      "heeds",
      (stop: AbortSignal, reject: (reason: unknown) => void) => {
        stop.addEventListener("abort", () => reject(stop.reason));
      },
    ],
    ["ignores", () => {}],
  ])("leaves out a reader that hangs and %s its signal, and keeps the others", async (_, onStart) => {
    const hanging: PositionReader = {
      protocol: "Hanging",
      read: (_query, stop) => new Promise((_resolve, reject) => onStart(stop, reject)),
    };
    const { positions, warnings } = await collectPositions([hanging, reader("B", {})], query, signal, 20);
    expect(positions.map(({ protocol }) => protocol)).toEqual(["B"]);
    expect(warnings).toEqual([
      "Positions in Hanging are missing on Base: they took more than 0.02 seconds.",
      "B was read.",
    ]);
  });

  it("rejects with the reason of the caller's signal instead of warning", async () => {
    const stop = new AbortController();
    const failing: PositionReader = {
      protocol: "F",
      read: async () => {
        stop.abort(new Error("gone"));
        throw new Error("aborted");
      },
    };
    await expect(collectPositions([failing], query, stop.signal)).rejects.toThrow("gone");
  });
});
