// Current rows that earlier batches of a backfill left: in history a row changes again soon after it began.
import type { Row, Table } from "../../schema/table.ts";
import type { RowVersions } from "./row-versions.ts";

// Two generations of so many rows are at most some 20 MB. Most changes are to rows of the last few thousand events.
const ROWS_PER_GENERATION_MAX = 8_192;

type Generation = { readonly rows: Map<Table, Map<string, Row | null>>; count: number };

const createGeneration = (): Generation => ({ rows: new Map(), count: 0 });

/**
 * It belongs to one chain of batches, each folded upon the one before. A chain ends with the first batch that fails and
 * with every rollback: the cache is then forgotten, so that it never knows a row otherwise than the chain does.
 */
export class RowCache {
  readonly #rowsMax: number;
  /** Tables that a batch has asked for: rows of others, such as bids, never change. */
  readonly #asked = new Set<Table>();
  #young = createGeneration();
  #old = createGeneration();

  constructor(rowsMax = ROWS_PER_GENERATION_MAX) {
    this.#rowsMax = rowsMax;
  }

  /** As `RowVersions.latest`: null if the row does not exist, undefined if that is not known. */
  latest(table: Table, keyText: string): Row | null | undefined {
    this.#asked.add(table);
    const young = this.#young.rows.get(table)?.get(keyText);
    if (young !== undefined) return young;
    const old = this.#old.rows.get(table)?.get(keyText);
    if (old !== undefined) this.#keep(table, keyText, old);
    return old;
  }

  /** Takes over the rows that a finished batch knows. */
  remember(batch: Pick<RowVersions, "forEachLatest">): void {
    batch.forEachLatest(this.#asked, (table, keyText, row) => this.#keep(table, keyText, row));
  }

  #keep(table: Table, keyText: string, row: Row | null): void {
    if (this.#young.count >= this.#rowsMax) {
      this.#old = this.#young;
      this.#young = createGeneration();
    }
    const generation = this.#young;
    let rows = generation.rows.get(table);
    if (!rows) {
      rows = new Map();
      generation.rows.set(table, rows);
    }
    if (!rows.has(keyText)) generation.count += 1;
    rows.set(keyText, row);
  }
}
