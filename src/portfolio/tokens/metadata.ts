// Reads decimals of held tokens from the contracts, with the token lists as fallback, and symbol and name the other way round.
import type { Hex } from "../../lib/hex.ts";
import { keepPresent } from "../../lib/lists.ts";
import { readEach } from "../contract-reads/read-groups.ts";
import { BUDGET_MS, runWithinBudget } from "../time-budgets.ts";
import type { Asset, ChainConfig, Holding, PinnedChain, TokenMetadata, TokensMetadata } from "../types.ts";
import { declareMetadata } from "./erc20.ts";

// More than a plain node finds; a vendor finds everything that others sent, and describes it.
const UNLISTED_MAX = 1_000;

type DescribedHoldings = {
  readonly holdings: readonly Holding[];
  readonly warnings: readonly string[];
};

/** Reads what the contracts say, and adds it to the holdings. */
export async function readTokenMetadata(
  at: PinnedChain,
  holdings: readonly Holding[],
  signal: AbortSignal,
  budgetMs: number = BUDGET_MS.metadata,
): Promise<DescribedHoldings> {
  const contracts = holdings.flatMap(({ contract }) => contract ?? []);
  return describeHoldings(at.chain, holdings, await readMetadata(at, contracts, signal, budgetMs));
}

/** Unlisted tokens are read by themselves, so that their contracts cannot make those of listed ones late. */
export async function readMetadata(
  at: PinnedChain,
  contracts: readonly Hex[],
  signal: AbortSignal,
  budgetMs: number = BUDGET_MS.metadata,
): Promise<TokensMetadata> {
  const { tokens } = at.chain;
  const distinct = [...new Set(contracts)];
  const read = (group: readonly Hex[]) => readGroup(at, group, signal, budgetMs);
  const [listed, unlisted] = await Promise.all([
    read(distinct.filter((contract) => tokens.has(contract))),
    read(distinct.filter((contract) => !tokens.has(contract)).slice(0, UNLISTED_MAX)),
  ]);
  return { listed, unlisted };
}

/** Keeps every holding, in order. Logos come from lists only: a contract must not be able to place a link. */
export function describeHoldings(
  { name, tokens }: ChainConfig,
  holdings: readonly Holding[],
  { listed, unlisted }: TokensMetadata,
): DescribedHoldings {
  const strange = new Set(
    holdings.flatMap(({ contract }) => (contract && !tokens.has(contract) ? contract : [])),
  );
  const metadataOf = new Map<Hex | null, TokenMetadata>([...(listed ?? []), ...(unlisted ?? [])]);
  return {
    holdings: holdings.map((holding) =>
      holding.contract === null ? holding : describe(holding, metadataOf.get(holding.contract), tokens),
    ),
    warnings: keepPresent(
      listed === null &&
        `${name}: names and decimals of tokens could not be read from the chain; those of the lists are shown.`,
      // Tokens may have been asked of which the wallet turned out to have none.
      unlisted === null &&
        strange.size > 0 &&
        `${name}: names and decimals of unlisted tokens could not be read.`,
      strange.size > UNLISTED_MAX &&
        `${name}: names and decimals of only ${UNLISTED_MAX} of ${strange.size} unlisted tokens were read from the chain.`,
    ),
  };
}

/** Null when they failed or were late. */
async function readGroup(
  at: PinnedChain,
  contracts: readonly Hex[],
  signal: AbortSignal,
  budgetMs: number,
): Promise<ReadonlyMap<Hex, TokenMetadata> | null> {
  const read = (stop: AbortSignal) => readEach(at, stop, contracts, declareMetadata);
  const outcome = await runWithinBudget(read, budgetMs, signal);
  return "value" in outcome ? new Map(outcome.value) : null;
}

function describe(
  holding: Holding,
  metadata: TokenMetadata | undefined,
  tokens: ReadonlyMap<Hex | null, Asset>,
): Holding {
  const known = tokens.get(holding.contract);
  const listed = known ?? holding;
  return {
    contract: holding.contract,
    rawBalance: holding.rawBalance,
    decimals: metadata?.decimals ?? listed.decimals,
    // A listed token is never spam, so that its owner must not be able to rename it.
    symbol: known?.symbol ?? metadata?.symbol ?? listed.symbol,
    name: known?.name ?? metadata?.name ?? listed.name,
    logo: listed.logo,
  };
}
