// A view of a snapshot for those who do not want to see spam; it never was in the totals.
import type { PortfolioSnapshot } from "../snapshot-types.ts";

export function excludeSpam(snapshot: PortfolioSnapshot): PortfolioSnapshot {
  return { ...snapshot, tokens: snapshot.tokens.filter(({ spam }) => !spam) };
}
