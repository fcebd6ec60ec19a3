// Everything about a wallet on one chain at one block: balances, metadata, positions, prices, in this order.
import type { Hex } from "../lib/hex.ts";
import { collectPositions } from "./positions/collect-positions.ts";
import { collectPrices, createProviderPriceSource, type PriceSourceGroups } from "./prices/collect-prices.ts";
import type { Holding, HoldingsProvider, PinnedChain, PortfolioChain, PositionReader } from "./types.ts";
import { findUnpricedReceiptTokens } from "./valuation/resolve-positions.ts";
import type { ChainData } from "./valuation/snapshot-data.ts";

/** Holdings with what the contracts themselves say of them. */
type ReadMetadata = (
  at: PinnedChain,
  holdings: readonly Holding[],
  signal: AbortSignal,
) => Promise<{ readonly holdings: readonly Holding[]; readonly warnings: readonly string[] }>;

export type ChainReaderOptions = {
  readonly provider: HoldingsProvider;
  readonly priceSources: PriceSourceGroups;
  readonly positionReaders: readonly PositionReader[];
  readonly readMetadata: ReadMetadata;
};

// A few tokens, and only for a better view of what is shown anyway: a source that hangs was waited for already.
const RECEIPT_PRICES_MS_MAX = 2_000;

export async function readChainData(
  { provider, priceSources, positionReaders, readMetadata }: ChainReaderOptions,
  port: PortfolioChain,
  wallet: Hex,
  signal: AbortSignal,
): Promise<ChainData> {
  const at = await port.pin(signal);
  const found = await provider.read({ at, wallet }, signal);
  const described = await readMetadata(at, found.holdings, signal);
  const { holdings } = described;
  const placed = await collectPositions(positionReaders, { at, wallet, holdings }, signal);
  const replaced = new Set(placed.positions.flatMap(({ receiptTokens: replaces }) => replaces));
  const assets = [
    ...holdings.filter(({ contract }) => contract === null || !replaced.has(contract)),
    ...placed.positions.flatMap((position) => position.assets),
  ];
  const delivered = found.prices ? [[createProviderPriceSource(provider.name, found.prices)]] : [];
  const sources = [...priceSources, ...delivered];
  const priced = await collectPrices(sources, { at, assets }, signal);
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
  const receipts = findUnpricedReceiptTokens(parts);
  if (receipts.length === 0) return parts;
  const more = await collectPrices(sources, { at, assets: receipts }, signal, RECEIPT_PRICES_MS_MAX);
  return {
    ...parts,
    prices: new Map([...parts.prices, ...more.prices]),
    pricesComplete: parts.pricesComplete && more.pricesComplete,
    warnings: [...parts.warnings, ...more.warnings],
  };
}
