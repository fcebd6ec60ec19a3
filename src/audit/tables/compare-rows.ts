// Compares rows with the results of contract views at a block and with the events that created them.
import { MalformedAbiError } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import type { DecodedEvent } from "../../protocol/decode-logs.ts";
import { formatKey, type Row } from "../../schema/table.ts";
import type { AuditCall, AuditReads } from "../reads.ts";
import type { TableAudit, ViewCheck } from "./define-audit.ts";

/** One value that differs from what `source` says. */
export type RowDifference = {
  readonly key: string;
  readonly column: string;
  readonly found: string;
  readonly expected: string;
  readonly source: string;
};

type RowComparison = {
  readonly differences: readonly RowDifference[];
  /** Rows that their own contract does not confirm: it may only imitate an account. */
  readonly unverifiable: number;
  /**
   * The contracts know none of the rows. A node that pruned the state and executes calls on an empty one returns the
   * same.
   */
  readonly allUnknown: boolean;
};

const NOT_KNOWN = "not known to the contract";

/** The column name of a difference that concerns the whole row. */
export const ENTIRE_ROW = "(row)";

export async function compareRows(
  audit: TableAudit,
  rows: readonly Row[],
  reads: AuditReads,
): Promise<RowComparison> {
  const checks = rows.flatMap((row) =>
    audit.views.filter((view) => view.appliesTo(row)).map((view) => ({ row, view })),
  );
  const [results, events] = await Promise.all([
    callViews(checks, reads),
    audit.creationEvents.length > 0 ? reads.readEvents(rows) : [],
  ]);
  const found = new Map<Row, RowDifference[]>(rows.map((row) => [row, []]));
  const unverifiable = new Set<Row>();
  const known: boolean[] = [];
  checks.forEach(({ row, view }, index) => {
    const differences = compareView(audit, view, row, results[index] ?? null, reads.timestamp);
    if (view.addressColumn === null) known.push(differences.every(({ expected }) => expected !== NOT_KNOWN));
    if (view.addressColumn !== null && differences.length > 0) unverifiable.add(row);
    else found.get(row)?.push(...differences);
  });
  if (audit.creationEvents.length > 0) {
    rows.forEach((row, index) => {
      const differences = found.get(row) ?? [];
      // Report a column once.
      const more = compareEvent(audit, row, events[index] ?? null).filter(
        ({ column }) => !differences.some((each) => each.column === column),
      );
      differences.push(...more);
    });
  }
  return {
    differences: [...found.values()].flat(),
    unverifiable: unverifiable.size,
    allUnknown: known.length > 0 && !known.includes(true),
  };
}

/** Whether a contract knows rows that the index does not have. */
export async function areKnownToContract(
  view: ViewCheck,
  rows: readonly Row[],
  reads: AuditReads,
): Promise<readonly boolean[]> {
  const results = await callViews(
    rows.map((row) => ({ row, view })),
    reads,
  );
  return results.map((output) => hasOutput(output) && !view.isUnknown(view.decode(output)));
}

/** A call to an address without code succeeds and returns nothing. */
function hasOutput(output: Hex | null): output is Hex {
  return output !== null && output !== "0x";
}

/** In the order of the checks; null also if the arguments in a damaged row cannot be encoded. */
async function callViews(
  checks: readonly { readonly row: Row; readonly view: ViewCheck }[],
  reads: AuditReads,
): Promise<readonly (Hex | null)[]> {
  const calls = checks.map(({ row, view }) => callOf(view, row, reads));
  const outputs = await reads.callViews(calls.filter((call) => call !== null));
  let next = 0;
  return calls.map((call) => (call === null ? null : (outputs[next++] ?? null)));
}

function callOf(view: ViewCheck, row: Row, reads: AuditReads): AuditCall | null {
  const to = view.addressColumn === null ? reads.addressOf(view.contract) : (row[view.addressColumn] as Hex);
  try {
    return { to, data: view.callData(row), untrusted: view.addressColumn !== null };
  } catch (cause) {
    if (cause instanceof MalformedAbiError) return null;
    throw cause;
  }
}

function compareView(
  audit: TableAudit,
  view: ViewCheck,
  row: Row,
  output: Hex | null,
  timestamp: bigint,
): readonly RowDifference[] {
  const source = `${view.contract}.${view.name}`;
  const wholeRow = (expected: string) => [
    { key: formatKey(audit.table.key, row), column: ENTIRE_ROW, found: "is there", expected, source },
  ];
  if (!hasOutput(output)) return wholeRow(NOT_KNOWN);
  let result: unknown;
  try {
    result = view.decode(output);
  } catch (cause) {
    if (view.addressColumn !== null) return wholeRow("a result that matches the ABI");
    throw new Error(`${source} returned data that does not match its ABI`, { cause });
  }
  if (view.isUnknown(result)) return wholeRow(NOT_KNOWN);
  const expected = Object.entries(view.columns).map(
    ([column, read]) => [column, read(result, { row, timestamp })] as const,
  );
  return listUnequal(audit, row, expected, source);
}

function compareEvent(audit: TableAudit, row: Row, event: DecodedEvent | null): readonly RowDifference[] {
  const creation = audit.creationEvents.find(
    (each) => each.contract === event?.contract && each.event === event.name,
  );
  if (event === null || creation === undefined) {
    const found = `log ${row.log_index} of block ${row.block_number}`;
    const expected = audit.creationEvents.map((each) => each.event).join(" or ");
    const key = formatKey(audit.table.key, row);
    return [{ key, column: "log_index", found, expected: `a log of ${expected}`, source: "stored logs" }];
  }
  const columns = { ...creation.columns(event), tx_hash: event.txHash };
  return listUnequal(audit, row, Object.entries(columns), creation.event);
}

function listUnequal(
  audit: TableAudit,
  row: Row,
  columns: readonly (readonly [string, unknown])[],
  source: string,
): readonly RowDifference[] {
  return columns
    .filter(([column, expected]) => row[column] !== expected)
    .map(([column, expected]) => ({
      key: formatKey(audit.table.key, row),
      column,
      found: String(row[column]),
      expected: String(expected),
      source,
    }));
}
