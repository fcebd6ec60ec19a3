// `sextant preflight`: what the policies of an account say about a transaction before it is sent.
import type { Preflight } from "@sextant/client/sextant";
import { findOperation, readArguments } from "../api-operations.ts";
import { runRead } from "../api-reads.ts";
import type { RunClientCommand } from "../command.ts";
import { hangText, toPlainJson, toPlainText } from "../display/plain-text.ts";
import { formatRecord } from "../display/record.ts";
import { fetchOverHttp } from "../http-fetch.ts";
import { openReader } from "../open-reader.ts";

export const preflightCommand: RunClientCommand = async (context) => {
  const { environment, options, filters, display, print, stop } = context;
  const operation = findOperation("preflight");
  const parameters = readArguments(operation, filters);
  const sextant = openReader(environment, { fetch: fetchOverHttp });
  const done = display.progress("Checking");
  const call = { operation, parameters };
  const result = (await runRead(sextant, call, { filters, signal: stop }).finally(done)) as Preflight;
  const { allowed, action, ...details } = result;
  const verdict = allowed ? display.style("green", "Allowed") : display.style("red", "Not allowed");
  await print(
    options.json === true
      ? `${toPlainJson(result)}\n`
      : `${[...hangText(`${verdict}: ${toPlainText(action)}`, display.columns), ...formatRecord(details, display)].join("\n")}\n`,
  );
  return allowed === true ? 0 : 1;
};
