// Compares what the readers of Compound v2's forks show of a recorded account with what the fork itself said about it.
import { expect, it } from "vitest";
import type { Hex } from "../../../src/lib/hex.ts";
import type { CompoundV2Pool } from "../../../src/portfolio/positions/compound-v2/contracts.ts";
import { type PositionReader, type ProtocolPosition, quotePrice } from "../../../src/portfolio/types.ts";
import { openRecordedChain, openRecordedMoment, type RecordedMoment } from "../chain/recorded-chain.ts";
import { describePositionReader } from "./position-reader-suite.ts";

const CHAIN_ID = 31337;
const PRICE_DECIMALS = 36;
const signal = new AbortController().signal;

type MarketViews = {
  readonly token: string;
  readonly market: string;
  readonly supplied: string;
  readonly borrowed: string;
  readonly borrowedStored: string;
  readonly price: string;
  readonly isCollateral: boolean;
};
type Moment = RecordedMoment & { readonly views: { readonly markets: readonly MarketViews[] } };
/** As `recordAccount` writes it. */
type Recording = {
  readonly wallet: string;
  readonly oracle: string;
  readonly pool: { readonly name: string; readonly comptroller: string; readonly markets: readonly string[] };
  readonly cases: Readonly<Record<string, unknown>>;
};

export function describeCompoundV2Fork(
  protocol: string,
  recording: Recording,
  createReader: (pools: ReadonlyMap<number, readonly CompoundV2Pool[]>) => PositionReader,
): void {
  const pool = recording.pool as CompoundV2Pool;
  const wallet = recording.wallet as Hex;
  const reader = createReader(new Map([[CHAIN_ID, [pool]]]));
  const moments = recording.cases as Readonly<Record<string, Moment>>;
  const borrowed = moments["borrowed for a month"] as Moment;
  const expectedOf = (moment: Moment) =>
    listPositions(moment, { protocol, pool, oracle: recording.oracle as Hex });

  const record = openRecordedMoment(borrowed);
  describePositionReader({
    ...{ ...record, reader, wallet, emptyCalls: record.calls },
    expected: expectedOf(borrowed),
    roundsMax: 3,
    requestsMax: 3,
  });

  it("shows a debt with the interest since it was last stored, and a supply that is not collateral", () => {
    const [debt, , idle] = borrowed.views.markets;
    expect(BigInt(debt?.borrowed ?? 0)).toBeGreaterThan(BigInt(debt?.borrowedStored ?? 0));
    expect(idle?.isCollateral).toBe(false);
    expect(expectedOf(borrowed).map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      ...[`borrowed ${pool.name}: USDC`, `supplied ${pool.name}: COL`, `supplied ${pool.name}: IDLE`],
    ]);
  });

  it("finds a market that is newer than the data", async () => {
    const older = { ...pool, markets: pool.markets.slice(0, -1) };
    const at = openRecordedChain(record);
    const result = await createReader(new Map([[CHAIN_ID, [older]]])).read(
      { at, wallet, holdings: [] },
      signal,
    );
    expect(result).toEqual({ positions: expectedOf(borrowed), warnings: [] });
  });

  it("shows the same account in paused markets that count as no collateral", async () => {
    const paused = moments["paused and without collateral value"] as Moment;
    const at = openRecordedChain(openRecordedMoment(paused));
    expect(await reader.read({ at, wallet, holdings: [] }, signal)).toEqual({
      ...{ positions: expectedOf(paused), warnings: [] },
    });
  });
}

type Fork = { readonly protocol: string; readonly pool: CompoundV2Pool; readonly oracle: Hex };

function listPositions(moment: Moment, { protocol, pool, oracle }: Fork): readonly ProtocolPosition[] {
  const listed = [...openRecordedMoment(moment).chain.tokens.values()];
  return moment.views.markets.flatMap((views, index): readonly ProtocolPosition[] => {
    const token = listed[index];
    if (token === undefined) throw new Error(`${views.token} was not recorded`);
    const usd = { units: BigInt(views.price), scale: PRICE_DECIMALS - token.decimals };
    const marketPrice = { ...quotePrice(usd, { contract: oracle }), source: protocol };
    return (["supplied", "borrowed"] as const).flatMap((kind) => {
      const rawBalance = BigInt(views[kind]);
      if (rawBalance === 0n) return [];
      const market = views.market as Hex;
      return [
        {
          ...{ protocol, kind, name: `${pool.name}: ${token.symbol}`, contract: market },
          ...{ market: pool.comptroller, receiptTokens: kind === "supplied" ? [market] : [] },
          assets: [{ ...token, rawBalance, marketPrice }],
        },
      ];
    });
  });
}
