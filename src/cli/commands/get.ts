// `sextant get agents/1`: shows one record or document of the indexing API.
import type { PublishedDocument, Sextant } from "@sextant/client/sextant";
import { matchPath, type OperationCall, readArguments } from "../api-operations.ts";
import { runRead } from "../api-reads.ts";
import { type ClientContext, type RunClientCommand, readStringOption } from "../command.ts";
import { TokenAmounts } from "../display/amounts.ts";
import { toPlainJson } from "../display/plain-text.ts";
import { formatRecord } from "../display/record.ts";
import { formatTotals } from "../display/totals.ts";
import { ReadBlock } from "../read-block.ts";
import { assertWritable, saveExchange } from "../save-exchange.ts";
import { SavedRead } from "../saved-read.ts";
import { withReader } from "../with-reader.ts";

export const getCommand: RunClientCommand = async (context) => {
  const found = matchPath("get", context.operands);
  const { operation } = found;
  const parameters = { ...found.parameters, ...readArguments(operation, context.filters) };
  const block = new ReadBlock(context);
  const call = { operation, parameters };
  const file = readStringOption(context.options, "save");
  if (file === undefined)
    return withReader(context, block, (sextant) => show(context, sextant, call, { block }));
  await assertWritable(file);
  const saved = new SavedRead(block.fetch);
  const save = () => saveExchange(file, saved.exchange);
  return withReader(context, saved, (sextant) => show(context, sextant, call, { block, save }));
};

async function show(
  { operands, options, filters, display, print, stop }: ClientContext,
  sextant: Sextant,
  call: OperationCall,
  { block, save }: { readonly block: ReadBlock; readonly save?: () => Promise<void> },
): Promise<number> {
  const { operation } = call;
  const isTerminal = display.columns !== null;
  const done = display.progress(`Reading ${operands.join("/")}`);
  const result = await runRead(sextant, call, { filters, signal: stop }).finally(done);
  await save?.();
  if (operation.kind === "document") {
    const { text, json } = result as PublishedDocument;
    // A document is its bytes. A terminal gets what means the same and cannot steer it.
    await print(!isTerminal ? text : `${toPlainJson(json, 2)}\n`);
    return 0;
  }
  const record = result as Readonly<Record<string, unknown>>;
  if (options.json === true) {
    await print(`${toPlainJson(record)}\n`);
    return 0;
  }
  await block.show(sextant);
  const totals = operation.id === "getTotals" && isTerminal ? formatTotals(record, display) : null;
  if (totals !== null) {
    await print(`${totals.join("\n")}\n`);
    return 0;
  }
  const amounts = new TokenAmounts(sextant, stop, isTerminal ? "symbol and address" : null);
  const [named = record] = await amounts.name([record]);
  await print(`${formatRecord(named, display).join("\n")}\n`);
  return 0;
}
