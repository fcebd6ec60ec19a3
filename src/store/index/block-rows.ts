// Reads what it takes to fold blocks once more: their logs with details, and rows as they were before each block.
import type { Hex } from "../../lib/hex.ts";
import type { BlockId, LogWithDetails } from "../../schema/chain-log.ts";
import { type Column, lengthSql } from "../../schema/column.ts";
import type { RequiredRow } from "../../schema/domain.ts";
import { type ResultRows, toRecords } from "../../schema/reads/read.ts";
import { compileSql, joinSql, rawSql, type SqlText, sql } from "../../schema/sql.ts";
import { type DetailedLogRow, decodeDetailedLogRow, plainBytesSql } from "../../schema/stored-log.ts";
import type { Row, Table } from "../../schema/table.ts";
import { arrayType, keyColumns, requireColumn } from "./versioned-rows.ts";

/** Beyond a limit nothing is read: anyone decides how large a block is, and how long the texts in a row are. */
export type BlockReadLimits = {
  /** Logs of all blocks together. */
  readonly logsMax: number;
  readonly logBytesMax: number;
  /** Texts of unlimited length in the rows of one table. */
  readonly rowBytesMax: number;
};

type BlockLogs = {
  readonly number: number;
  /** Null if the block is not stored. */
  readonly hash: Hex | null;
  /** In order; null if they would exceed a limit together with those of the blocks before. */
  readonly logs: readonly LogWithDetails[] | null;
};

/** The blocks must have logs; those that come first count first against the limits. The lookups have limits for the planner, as in `selectEventLogs`. */
export function selectBlockLogs(blocks: readonly BlockId[], limits: BlockReadLimits): SqlText {
  const numbers = `{${blocks.map(({ number }) => number).join(",")}}`;
  const counted = sql`select n.number, n.place, b.hash, b.timestamp, sum(b.log_count) over (order by n.place) <= ${String(limits.logsMax)}::bigint as is_within
      from unnest(${numbers}::bigint[]) with ordinality n(number, place)
      left join lateral (select x.hash, x.timestamp, x.log_count from blocks x where x.number = n.number limit 1) b on true`;
  const logs = sql`select o.* from logs o where o.block_number = k.number and k.is_within order by o.log_index limit ${String(limits.logsMax)}::bigint`;
  const bytes = rawSql(plainBytesSql("l", ["topics", "data", "details"]));
  const measured = sql`select k.number, k.place, k.hash, k.timestamp, l.log_index, l.tx_index, l.tx_hash, l.address, l.topics, l.data, l.details,
      l.log_index is not null and sum(${bytes}) over (order by k.place, l.log_index) <= ${String(limits.logBytesMax)}::bigint as is_whole
    from (${counted}) k left join lateral (${logs}) l on true`;
  return sql`select m.number as block_number, encode(m.hash, 'hex') as hash, m.timestamp, m.is_whole, m.log_index, m.tx_index,
      encode(m.tx_hash, 'hex') as tx_hash, encode(m.address, 'hex') as address,
      case when m.is_whole then encode(m.topics, 'hex') end as topics, case when m.is_whole then encode(m.data, 'hex') end as data,
      case when m.is_whole then encode(m.details, 'hex') end as details
    from (${measured}) m order by m.place, m.log_index`;
}

type BlockLogRow =
  | (DetailedLogRow & { readonly is_whole: true })
  | { readonly is_whole: false | null; readonly block_number: string; readonly hash: string | null };

/** The rows of `selectBlockLogs`: one entry for each block. */
export function decodeBlockLogs(rows: ResultRows): readonly BlockLogs[] {
  const blocks = new Map<number, { number: number; hash: Hex | null; logs: LogWithDetails[] | null }>();
  for (const row of toRecords<BlockLogRow>(rows)) {
    const number = Number(row.block_number);
    const hash: Hex | null = row.hash === null ? null : `0x${row.hash}`;
    const block = blocks.get(number) ?? { number, hash, logs: [] };
    blocks.set(number, block);
    // A block beyond the number of logs has one row without a log.
    if (!row.is_whole) block.logs = null;
    else block.logs?.push(decodeDetailedLogRow(row));
  }
  return [...blocks.values()];
}

/** A row as it was before a block. */
export type RowBefore = RequiredRow & { readonly block: number };

type FoundRows = {
  /** The stored hash of the requested block, from the same snapshot; null if it is not stored. */
  readonly hash: Hex | null;
  /**
   * In the order of the request, with null for a row that did not exist. Null as a whole if rows exceed their limit.
   */
  readonly rows: readonly (Row | null)[] | null;
};

type RowsBeforeQuery = {
  select(wanted: readonly RowBefore[], block: number, limits: BlockReadLimits): SqlText;
  decode(wanted: readonly RowBefore[], found: ResultRows): FoundRows;
};

/** One statement for all tables, whichever are wanted: so it is prepared once. */
export function createRowsBeforeQuery(tables: readonly Table[]): RowsBeforeQuery {
  const places = new Map(tables.map((table, place) => [table.name, place]));
  const compiled = compileSql(joinSql([selectHash(), ...tables.map(selectRows)], " union all "));
  /** The wanted keys of each table, with their positions in the list. */
  const byTable = (wanted: readonly RowBefore[]) => {
    const groups = tables.map((): { readonly row: RowBefore; readonly at: number }[] => []);
    for (const [at, row] of wanted.entries()) {
      const group = groups[places.get(row.table.name) ?? -1];
      if (!group) throw new Error(`rows of ${row.table.name} have no history that could be read`);
      group.push({ row, at });
    }
    return groups;
  };
  return {
    select(wanted, block, { rowBytesMax }) {
      const values = byTable(wanted).flatMap((group, place) => {
        const table = tables[place] as Table;
        const keys = group.map(({ row }) => row);
        const blocks = `{${keys.map((each) => each.block).join(",")}}`;
        const lists = keys.length === 0 ? table.key.map(() => "{}") : keyColumns(table, keys, String);
        return [...(textsOf(table).length > 0 ? [String(rowBytesMax)] : []), ...lists, blocks];
      });
      return compiled(String(block), ...values);
    },
    decode: (wanted, found) => decodeRows(tables, byTable(wanted), wanted.length, found),
  };
}

function decodeRows(
  tables: readonly Table[],
  groups: readonly (readonly { readonly at: number }[])[],
  count: number,
  found: ResultRows,
): FoundRows {
  const rows = Array.from({ length: count }, (): Row | null => null);
  let hash: Hex | null = null;
  let isWhole = true;
  for (const { place, position, hash: stored, cells } of toRecords(found)) {
    const table = tables[Number(place)];
    if (!table) hash = `0x${String(stored)}`;
    else if (cells === null) isWhole = false;
    else {
      const at = groups[Number(place)]?.[Number(position) - 1]?.at;
      if (at === undefined) throw new Error(`a row of ${table.name} was not asked for`);
      rows[at] = decodeCells(table, cells as readonly unknown[]);
    }
  }
  return { hash, rows: isWhole ? rows : null };
}

function selectHash(): SqlText {
  return sql`select -1 as place, null::bigint as position, encode(b.hash, 'hex') as hash, null::json as cells from blocks b where b.number = ${null}::bigint`;
}

/** The version of each key that was valid in the last block before: no two are, so that it is the last that began. */
function selectRows(table: Table, place: number): SqlText {
  const key = table.key.map((name) => {
    const column = requireColumn(table, name);
    const listed = `k.key_${name}`;
    return {
      name,
      type: column.isHex ? "text[]" : arrayType(column),
      listed: column.isHex ? `stored_hex(x.${name}, ${listed})` : listed,
    };
  });
  const lists = joinSql(
    key.map(({ type }) => sql`${null}::${rawSql(type)}`),
    ", ",
  );
  const names = key.map(({ name }) => `key_${name}`).join(", ");
  const match = key.map(({ name, listed }) => `x.${name} = ${listed}`).join(" and ");
  const wanted = sql`unnest(${lists}, ${null}::bigint[]) with ordinality k(${rawSql(names)}, before_block, position)`;
  const version = rawSql(
    `select x.* from ${table.name} x where ${match} and x.valid_from < k.before_block order by x.valid_from desc limit 1`,
  );
  const texts = textsOf(table).map(
    (name) => `coalesce(${lengthSql(requireColumn(table, name), `t.${name}`)}, 0)`,
  );
  const isWhole =
    texts.length === 0
      ? sql`true`
      : sql`sum(${rawSql(texts.join(" + "))}) over (order by k.position) <= ${null}::bigint`;
  const valid = sql`select k.position, ${isWhole} as is_whole, t.* from ${wanted}
      cross join lateral (${version}) t where t.valid_to is null or t.valid_to >= k.before_block`;
  const cells = Object.entries(table.columns).map(([name, column]) => selectCell(name, column));
  return sql`select ${rawSql(String(place))}, m.position, null, case when m.is_whole then json_build_array(${rawSql(cells.join(", "))}) end
    from (${valid}) m`;
}

const textsOf = ({ columns }: Table) => Object.keys(columns).filter((name) => columns[name]?.isUnbounded);

// Numbers as text, because JSON would round them.
const selectCell = (name: string, { sql: type, isHex }: Column<unknown>) =>
  type === "boolean" ? `m.${name}` : isHex ? `hex_text(m.${name})` : `m.${name}::text`;

function decodeCells(table: Table, cells: readonly unknown[]): Row {
  const row: Record<string, unknown> = {};
  for (const [at, [name, column]] of Object.entries(table.columns).entries()) {
    const cell = cells[at];
    row[name] = cell === null || cell === undefined ? null : column.fromSql(cell);
  }
  return row;
}
