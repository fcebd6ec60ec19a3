// Everything about a wallet on one chain at one block: balances, metadata, positions, prices, in this order.
import type { Hex } from "../lib/hex.ts";
import { gatherPositions } from "./positions/collect-positions.ts";
import { deliveredPrices, gatherPrices, type PriceSources } from "./prices/collect-prices.ts";
import type { ChainAt, ChainPort, Holding, HoldingsProvider, PositionReader } from "./types.ts";
import { receiptsInDoubt } from "./valuation/resolve-positions.ts";
import type { ChainParts } from "./valuation/snapshot-data.ts";

/** Holdings with what the contracts themselves say of them. */
type ReadMetadata = (
  at: ChainAt,
  holdings: readonly Holding[],
  signal: AbortSignal,
) => Promise<{ readonly holdings: readonly Holding[]; readonly warnings: readonly string[] }>;

export type ChainReading = {
  readonly provider: HoldingsProvider;
  readonly priceSources: PriceSources;
  readonly positionReaders: readonly PositionReader[];
  readonly readMetadata: ReadMetadata;
};

// A few tokens, and only for a better view of what is shown anyway: a source that hangs was waited for already.
const RECEIPT_PRICES_MS_MAX = 2_000;

export async function readChain(
  { provider, priceSources, positionReaders, readMetadata }: ChainReading,
  port: ChainPort,
  wallet: Hex,
  signal: AbortSignal,
): Promise<ChainParts> {
  const at = await port.pin(signal);
  const found = await provider.read({ at, wallet }, signal);
  const described = await readMetadata(at, found.holdings, signal);
  const { holdings } = described;
  const placed = await gatherPositions(positionReaders, { at, wallet, holdings }, signal);
  const replaced = new Set(placed.positions.flatMap(({ replaces }) => replaces));
  const assets = [
    ...holdings.filter(({ contract }) => contract === null || !replaced.has(contract)),
    ...placed.positions.flatMap((position) => position.assets),
  ];
  const delivered = found.prices ? [[deliveredPrices(provider.name, found.prices)]] : [];
  const sources = [...priceSources, ...delivered];
  const priced = await gatherPrices(sources, { at, assets }, signal);
  const parts = {
    chain: at.chain,
    block: at.block,
    holdings,
    positions: placed.positions,
    prices: priced.prices,
    pricesComplete: priced.pricesComplete,
    activity: found.activity,
    warnings: [found, described, placed, priced].flatMap(({ warnings }) => warnings),
  };
  // Asked for only now: nearly every position has a value of its own, and its receipt tokens need none.
  const receipts = receiptsInDoubt(parts);
  if (receipts.length === 0) return parts;
  const more = await gatherPrices(sources, { at, assets: receipts }, signal, RECEIPT_PRICES_MS_MAX);
  return {
    ...parts,
    prices: new Map([...parts.prices, ...more.prices]),
    pricesComplete: parts.pricesComplete && more.pricesComplete,
    warnings: [...parts.warnings, ...more.warnings],
  };
}
