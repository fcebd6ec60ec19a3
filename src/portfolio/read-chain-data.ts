// Reads a wallet on one chain at one block: balances, then metadata, positions and prices.
import type { Hex } from "../lib/hex.ts";
import { collectPositions } from "./positions/collect-positions.ts";
import { collectPrices, createProviderPriceSource, type PriceSourceGroups } from "./prices/collect-prices.ts";
import { readTokenMetadata } from "./tokens/metadata.ts";
import type { HoldingsProvider, PortfolioChain, PositionReader } from "./types.ts";
import { findUnpricedReceiptTokens } from "./valuation/resolve-positions.ts";
import type { ChainData } from "./valuation/snapshot-data.ts";

export type ChainReaderOptions = {
  readonly provider: HoldingsProvider;
  readonly priceSources: PriceSourceGroups;
  readonly positionReaders: readonly PositionReader[];
};

// Few tokens, and optional: a source that hangs has already used up its time in the first round.
const RECEIPT_PRICES_MS_MAX = 2_000;

export async function readChainData(
  { provider, priceSources, positionReaders }: ChainReaderOptions,
  chain: PortfolioChain,
  wallet: Hex,
  signal: AbortSignal,
): Promise<ChainData> {
  const at = await chain.pin(signal);
  const balances = await provider.read({ at, wallet }, signal);
  const metadata = await readTokenMetadata(at, balances.holdings, signal);
  const { holdings } = metadata;
  const positions = await collectPositions(positionReaders, { at, wallet, holdings }, signal);
  const receiptTokens = new Set(positions.positions.flatMap((position) => position.receiptTokens));
  const assets = [
    ...holdings.filter(({ contract }) => contract === null || !receiptTokens.has(contract)),
    ...positions.positions.flatMap((position) => position.assets),
  ];
  const sources = balances.prices
    ? [...priceSources, [createProviderPriceSource(provider.name, balances.prices)]]
    : priceSources;
  const prices = await collectPrices(sources, { at, assets }, signal);
  const data: ChainData = {
    chain: at.chain,
    block: at.block,
    holdings,
    positions: positions.positions,
    prices: prices.prices,
    pricesComplete: prices.pricesComplete,
    activity: balances.activity,
    warnings: [balances, metadata, positions, prices].flatMap(({ warnings }) => warnings),
  };
  // Only now: nearly every position has a value of its own, and its receipt tokens then need no price.
  const receipts = findUnpricedReceiptTokens(data);
  if (receipts.length === 0) return data;
  const receiptPrices = await collectPrices(sources, { at, assets: receipts }, signal, RECEIPT_PRICES_MS_MAX);
  return {
    ...data,
    prices: new Map([...data.prices, ...receiptPrices.prices]),
    pricesComplete: data.pricesComplete && receiptPrices.pricesComplete,
    warnings: [...data.warnings, ...receiptPrices.warnings],
  };
}
