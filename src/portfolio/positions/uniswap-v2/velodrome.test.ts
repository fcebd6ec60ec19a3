// Velodrome pools as their own code responds, recorded: the reader shows what a burn and a claim of the fees paid.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { openRecordedChain, type RecordedCall } from "../../../../tests/support/chain/recorded-chain.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { Holding } from "../../types.ts";
import { fixtureChainConfig, fixtureToken } from "../fixture-chain.ts";
import { createUniswapV2Reader } from "./reader.ts";

/** Whole numbers are text. */
type Recording = {
  readonly wallet: Hex;
  readonly factory: Hex;
  readonly tokens: readonly [Hex, Hex];
  readonly holdings: readonly (Omit<Holding, "rawBalance"> & { readonly rawBalance: string })[];
  readonly calls: readonly RecordedCall[];
  /** What both would pay in the recorded block. */
  readonly expected: readonly {
    readonly claimFees: readonly [string, string];
    readonly burn: readonly [string, string];
  }[];
};

const file = new URL("velodrome-recording.json", import.meta.url);
const recording: Recording = JSON.parse(readFileSync(file, "utf8"));
const VOTER: Hex = `0x${"70".repeat(20)}`;
const [token0, token1] = recording.tokens;
const chain = fixtureChainConfig(10, "Optimism", [
  fixtureToken(token0, "AAA", 6),
  fixtureToken(token1, "BBB", 18),
]);
const market = { protocol: "velodrome", name: "Velodrome", shape: "velodrome", voter: VOTER } as const;
const reader = createUniswapV2Reader(new Map([[10, [{ ...market, factory: recording.factory }]]]));

it("shows what the pools paid for a volatile and a stable pool", async () => {
  const holdings = recording.holdings.map((holding) => ({
    ...holding,
    rawBalance: BigInt(holding.rawBalance),
  }));
  // The voter was not part of the run: it knows no gauge.
  const gauges = holdings.map(({ contract }) => ({
    ...{ to: VOTER, function: "gauges(address) view returns (address)", args: [contract] },
    result: `0x${"00".repeat(20)}`,
  }));
  const at = openRecordedChain({ chain, calls: [...recording.calls, ...gauges] });
  const query = { at, wallet: recording.wallet, holdings };
  const { positions, warnings } = await reader.read(query, new AbortController().signal);
  expect(warnings).toEqual([]);
  expect(positions.map(({ name }) => name)).toEqual(["Velodrome volatile pool", "Velodrome stable pool"]);
  expect(positions.map(({ assets }) => assets.map(({ rawBalance }) => rawBalance))).toEqual(
    recording.expected.map(({ claimFees, burn }) =>
      burn.map((amount, index) => BigInt(amount) + BigInt(claimFees[index] ?? 0)),
    ),
  );
});
