// `sextant list intents --status open`: shows a list of the indexing API, page by page as it is read.
import { matchPath, type OperationCall, readArguments } from "../api-operations.ts";
import { openList } from "../api-reads.ts";
import { type ClientContext, type RunClientCommand, readIntegerOption } from "../command.ts";
import { TokenAmounts } from "../display/amounts.ts";
import type { Display } from "../display/display.ts";
import { toPlainJson, wrapText } from "../display/plain-text.ts";
import { formatField } from "../display/record.ts";
import { formatHead, formatRow, layOutTable, listHidden, type TableLayout } from "../display/table.ts";
import { fetchOverHttp } from "../http-fetch.ts";
import { openReader } from "../open-reader.ts";

type ListedRecord = Readonly<Record<string, unknown>>;

const LIMIT = 20;
const PAGE_MAX = 100;
const NOTE_WIDTH = 80;

export const listCommand: RunClientCommand = async (context) => {
  const { environment, operands, options, filters, display, print, stop } = context;
  const found = matchPath("list", operands[0]);
  const max =
    options.all === true ? Number.POSITIVE_INFINITY : (readIntegerOption(options, "limit", 1) ?? LIMIT);
  const parameters: OperationCall["parameters"] = {
    ...found.parameters,
    ...readArguments(found.operation, filters),
    limit: String(Math.min(max, PAGE_MAX)),
  };
  const sextant = openReader(environment, { fetch: fetchOverHttp });
  const list = openList(sextant, { ...found, parameters }, { filters, signal: stop });
  const table = options.json === true ? null : new RecordTable(found, context);
  const amounts = new TokenAmounts(sextant, stop);
  const intent = (found.operation.id === "listBids" && found.parameters.id) || null;
  let shown = 0;
  let hasMore = false;
  let done = display.progress(`Reading ${operands[0]}`);
  try {
    for await (const { records, nextCursor } of list.pages()) {
      done();
      const taken = records.slice(0, max - shown);
      await print(table === null ? formatLines(taken) : table.format(await amounts.name(taken, intent)));
      shown += taken.length;
      hasMore = nextCursor !== null || taken.length < records.length;
      if (shown >= max || stop.aborted) break;
      done = display.progress(`Reading ${operands[0]}: ${shown} so far`);
    }
  } finally {
    done();
  }
  const notes = [
    ...(shown === 0 ? ["No record matches."] : []),
    ...(hasMore && shown >= max ? [`${shown} shown, and there are more: --limit N or --all`] : []),
    ...(table !== null && table.hidden.length > 0
      ? [`hidden: ${table.hidden.join(", ")}; see --wide or --json`]
      : []),
  ];
  for (const note of notes) {
    for (const line of wrapText(note, display.columns ?? NOTE_WIDTH))
      display.note(display.style("dim", line));
  }
  return 0;
};

function formatLines(records: readonly ListedRecord[]): string {
  return records.map((record) => `${toPlainJson(record)}\n`).join("");
}

/** The first page decides on the columns; the head is shown once. */
class RecordTable {
  readonly #names: readonly string[];
  readonly #display: Display;
  /** Null if nothing limits the width. */
  readonly #available: number | null;
  #layout: TableLayout | null = null;

  constructor({ operation }: OperationCall, { display, options }: ClientContext) {
    const [key, ...others] = operation.columns;
    // Identifying fields first, then states, then the rest: a narrow terminal leaves out what is at the end.
    this.#names = [
      ...(key === undefined ? [] : [key]),
      ...others.filter(({ isState }) => isState),
      ...others.filter(({ isState }) => !isState),
    ].map(({ name }) => name);
    this.#display = display;
    this.#available = options.wide === true ? null : display.columns;
  }

  /** The columns that did not fit. */
  get hidden(): readonly string[] {
    return this.#layout === null ? [] : listHidden(this.#columns, this.#layout);
  }

  get #columns() {
    return this.#names.map((name) => ({ title: name }));
  }

  format(records: readonly ListedRecord[]): string {
    if (records.length === 0) return "";
    const rows = records.map((record) => this.#names.map((name) => formatCell(record, name)));
    const layout = this.#layout ?? layOutTable(this.#columns, rows, this.#available);
    const head = this.#layout === null ? [formatHead(layout, this.#display)] : [];
    this.#layout = layout;
    return [...head, ...rows.map((row) => formatRow(layout, row)), ""].join("\n");
  }
}

/** Blank if this kind of record has no such field. */
function formatCell(record: ListedRecord, name: string): string {
  return Object.hasOwn(record, name) ? formatField(name, record[name]) : "";
}
