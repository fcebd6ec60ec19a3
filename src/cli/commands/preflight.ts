// `sextant preflight`: what the policies of an account say about a transaction before it is sent.
import type { Preflight } from "@sextant/client/sextant";
import { findOperation, readArguments } from "../api-operations.ts";
import { runRead } from "../api-reads.ts";
import type { RunClientCommand } from "../command.ts";
import { TokenAmounts } from "../display/amounts.ts";
import { hangText, toPlainJson, toPlainText } from "../display/plain-text.ts";
import { formatRecord } from "../display/record.ts";
import { formatSentence } from "../display/sentence.ts";
import { fetchOverHttp } from "../http-fetch.ts";
import { openReader } from "../open-reader.ts";

export const preflightCommand: RunClientCommand = async (context) => {
  const { environment, options, filters, display, print, stop } = context;
  const operation = findOperation("preflight");
  const isForPeople = options.json !== true && display.columns !== null;
  // People read amounts with the token that the parts name; programs get what they ask for.
  const parts = isForPeople ? { include: "parts" } : {};
  const parameters = { ...readArguments(operation, filters), ...parts };
  const sextant = openReader(environment, { fetch: fetchOverHttp });
  const done = display.progress("Checking");
  const call = { operation, parameters };
  const result = (await runRead(sextant, call, { filters, signal: stop }).finally(done)) as Preflight;
  const { allowed, action, ...details } = isForPeople
    ? await nameTokens(result, new TokenAmounts(sextant, stop, "symbol and address"))
    : result;
  const verdict = allowed ? display.style("green", "Allowed") : display.style("red", "Not allowed");
  await print(
    options.json === true
      ? `${toPlainJson(result)}\n`
      : `${[...hangText(`${verdict}: ${toPlainText(action)}`, display.columns), ...formatRecord(details, display)].join("\n")}\n`,
  );
  return allowed === true ? 0 : 1;
};

// Addresses stay whole: what is about to be signed must be compared to the last digit.
const WHOLE = { columns: null, style: (_: string, text: string) => text };

async function nameTokens(result: Preflight, amounts: TokenAmounts): Promise<Preflight> {
  const { action_parts, reason_parts, ...shown } = result;
  const [named = shown] = await amounts.name([shown]);
  const say = (parts: NonNullable<typeof action_parts>) => formatSentence(parts, WHOLE, amounts);
  return {
    ...named,
    ...(action_parts && { action: await say(action_parts) }),
    ...(reason_parts && { reasons: await Promise.all(reason_parts.map(say)) }),
  };
}
