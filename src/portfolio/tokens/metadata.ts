// Decimals, symbol and name of held tokens: from the contracts, with the token lists as fallback.
import type { Hex } from "../../lib/hex.ts";
import type { CallResults } from "../multicall.ts";
import type { Asset, Holding, PinnedChain } from "../types.ts";
import { decodeMetadata, encodeMetadataCalls, METADATA_CALLS } from "./erc20.ts";

type DescribedHoldings = {
  readonly holdings: readonly Holding[];
  readonly warnings: readonly string[];
};

/** Keeps every holding, in order. Logos come from lists only: a contract must not be able to place a link. */
export async function readTokenMetadata(
  at: PinnedChain,
  holdings: readonly Holding[],
  signal: AbortSignal,
): Promise<DescribedHoldings> {
  const contracts = [...new Set(holdings.flatMap(({ contract }) => contract ?? []))];
  const warnings: string[] = [];
  let results: CallResults = [];
  try {
    results = await at.read(contracts.flatMap(encodeMetadataCalls), signal);
  } catch (error) {
    if (signal.aborted) throw error;
    warnings.push(
      `${at.chain.name}: names and decimals of tokens could not be read from the chain; those of the lists are shown.`,
    );
  }
  const resultsOf = new Map<Hex | null, CallResults>(
    contracts.map((contract, index) => [
      contract,
      results.slice(index * METADATA_CALLS, (index + 1) * METADATA_CALLS),
    ]),
  );
  const described = holdings.map((holding): Holding => {
    const own = resultsOf.get(holding.contract);
    return own === undefined ? holding : describe(holding, own, at.chain.tokens);
  });
  return { holdings: described, warnings };
}

function describe(holding: Holding, results: CallResults, tokens: ReadonlyMap<Hex | null, Asset>): Holding {
  const listed = tokens.get(holding.contract) ?? holding;
  const { decimals, symbol, name } = decodeMetadata(results);
  return {
    contract: holding.contract,
    rawBalance: holding.rawBalance,
    decimals: decimals ?? listed.decimals,
    symbol: symbol ?? listed.symbol,
    name: name ?? listed.name,
    logo: listed.logo,
  };
}
