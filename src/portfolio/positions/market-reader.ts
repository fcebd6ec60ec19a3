// A position reader of a protocol with known markets: it reads nothing on a chain without one.
import type { Delegation, PositionQuery, PositionReader } from "../types.ts";

export type ReadMarkets<Market> = (
  query: PositionQuery,
  markets: readonly Market[],
  signal: AbortSignal,
) => ReturnType<PositionReader["read"]>;

/** Set for a protocol that lends: its markets may know debts of the wallet. */
export function createLendingReader<Market>(
  ...args: Parameters<typeof createMarketReader<Market>>
): PositionReader {
  return { ...createMarketReader(...args), readsDebt: true };
}

export function createMarketReader<Market>(
  protocol: string,
  marketsByChain: ReadonlyMap<number, readonly Market[]>,
  read: ReadMarkets<Market>,
  delegationsOf: (market: Market) => readonly Delegation[] = () => [],
): PositionReader {
  return {
    protocol,
    delegations: (chainId) => (marketsByChain.get(chainId) ?? []).flatMap(delegationsOf),
    async read(query, signal) {
      const markets = marketsByChain.get(query.at.chain.chainId) ?? [];
      return markets.length === 0 ? { positions: [], warnings: [] } : read(query, markets, signal);
    },
  };
}
