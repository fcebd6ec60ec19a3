// A list of records for people: the columns that say most first, short addresses, and what a terminal leaves out.
import { readMetadataName } from "../../explorer/fields.ts";
import { AMOUNT_TOKENS } from "../../schema/amount-tokens.ts";
import { ZERO_ADDRESS } from "../../schema/table.ts";
import type { ApiOperation } from "../api-operation.ts";
import { isMixed } from "./amounts.ts";
import type { Display } from "./display.ts";
import { SHORT_HEX, shortenText } from "./plain-text.ts";
import { formatField, formatValue, TIME_NAME } from "./record.ts";
import {
  formatHead,
  formatRow,
  layOutTable,
  listHidden,
  type TableColumn,
  type TableLayout,
} from "./table.ts";

type ListedRecord = Readonly<Record<string, unknown>>;
type ListColumn = ApiOperation["columns"][number];

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const LONG_HEX = /^0x[0-9a-fA-F]{16,}$/;
/** Nothing that a person could read: no such field, unknown, an empty list, or no bytes. */
const BLANK = new Set(["", "–", "none", "0x"]);
// Amounts have their symbol, and the rest says more about how a record came to be than about what it is.
const BACKGROUND =
  /^(?:fee|nonce|intent_type|chain_bid_id|protocol_fee_\w+|slippage_bps|avg_\w+|\w+_fills|size_bytes)$/;
const ABOUT = /^(?:subject|schema_hash)$/;
const WRITTEN = /^(?:block_number|created_at|updated_at)$/;

const METADATA = "metadata_uri";
// Hashes at the end of a row say less than the rest of a name.
const NAME_WIDTH_MAX = 24;
const URI = /^[a-z][a-z0-9+.-]*:/i;

type Shown = {
  readonly names: readonly string[];
  readonly columns: readonly TableColumn[];
  readonly layout: TableLayout;
  /** Columns without any value, and those whose values a terminal does not show. */
  readonly blank: readonly string[];
  readonly mixed: readonly string[];
  readonly isShort: boolean;
};

/** The first page decides on the columns; the head is shown once. */
export class RecordTable {
  readonly #columns: readonly ListColumn[];
  readonly #display: Display;
  /** Null if nothing limits the width. */
  readonly #available: number | null;
  /** Parameters of the call, which every row would repeat. */
  readonly #asked: Readonly<Record<string, string>>;
  #shown: Shown | null = null;

  constructor(
    { columns }: ApiOperation,
    options: {
      readonly display: Display;
      readonly isWide: boolean;
      readonly asked: Readonly<Record<string, string>>;
    },
  ) {
    this.#columns = columns;
    this.#display = options.display;
    this.#available = options.isWide ? null : options.display.columns;
    this.#asked = options.asked;
  }

  /** Names the columns that the table leaves out, and how to see them; null for none. */
  get hidden(): string | null {
    if (this.#shown === null) return null;
    const { names, columns, layout, blank, mixed, isShort } = this.#shown;
    const left = [...names.slice(columns.length - listHidden(columns, layout).length), ...mixed];
    const parts = [
      ...(left.length === 0 ? [] : [`hidden: ${left.join(", ")}`]),
      ...(blank.length === 0 ? [] : [`blank: ${blank.join(", ")}`]),
      ...(isShort ? ["addresses and hashes are shortened"] : []),
    ];
    return parts.length === 0 ? null : `${parts.join("; ")}; see --wide or --json`;
  }

  format(records: readonly ListedRecord[]): string {
    if (records.length === 0) return "";
    const head = this.#shown === null;
    this.#shown ??=
      this.#available === null ? this.#chooseAll(records) : this.#choose(records, this.#available);
    const { names, layout, isShort } = this.#shown;
    const rows = records.map((record) => names.map((name) => this.#cell(record, name, isShort)));
    return [
      ...(head ? [formatHead(layout, this.#display)] : []),
      ...rows.map((row) => formatRow(layout, row)),
      "",
    ].join("\n");
  }

  /** Identifying fields first, then states, then the rest. */
  #chooseAll(records: readonly ListedRecord[]): Shown {
    const [key, ...others] = this.#columns;
    const names = [
      ...(key === undefined ? [] : [key]),
      ...others.filter(({ isState }) => isState),
      ...others.filter(({ isState }) => !isState),
    ].map(({ name }) => name);
    const columns = names.map((title) => ({ title }));
    const rows = records.map((record) => names.map((name) => this.#cell(record, name, false)));
    return { names, columns, layout: layOutTable(columns, rows, null), blank: [], mixed: [], isShort: false };
  }

  /** A narrow terminal leaves out the columns at the end, after it has shortened all addresses. */
  #choose(records: readonly ListedRecord[], available: number): Shown {
    const ranked = this.#columns
      .map((column, index) => {
        const cells = records.map((record) => this.#cell(record, column.name, false));
        return { ...column, cells, rank: index === 0 ? 0 : this.#rank(column, cells) };
      })
      .sort((a, b) => a.rank - b.rank);
    const isBlank = ({ cells }: (typeof ranked)[number]) => cells.every((cell) => BLANK.has(cell));
    const chosen = ranked.filter((each) => !isBlank(each));
    const names = chosen.map(({ name }) => name);
    const columns = chosen.map(({ name, rank }) => ({
      title: name === METADATA && rank < 7 ? "name" : toTitle(name, names),
      ...(rank <= 3 || TIME_NAME.test(name) || name === METADATA ? { isWhole: true as const } : {}),
    }));
    const layOut = (isShort: boolean, width: number | null) =>
      layOutTable(
        columns,
        records.map((record) => names.map((name) => this.#cell(record, name, isShort))),
        width,
      );
    const isNarrow = totalWidth(layOut(false, null)) > available;
    const layout = layOut(isNarrow, available);
    const isShort =
      isNarrow && chosen.slice(0, layout.columns.length).some(({ cells }) => cells.some(isLongHex));
    const unshown = ranked.filter(isBlank).map(({ name }) => name);
    const mixed = unshown.filter((name) => isMixed(name, records[0] ?? {}));
    const blank = unshown.filter((name) => !mixed.includes(name));
    return { names, columns, layout, blank, mixed, isShort };
  }

  #rank({ name, isState }: ListColumn, cells: readonly string[]): number {
    const filled = cells.filter((cell) => !BLANK.has(cell));
    const asked = this.#asked[name] ?? (name.endsWith("_id") ? this.#asked.id : undefined);
    if (filled.every((cell) => cell === asked) || BACKGROUND.test(name)) return 8;
    if (isState || name === "status") return 1;
    // The limit of a day, and what is left of it, say more than that of one payment.
    if (name === "max_per_payment") return 4;
    if (Object.hasOwn(AMOUNT_TOKENS, name) || name === "bond") return 2;
    if (WRITTEN.test(name)) return 6;
    if (TIME_NAME.test(name)) return 3;
    // An amount with a symbol needs no token next to it, and one in raw units does.
    if (/(?:^|_)token$/.test(name)) return filled.some(isLongHex) ? 3 : 7;
    if (/_uri$|^description$/.test(name)) return filled.every((cell) => URI.test(cell)) ? 7 : 4;
    if (ABOUT.test(name) || filled.every((cell) => ADDRESS.test(cell))) return 5;
    return filled.every(isLongHex) ? 9 : 4;
  }

  /** Blank if this kind of record has no such field. */
  #cell(record: ListedRecord, name: string, isShort: boolean): string {
    if (!Object.hasOwn(record, name)) return "";
    const cell = formatField(name, record[name]);
    if (this.#available === null) return cell;
    // Seconds say nothing in a list, and make a column wider.
    if (TIME_NAME.test(name)) return cell.replace(/^(\d{4}-\d{2}-\d{2} \d{2}:\d{2}):\d{2}$/, "$1");
    // The name says more than the beginning of the JSON that has it.
    if (name === METADATA) {
      return shortenText(formatValue(readMetadataName(record[name]) ?? record[name]), NAME_WIDTH_MAX);
    }
    // The contracts have the address zero for none.
    if (cell === ZERO_ADDRESS) return "none";
    return isShort && LONG_HEX.test(cell) ? shortenText(cell, SHORT_HEX) : cell;
  }
}

function isLongHex(cell: string): boolean {
  return LONG_HEX.test(cell);
}

/** Shorter than the name of the API, unless another column would have the same title. */
function toTitle(name: string, names: readonly string[]): string {
  if (name === names[0] && name.endsWith("_id")) return "id";
  const title = name.replace(/(?:_numeric)?_id$|_bps$|_number$/, "");
  const isUnique = names.filter((each) => each.startsWith(title)).length === 1;
  return isUnique ? title : name;
}

function totalWidth({ widths }: TableLayout): number {
  return widths.reduce((sum, width) => sum + width + 2, -2);
}
