// Slipstream by what its own contracts returned: NFTs in the wallet and in gauges are worth what they paid out.
import { describe, expect, it } from "vitest";
import recording from "../../../../tests/fixtures/positions/slipstream.json" with { type: "json" };
import {
  type ChainRecord,
  openRecordedChain,
  openRecordedMoment,
  type RecordedMoment,
} from "../../../../tests/support/chain/recorded-chain.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { ProtocolPosition, TransferLog } from "../../types.ts";
import type { LiquidityNftMarket } from "./contracts.ts";
import { createUniswapV3Reader } from "./reader.ts";

type Moment = RecordedMoment & {
  readonly views: { readonly payouts: Readonly<Record<string, readonly string[]>> };
};
const cases = recording.cases as unknown as Readonly<Record<string, Moment>>;
const market = recording.market as LiquidityNftMarket;
const wallet = recording.wallet as Hex;
const gauge = recording.gauge as Hex;
const CHAIN_ID = 31337;
const reader = createUniswapV3Reader(new Map([[CHAIN_ID, [market]]]));
const signal = new AbortController().signal;

function momentOf(name: string): Moment {
  const moment = cases[name];
  if (moment === undefined) throw new Error(`${name} was not recorded`);
  return moment;
}

/**
 * The amounts that the manager, and before it the gauge, paid for each NFT, in the order in which the reader lists
 * them.
 */
function expectedPositions(moment: Moment, staked: readonly string[]): ProtocolPosition[] {
  const { chain } = openRecordedMoment(moment);
  const ids = Object.keys(moment.views.payouts).sort((a, b) => Number(b) - Number(a));
  const inOrder = [...ids.filter((id) => !staked.includes(id)), ...staked];
  return inOrder.map((id) => ({
    protocol: "velodrome-slipstream",
    kind: "liquidity",
    name: `Velodrome Slipstream #${id}, tick spacing 100${staked.includes(id) ? ", staked" : ""}`,
    contract: market.manager,
    ...(staked.includes(id) ? {} : { tokenId: BigInt(id) }),
    assets: [...chain.tokens.values()]
      .map((token, index) => ({ ...token, rawBalance: BigInt(moment.views.payouts[id]?.[index] ?? 0) }))
      .filter(({ rawBalance }) => rawBalance > 0n),
    receiptTokens: [],
  }));
}

function read(name: string, more: Partial<ChainRecord> = {}, transfers: readonly TransferLog[] = []) {
  const at = openRecordedChain({ ...openRecordedMoment(momentOf(name)), ...more });
  return reader.read({ at, wallet, holdings: [], transfers }, signal);
}

const STAKED = "emptied and staked";
const staked = momentOf(STAKED);
const expectedStaked = expectedPositions(staked, ["6"]);
const withoutStake = expectedStaked.filter(({ name }) => !name.includes("staked"));
const GAP =
  "Liquidity staked in gauges of Velodrome Slipstream on Local may be missing: no node could search all gauges, so that only recent transfers show them.";

describe("Slipstream", () => {
  const opened = openRecordedMoment(staked);
  describePositionReader({
    reader,
    protocols: ["velodrome-slipstream"],
    ...{ ...opened, wallet, transfers: [], emptyCalls: opened.calls },
    expected: expectedStaked,
    roundsMax: 4,
    requestsMax: 5,
  });

  it("shows in and out of range what the manager paid, fees of both tokens included", async () => {
    const moment = momentOf("in and out of range");
    const { positions, warnings } = await read("in and out of range");
    expect({ positions, warnings }).toEqual({ positions: expectedPositions(moment, []), warnings: [] });
    expect(positions.filter(({ assets }) => assets.length === 2).length).toBeGreaterThanOrEqual(3);
  });

  it("shows what is in a gauge without a transfer, and in one that was killed", async () => {
    expect(staked.transfers).toHaveLength(1);
    const moment = momentOf("in a killed gauge");
    const { positions, warnings } = await read("in a killed gauge");
    expect({ positions, warnings }).toEqual({ positions: expectedPositions(moment, ["6"]), warnings: [] });
  });

  it("says so when the wallet has NFTs of an unknown manager in a gauge", async () => {
    const other = { ...market, manager: gauge };
    const at = openRecordedChain(openRecordedMoment(staked));
    const others = createUniswapV3Reader(new Map([[CHAIN_ID, [other]]]));
    const { positions, warnings } = await others.read({ at, wallet, holdings: [] }, signal);
    expect(positions).toEqual([]);
    expect(warnings.at(-1)).toBe(
      "Velodrome Slipstream positions on Local that could not be read and are missing: 1.",
    );
  });

  it("shows an NFT once that both the voter and a transfer name", async () => {
    const { transfers } = openRecordedMoment(staked);
    expect((await read(STAKED, {}, transfers)).positions).toEqual(expectedStaked);
  });
});

describe("Slipstream on a node that cannot search gauges", () => {
  const [sent] = openRecordedMoment(staked).transfers as [TransferLog];
  const runCode = () => null;
  const isCallTo = (to: Hex) => (call: { readonly to: Hex }) => call.to === to;
  const noGauge: ChainRecord["spoil"] = (call, result) =>
    isCallTo(market.voter as Hex)(call) ? `0x${"00".repeat(32)}` : result;
  const otherManager: ChainRecord["spoil"] = (call, result) =>
    isCallTo(gauge)(call) && call.data.length === 10 ? `0x${"00".repeat(12)}${"ab".repeat(20)}` : result;

  it("finds the gauge by a transfer, and says what may be missing", async () => {
    expect(await read(STAKED, { runCode }, [sent])).toEqual({ positions: expectedStaked, warnings: [GAP] });
  });

  it.each([
    ["nothing was sent", [], {}],
    ["the voter does not know the contract", [sent], { spoil: noGauge }],
    ["the gauge is for NFTs of another manager", [sent], { spoil: otherManager }],
    ["another account sent the NFT", [{ ...sent, from: gauge }], {}],
    ["another NFT was sent", [{ ...sent, contract: gauge }], {}],
  ] as const)("shows nothing staked when %s", async (_, transfers, more) => {
    expect(await read(STAKED, { runCode, ...more }, transfers)).toEqual({
      ...{ positions: withoutStake, warnings: [GAP] },
    });
  });

  it("warns when a gauge does not list what is staked in it", async () => {
    const spoil: ChainRecord["spoil"] = (call, result) =>
      isCallTo(gauge)(call) && call.data.length > 10 ? null : result;
    const { positions, warnings } = await read(STAKED, { spoil });
    expect(positions).toEqual(withoutStake);
    expect(warnings).toEqual([
      "Velodrome Slipstream positions on Local that could not be read and are missing: 1.",
    ]);
  });
});
