// Positions: readers at once, a failing one is a warning, and no receipt token stands for two positions.
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
const question = { at, wallet: TEST_WALLET, holdings: [] };

function reader(protocol: string, ...found: readonly Partial<ProtocolPosition>[]): PositionReader {
  const positions = found.map((position) => makePosition({ ...position, protocol }));
  return { protocol, read: async () => ({ positions, warnings: [`${protocol} was read.`] }) };
}

describe("positions", () => {
  it("of all readers, with their warnings, in the order of the readers", async () => {
    const { positions, warnings } = await collectPositions(
      [reader("A", {}, {}), reader("B", {})],
      question,
      signal,
    );
    expect(positions.map(({ protocol }) => protocol)).toEqual(["A", "A", "B"]);
    expect(warnings).toEqual(["A was read.", "B was read."]);
  });

  it("of the others when one reader fails", async () => {
    const failing: PositionReader = { protocol: "F", read: () => Promise.reject(new Error("secret")) };
    const { positions, warnings } = await collectPositions([failing, reader("B", {})], question, signal);
    expect(positions.map(({ protocol }) => protocol)).toEqual(["B"]);
    expect(warnings).toEqual(["Positions in F are missing on Base: they could not be read.", "B was read."]);
  });

  it("once for each receipt token: the earlier reader's, who may use it for several", async () => {
    const replaces = [numberedContract(1)];
    const readers = [
      reader("A", { receiptTokens: replaces }, { receiptTokens: replaces }),
      reader("B", { receiptTokens: [numberedContract(2), ...replaces] }, {}),
    ];
    const { positions, warnings } = await collectPositions(readers, question, signal);
    expect(positions.map(({ protocol, receiptTokens: replaces }) => [protocol, replaces.length])).toEqual([
      ["A", 1],
      ["A", 1],
      ["B", 0],
    ]);
    expect(warnings).toContain(
      "A token on Base stands for positions in both A and B: only the former is shown.",
    );
  });

  it("of a reader that hangs are missing in time", async () => {
    const hanging: PositionReader = {
      protocol: "Hanging",
      read: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
    };
    const { warnings } = await collectPositions([hanging], question, new AbortController().signal, 20);
    expect(warnings).toEqual(["Positions in Hanging are missing on Base: they could not be read."]);
  });

  it("end with the request, not with a warning", async () => {
    const stop = new AbortController();
    const failing: PositionReader = {
      protocol: "F",
      read: async () => {
        stop.abort(new Error("gone"));
        throw new Error("aborted");
      },
    };
    await expect(collectPositions([failing], question, stop.signal)).rejects.toThrow("gone");
  });
});
