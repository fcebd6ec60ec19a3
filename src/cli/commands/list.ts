// `sextant list intents --status open`: shows a list of the indexing API, page by page as it is read.
import { matchPath, type OperationCall, readArguments, widenList } from "../api-operations.ts";
import { openList } from "../api-reads.ts";
import { type RunClientCommand, readIntegerOption } from "../command.ts";
import { TokenAmounts } from "../display/amounts.ts";
import { toPlainJson } from "../display/plain-text.ts";
import { RecordTable } from "../display/record-table.ts";
import { openReader } from "../open-reader.ts";
import { ReadBlock } from "../read-block.ts";

type ListedRecord = Readonly<Record<string, unknown>>;

const LIMIT = 20;
const PAGE_MAX = 100;

export const listCommand: RunClientCommand = async (context) => {
  const { environment, operands, options, filters, display, print, stop } = context;
  const found = widenList(matchPath("list", operands), filters);
  const path = operands.join("/");
  const max =
    options.all === true ? Number.POSITIVE_INFINITY : (readIntegerOption(options, "limit", 1) ?? LIMIT);
  const parameters: OperationCall["parameters"] = {
    ...found.parameters,
    ...readArguments(found.operation, filters),
    limit: String(Math.min(max, PAGE_MAX)),
  };
  const block = new ReadBlock(context);
  const sextant = openReader(environment, block);
  const list = openList(sextant, { ...found, parameters }, { filters, signal: stop });
  const isWide = options.wide === true;
  const table =
    options.json === true ? null : new RecordTable(found.operation, { display, isWide, asked: parameters });
  const amounts = new TokenAmounts(sextant, stop, isWide || display.columns === null ? null : "symbol");
  const intent = (found.operation.id === "listBids" && found.parameters.id) || null;
  let shown = 0;
  let hasMore = false;
  let done = display.progress(`Reading ${path}`);
  try {
    for await (const { records, nextCursor } of list.pages()) {
      done();
      if (shown === 0) await block.show(sextant);
      const taken = records.slice(0, max - shown);
      await print(table === null ? formatLines(taken) : table.format(await amounts.name(taken, intent)));
      shown += taken.length;
      hasMore = nextCursor !== null || taken.length < records.length;
      if (shown >= max || stop.aborted) break;
      done = display.progress(`Reading ${path}: ${shown} so far`);
    }
  } finally {
    done();
  }
  const notes = [
    ...(shown === 0 ? ["No record matches."] : []),
    ...(hasMore && shown >= max ? [`${shown} shown, and there are more: --limit N or --all`] : []),
    ...(table?.hidden ? [table.hidden] : []),
  ];
  for (const note of notes) display.note(display.style("dim", note));
  return 0;
};

function formatLines(records: readonly ListedRecord[]): string {
  return records.map((record) => `${toPlainJson(record)}\n`).join("");
}
