// Runs all position readers concurrently: a failing or late one loses only its own, and no receipt token counts twice.
import type { Hex } from "../../lib/hex.ts";
import type { PositionQuery, PositionReader, PositionResult, ProtocolPosition } from "../types.ts";

/** Of each reader: one that hangs has failed, in time to show its receipt tokens as tokens instead. */
const READER_TIME_MS_MAX = 6_000;

export async function collectPositions(
  readers: readonly PositionReader[],
  query: PositionQuery,
  signal: AbortSignal,
  timeMsMax: number = READER_TIME_MS_MAX,
): Promise<Required<PositionResult>> {
  const { chain } = query.at;
  const outcomes = await Promise.all(
    readers.map((reader) => readWithinBudget(reader, query, signal, timeMsMax)),
  );
  signal.throwIfAborted();
  const positions: ProtocolPosition[] = [];
  const provenTokens = new Set<Hex>();
  const unmarketedTokens = new Set<Hex>();
  const warnings: string[] = [];
  const readerOf = new Map<Hex, PositionReader>();
  readers.forEach((reader, index) => {
    const outcome = outcomes[index] ?? "failed";
    if (outcome === "failed" || outcome === "late") {
      const why = outcome === "late" ? `took more than ${timeMsMax / 1_000} seconds` : "could not be read";
      warnings.push(`Positions in ${reader.protocol} are missing on ${chain.name}: they ${why}.`);
      return;
    }
    warnings.push(...outcome.warnings);
    for (const token of outcome.provenTokens ?? []) provenTokens.add(token);
    for (const token of outcome.unmarketedTokens ?? []) unmarketedTokens.add(token);
    for (const position of outcome.positions) {
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
  return { positions, provenTokens, unmarketedTokens, warnings };
}

type Outcome = PositionResult | "failed" | "late";

/** Gives up at the end of the budget even when the reader does not heed its signal. */
async function readWithinBudget(
  reader: PositionReader,
  query: PositionQuery,
  signal: AbortSignal,
  timeMsMax: number,
): Promise<Outcome> {
  const deadline = AbortSignal.timeout(timeMsMax);
  const stop = AbortSignal.any([signal, deadline]);
  return new Promise((resolve) => {
    const giveUp = () => resolve(deadline.aborted && !signal.aborted ? "late" : "failed");
    stop.addEventListener("abort", giveUp, { once: true });
    // Async, so that a reader that throws at once rejects as well.
    const reading = (async () => reader.read(query, stop))();
    reading.then(resolve, giveUp).finally(() => stop.removeEventListener("abort", giveUp));
  });
}
