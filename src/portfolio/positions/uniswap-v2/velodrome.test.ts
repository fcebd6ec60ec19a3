// Velodrome's pools by what its own contracts returned: pool tokens are worth what burning them and claiming the fees paid.
import { describe, expect, it } from "vitest";
import recording from "../../../../tests/fixtures/positions/velodrome.json" with { type: "json" };
import {
  type ChainRecord,
  openRecordedChain,
  openRecordedMoment,
  type RecordedMoment,
} from "../../../../tests/support/chain/recorded-chain.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { ProtocolPosition } from "../../types.ts";
import type { PairMarket } from "./contracts.ts";
import { createUniswapV2Reader } from "./reader.ts";

type Payout = { readonly held: readonly string[]; readonly staked: readonly string[] };
type Moment = RecordedMoment & { readonly views: { readonly payouts: readonly Payout[] } };
const cases = recording.cases as unknown as Readonly<Record<string, Moment>>;
const wallet = recording.wallet as Hex;
const pools = recording.pools as readonly Hex[];
const CHAIN_ID = 31337;
const reader = createUniswapV2Reader(new Map([[CHAIN_ID, [recording.market as PairMarket]]]));
const signal = new AbortController().signal;
const IN_WALLET = cases["in the wallet"] as Moment;
const IN_GAUGES = cases["in gauges"] as Moment;

function read(moment: Moment, more: Partial<ChainRecord> = {}, withTransfers = false) {
  const { holdings, transfers, ...record } = openRecordedMoment(moment);
  const at = openRecordedChain({ ...record, ...more });
  return reader.read({ at, wallet, holdings, transfers: withTransfers ? transfers : [] }, signal);
}

/** Keyed by the name of the position and its pool, for both what is held and what is staked. */
function listPayouts({ views }: Moment): Readonly<Record<string, readonly bigint[]>> {
  const kinds = ["volatile", "stable"];
  const entries = views.payouts.flatMap(({ held, staked }, index) => [
    [`Velodrome ${kinds[index]} pool ${pools[index]}`, held.map(BigInt)] as const,
    [`Velodrome ${kinds[index]} pool, staked ${pools[index]}`, staked.map(BigInt)] as const,
  ]);
  return Object.fromEntries(entries.filter(([, amounts]) => amounts.some((amount) => amount > 0n)));
}

function listAmounts(positions: readonly ProtocolPosition[]): Readonly<Record<string, readonly bigint[]>> {
  return Object.fromEntries(
    positions.map(({ name, contract, assets }) => [
      `${name} ${contract}`,
      assets.map(({ rawBalance }) => rawBalance),
    ]),
  );
}

describe("Velodrome's pools", () => {
  it("values a volatile and a stable pool at what they paid", async () => {
    const { positions, warnings, provenTokens } = await read(IN_WALLET);
    expect(listAmounts(positions)).toEqual(listPayouts(IN_WALLET));
    expect(positions).toHaveLength(2);
    expect([warnings, provenTokens]).toEqual([[], new Set(pools)]);
  });

  it("finds pools in gauges without a transfer, also when the wallet has none of their tokens left", async () => {
    const { positions, warnings } = await read(IN_GAUGES);
    expect(listAmounts(positions)).toEqual(listPayouts(IN_GAUGES));
    expect(IN_GAUGES.holdings.map(({ contract }) => contract)).toEqual([pools[0]]);
    expect(positions.filter(({ name }) => name.endsWith(", staked"))).toHaveLength(2);
    expect(warnings).toEqual([]);
  });

  it("finds staked pools by transfers if no node can search gauges, with a warning", async () => {
    const { positions, warnings } = await read(IN_GAUGES, { runCode: () => null }, true);
    expect(listAmounts(positions)).toEqual(listPayouts(IN_GAUGES));
    expect(warnings).toEqual([
      "Liquidity staked in gauges of Velodrome on Local may be missing: no node could search all gauges, so that only recent transfers show them.",
    ]);
  });
});
