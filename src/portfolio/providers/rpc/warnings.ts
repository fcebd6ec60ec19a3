// The warnings of the rpc provider about what it could not read.
import type { Hex } from "../../../lib/hex.ts";
import type { ChainConfig } from "../../types.ts";
import type { TransferHistory } from "./recent-transfers.ts";

// Enough to investigate; a hundred names would bury every other warning.
const NAMED_MAX = 3;

export function describeFailedTokens(chain: ChainConfig, failed: readonly Hex[]): readonly string[] {
  if (failed.length === 0) return [];
  const names = failed.slice(0, NAMED_MAX).map((contract) => {
    const symbol = chain.tokens.get(contract)?.symbol;
    return symbol ? `${symbol} (${contract})` : contract;
  });
  const remaining = failed.length - names.length;
  const list = remaining > 0 ? `${names.join(", ")} and ${remaining} more` : names.join(", ");
  const [first] = failed;
  const kind = first !== undefined && chain.tokens.has(first) ? "listed" : "unlisted";
  const count = failed.length === 1 ? `1 ${kind} token` : `${failed.length} ${kind} tokens`;
  return [
    `${chain.name}: ${count} returned no balance and ${failed.length === 1 ? "is" : "are"} left out: ${list}.`,
  ];
}

export function describeSkippedTokens(chain: ChainConfig, found: number, read: number): readonly string[] {
  if (found <= read) return [];
  return [`${chain.name}: ${found} unlisted tokens arrived recently; only the newest ${read} were read.`];
}

/** How far back the transfers go, and what they cannot show. */
export function describeHistoryGaps(
  chain: ChainConfig,
  sent: TransferHistory | null,
  received: TransferHistory | null,
): readonly string[] {
  const warnings: string[] = [];
  if (sent === null) {
    warnings.push(`${chain.name}: outgoing token transfers could not be read; recent activity lacks them.`);
  }
  if (received === null) {
    warnings.push(
      `${chain.name}: incoming token transfers could not be read; recent activity lacks them, and unlisted tokens may be missing.`,
    );
  }
  const fromBlocks = [sent, received].flatMap((history) => (history ? [history.fromBlock] : []));
  if (fromBlocks.length > 0) {
    warnings.push(
      `${chain.name}: recent activity and unlisted tokens are found by token transfers since block ${Math.max(...fromBlocks)}; transfers of ${chain.native.symbol} itself leave no log and are not shown.`,
    );
  }
  return warnings;
}
