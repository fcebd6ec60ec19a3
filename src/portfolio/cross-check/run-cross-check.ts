// Reads the second source alongside the snapshot, within a budget: it can add a report, never delay or change a balance.
import type { ChainCrossCheck } from "../../schema/portfolio/snapshot.ts";
import { runWithinBudget } from "../time-budgets.ts";
import type { WalletQuery } from "../types.ts";
import { compareHoldings, type OwnReading, reportUnavailable } from "./compare.ts";
import type { CrossCheckSource } from "./types.ts";

// Runs alongside the parts of a chain, which together take longer than this when they are slow.
const CROSS_CHECK_MS = 8_000;

/** Compares the second source's reading, which has run since the start, with ours. */
type RunningCrossCheck = (own: OwnReading) => Promise<ChainCrossCheck>;

export function startCrossCheck(
  source: CrossCheckSource,
  query: WalletQuery,
  signal: AbortSignal,
): RunningCrossCheck {
  const reading = runWithinBudget((stop) => source.read(query, stop), CROSS_CHECK_MS, signal);
  // The snapshot may fail before it is compared: that is then the error to report.
  reading.catch(() => undefined);
  return async (own) => {
    const outcome = await reading;
    return "value" in outcome
      ? compareHoldings(source.name, own, outcome.value)
      : reportUnavailable(source.name, own.chain);
  };
}

/** For the warnings of the snapshot. */
export function describeCrossCheck(name: string, check: ChainCrossCheck): readonly string[] {
  if (check.status === "unavailable") return [`${name}: ${check.source} could not be read to compare.`];
  if (check.differenceCount === 0) return [];
  const count = check.differenceCount === 1 ? "1 difference" : `${check.differenceCount} differences`;
  return [`${name}: ${check.source} reports ${count} from what was read here; see crossCheck.`];
}
