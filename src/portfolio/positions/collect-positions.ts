// Runs all position readers concurrently: a failing or late one loses only its own, and no receipt token counts twice.
import type { Hex } from "../../lib/hex.ts";
import { BUDGET_MS, runAllWithinBudget } from "../time-budgets.ts";
import type {
  EarlyPositionQuery,
  HeldContracts,
  PositionQuery,
  PositionReader,
  PositionResult,
  ProtocolPosition,
} from "../types.ts";

type CollectedPositions = Required<Omit<PositionResult, "hasUnreadDebt">> & {
  /** Lending protocols in which a debt of the wallet may be missing. */
  readonly unreadDebts: ReadonlySet<string>;
  /** Protocols whose reader failed: nothing of them is among the positions. */
  readonly unreadProtocols: ReadonlySet<string>;
};

// Less than a snapshot takes: it only spares a round trip.
const PREFETCH_MS_MAX = 1_000;

/** A reader that gets nothing early asks again. */
export async function prefetchPositions(
  readers: readonly PositionReader[],
  query: HeldContracts,
  signal: AbortSignal,
): Promise<void> {
  if (query.at.results === undefined || query.contracts.length === 0) return;
  const early = readers.flatMap((reader) => reader.prefetch?.bind(reader) ?? []);
  await runAllWithinBudget(
    early.map((prefetch) => (stop) => prefetch(query, stop)),
    PREFETCH_MS_MAX,
    signal,
  );
}

/**
 * Readers begin while the wallet's tokens are read, if the query is made that early. Warnings about whole protocols come
 * first: details of single vaults, which anyone can send, must not push them out.
 */
export async function collectPositions(
  all: readonly PositionReader[],
  query: PositionQuery | EarlyPositionQuery,
  signal: AbortSignal,
  budgetMs: number = BUDGET_MS.positions,
): Promise<CollectedPositions> {
  const { chain } = query.at;
  const turn = "tokens" in query ? query.tokens : undefined;
  const readers = all.filter(({ isOn }) => isOn?.(chain.chainId) ?? true);
  const works = readers.map((reader) => (stop: AbortSignal) => reader.read(query, stop));
  const outcomes = await runAllWithinBudget(works, budgetMs, signal, turn);
  const positions: ProtocolPosition[] = [];
  const provenTokens = new Set<Hex>();
  const unmarketedTokens = new Set<Hex>();
  const incompleteContracts = new Set<Hex>();
  const unreadDebts = new Set<string>();
  const unreadProtocols = new Set<string>();
  const missing: string[] = [];
  const warnings: string[] = [];
  const readerOf = new Map<Hex, PositionReader>();
  readers.forEach((reader, index) => {
    const outcome = outcomes[index] ?? { failure: "failed" };
    if ("failure" in outcome) {
      const isLate = outcome.failure === "late";
      const why = isLate ? `took more than ${budgetMs / 1_000} seconds` : "could not be read";
      missing.push(`Positions in ${reader.protocol} are missing on ${chain.name}: they ${why}.`);
      unreadProtocols.add(reader.protocol);
      if (reader.readsDebt) unreadDebts.add(reader.protocol);
      return;
    }
    const { value: result } = outcome;
    warnings.push(...result.warnings);
    if (result.hasUnreadDebt) unreadDebts.add(reader.protocol);
    for (const token of result.provenTokens ?? []) provenTokens.add(token);
    for (const token of result.unmarketedTokens ?? []) unmarketedTokens.add(token);
    for (const contract of result.incompleteContracts ?? []) incompleteContracts.add(contract);
    for (const position of result.positions) {
      const earlier = position.receiptTokens
        .map((token) => readerOf.get(token))
        .find((other) => other && other !== reader);
      if (earlier) {
        warnings.push(
          `A token on ${chain.name} represents positions in both ${earlier.protocol} and ${reader.protocol}: only the former is shown.`,
        );
        if (reader.readsDebt) unreadDebts.add(reader.protocol);
        continue;
      }
      for (const token of position.receiptTokens) readerOf.set(token, reader);
      positions.push(position);
    }
  });
  return {
    positions,
    provenTokens,
    unmarketedTokens,
    incompleteContracts,
    unreadDebts,
    unreadProtocols,
    warnings: [...missing, ...warnings],
  };
}
