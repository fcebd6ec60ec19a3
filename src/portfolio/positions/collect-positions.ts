// Positions from all readers at once; one that fails costs its own positions, and no receipt token counts for two.
import type { Hex } from "../../lib/hex.ts";
import type { PositionQuery, PositionReader, PositionResult, ProtocolPosition } from "../types.ts";

// A reader that hangs is one that failed: its receipt tokens can still be shown while whoever asked is waiting.
const TIME_MS_MAX = 6_000;

export async function collectPositions(
  readers: readonly PositionReader[],
  question: PositionQuery,
  signal: AbortSignal,
  timeMsMax: number = TIME_MS_MAX,
): Promise<PositionResult> {
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeMsMax)]);
  const { chain } = question.at;
  const answers = await Promise.allSettled(readers.map(async (reader) => reader.read(question, inTime)));
  signal.throwIfAborted();
  const positions: ProtocolPosition[] = [];
  const warnings: string[] = [];
  const claims = new Map<Hex, PositionReader>();
  readers.forEach((reader, index) => {
    const answer = answers[index];
    if (answer?.status !== "fulfilled") {
      warnings.push(`Positions in ${reader.protocol} are missing on ${chain.name}: they could not be read.`);
      return;
    }
    warnings.push(...answer.value.warnings);
    for (const position of answer.value.positions) {
      const rival = position.receiptTokens
        .map((token) => claims.get(token))
        .find((other) => other && other !== reader);
      if (rival) {
        warnings.push(
          `A token on ${chain.name} stands for positions in both ${rival.protocol} and ${reader.protocol}: only the former is shown.`,
        );
        continue;
      }
      for (const token of position.receiptTokens) claims.set(token, reader);
      positions.push(position);
    }
  });
  return { positions, warnings };
}
