// `sextant list intents --status open`: shows a list of the indexing API, page by page as it is read.
import type { Sextant } from "@sextant/client/sextant";
import { matchPath, type OperationCall, readArguments, widenList } from "../api-operations.ts";
import { openList, runRead } from "../api-reads.ts";
import { type ClientContext, type RunClientCommand, readIntegerOption } from "../command.ts";
import { TokenAmounts } from "../display/amounts.ts";
import { toPlainJson } from "../display/plain-text.ts";
import { RecordTable } from "../display/record-table.ts";
import { formatEvent } from "../display/sentence.ts";
import { ReadBlock } from "../read-block.ts";
import { withReader } from "../with-reader.ts";

type ListedRecord = Readonly<Record<string, unknown>>;

const LIMIT = 20;
const PAGE_MAX = 100;

export const listCommand: RunClientCommand = async (context) => {
  const { operands, options, filters } = context;
  const found = widenList(matchPath("list", operands), filters);
  const max =
    options.all === true ? Number.POSITIVE_INFINITY : (readIntegerOption(options, "limit", 1) ?? LIMIT);
  const parameters: OperationCall["parameters"] = {
    ...found.parameters,
    ...readArguments(found.operation, filters),
    limit: String(Math.min(max, PAGE_MAX)),
  };
  const call = { ...found, parameters };
  const block = new ReadBlock(context);
  return withReader(context, block, (sextant) =>
    found.operation.id === "readEvents"
      ? listEvents(context, sextant, call, max)
      : listRecords(context, sextant, { call, max, block }),
  );
};

type Listing = { readonly call: OperationCall; readonly max: number; readonly block: ReadBlock };

async function listRecords(
  context: ClientContext,
  sextant: Sextant,
  { call: found, max, block }: Listing,
): Promise<number> {
  const { operands, options, filters, display, print, stop } = context;
  const { parameters } = found;
  const path = operands.join("/");
  const list = openList(sextant, found, { filters, signal: stop });
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
    ...(hasMore && shown >= max ? [describeMore(shown)] : []),
    ...(table?.hidden ? [table.hidden] : []),
  ];
  for (const note of notes) display.note(display.style("dim", note));
  return 0;
}

type EventPage = Awaited<ReturnType<Sextant["readEvents"]>>;

/** The newest events first, each as a sentence. */
async function listEvents(
  { options, filters, display, print, stop }: ClientContext,
  sextant: Sextant,
  { operation, parameters }: OperationCall,
  max: number,
): Promise<number> {
  const isJson = options.json === true;
  const amounts = new TokenAmounts(sextant, stop);
  let asked: OperationCall["parameters"] = {
    order: "desc",
    ...parameters,
    ...(isJson ? {} : { include: "parts" }),
  };
  let shown = 0;
  let page: EventPage;
  do {
    const done = display.progress(`Reading events: ${shown} so far`);
    const call = { operation, parameters: asked };
    page = (await runRead(sextant, call, { filters, signal: stop }).finally(done)) as EventPage;
    for (const event of page.events) {
      await print(isJson ? `${toPlainJson(event)}\n` : await formatEvent(event, display, amounts));
    }
    shown += page.events.length;
    asked = { ...asked, from: page.progress.cursor, limit: String(Math.min(max - shown, PAGE_MAX)) };
  } while (page.has_more && shown < max && !stop.aborted);
  if (shown === 0) display.note(display.style("dim", "No event matches."));
  if (page.has_more) display.note(display.style("dim", describeMore(shown)));
  return 0;
}

const describeMore = (shown: number) => `${shown} shown, and there are more: --limit N or --all`;

function formatLines(records: readonly ListedRecord[]): string {
  return records.map((record) => `${toPlainJson(record)}\n`).join("");
}
