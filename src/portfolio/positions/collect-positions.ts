// Runs all position readers concurrently; a failing one costs only its own positions, and no receipt token counts twice.
import type { Hex } from "../../lib/hex.ts";
import type { PositionQuery, PositionReader, PositionResult, ProtocolPosition } from "../types.ts";

// A reader that hangs counts as failed, in time to show its receipt tokens as tokens instead.
const TIME_MS_MAX = 6_000;

export async function collectPositions(
  readers: readonly PositionReader[],
  query: PositionQuery,
  signal: AbortSignal,
  timeMsMax: number = TIME_MS_MAX,
): Promise<Required<PositionResult>> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeMsMax)]);
  const { chain } = query.at;
  const outcomes = await Promise.allSettled(readers.map(async (reader) => reader.read(query, deadline)));
  signal.throwIfAborted();
  const positions: ProtocolPosition[] = [];
  const provenTokens = new Set<Hex>();
  const warnings: string[] = [];
  const readerOf = new Map<Hex, PositionReader>();
  readers.forEach((reader, index) => {
    const outcome = outcomes[index];
    if (outcome?.status !== "fulfilled") {
      warnings.push(`Positions in ${reader.protocol} are missing on ${chain.name}: they could not be read.`);
      return;
    }
    warnings.push(...outcome.value.warnings);
    for (const token of outcome.value.provenTokens ?? []) provenTokens.add(token);
    for (const position of outcome.value.positions) {
      const earlier = position.receiptTokens
        .map((token) => readerOf.get(token))
        .find((other) => other && other !== reader);
      if (earlier) {
        warnings.push(
          `A token on ${chain.name} represents positions in both ${earlier.protocol} and ${reader.protocol}: only the former is shown.`,
        );
        continue;
      }
      for (const token of position.receiptTokens) readerOf.set(token, reader);
      positions.push(position);
    }
  });
  return { positions, provenTokens, warnings };
}
