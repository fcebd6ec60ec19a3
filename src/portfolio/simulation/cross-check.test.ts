// Comparisons of what was measured with what a run without the simulator announced.
import { describe, expect, it } from "vitest";
import { numberedContract } from "../../../tests/support/portfolio/portfolio-parts.ts";
import { TRANSFER_TOPIC } from "../../chain/logs/get-logs.ts";
import { addressToTopic } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import { crossCheck } from "./cross-check.ts";
import type { PreviewRun } from "./preview.ts";

const [WALLET, OTHER, LISTED, UNLISTED] = [1, 2, 3, 4].map(numberedContract) as [Hex, Hex, Hex, Hex];
const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`;
const moved = (token: Hex, from: Hex, to: Hex, amount: bigint) => ({
  address: token,
  topics: [TRANSFER_TOPIC, addressToTopic(from), addressToTopic(to)],
  data: word(amount),
});

function compare(run: Partial<PreviewRun>, token: Hex | null, change: bigint) {
  const full: PreviewRun = { success: true, gasUsed: 21_000n, logs: [], payments: [], isCut: false, ...run };
  const preview = { method: "eth_simulateV1", runs: [full], exactCount: 1 } as const;
  return crossCheck(preview, {
    realistic: null,
    wallet: WALLET,
    outcomes: [{ success: true, gasGiven: 1n, gasUsed: 1n, returnData: "0x" }],
    changes:
      change === 0n ? [] : [{ account: WALLET, contract: token, before: 1_000n, after: 1_000n + change }],
    isListed: (contract) => contract === LISTED,
  });
}

describe("a simulation", () => {
  it("agrees with a run that announces the same amounts", () => {
    const logs = [moved(LISTED, WALLET, OTHER, 100n)];
    expect(compare({ logs }, LISTED, -100n)).toEqual({ agrees: true, reasons: [], warnings: [] });
    const payments = [{ from: WALLET, to: OTHER, value: 7n }];
    expect(compare({ payments }, null, -7n).agrees).toBe(true);
  });

  it("differs from a run in which more leaves the wallet", () => {
    expect(compare({ logs: [moved(LISTED, WALLET, OTHER, 100n)] }, LISTED, 0n).agrees).toBe(false);
    expect(compare({ payments: [{ from: WALLET, to: OTHER, value: 7n }] }, null, 0n).agrees).toBe(false);
    expect(compare({}, UNLISTED, 100n).agrees).toBe(false);
    expect(compare({ success: false }, null, 0n).agrees).toBe(false);
  });

  it("allows interest to a listed token, and names an unlisted one that says another amount than it moves", () => {
    const supply = (token: Hex) => compare({ logs: [moved(token, OTHER, WALLET, 103n)] }, token, 100n);
    expect(supply(LISTED)).toMatchObject({ agrees: true, reasons: [] });
    expect(supply(UNLISTED)).toMatchObject({
      agrees: true,
      reasons: [{ code: "token-keeps-part", contract: UNLISTED }],
    });
  });

  it("is not confirmed without a run", () => {
    const measured = { realistic: null, wallet: WALLET, outcomes: [], changes: [], isListed: () => true };
    expect(crossCheck(null, measured).agrees).toBeNull();
  });
});
