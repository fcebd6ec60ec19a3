// Rows held against what the contracts answer at a block and against the events they say they come from.
import { MalformedAbiError } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import type { DecodedEvent } from "../../protocol/decode/logs.ts";
import { formatKey, type Row } from "../../schema/table.ts";
import type { TableAudit, ViewCheck } from "./define-audit.ts";

/** One value that is not what it should be, and who says so. */
export type RowDifference = {
  readonly key: string;
  readonly column: string;
  readonly found: string;
  readonly expected: string;
  readonly source: string;
};

/** `stranger`: anyone may have deployed the contract, so that it may do anything. */
export type AuditCall = { readonly to: Hex; readonly data: Hex; readonly untrusted: boolean };

/** What a comparison reads of the chain and of the stored logs; a door plugs it in. */
export type AuditReads = {
  /** Unix seconds of the audited block. */
  readonly timestamp: bigint;
  readonly addressOf: (contract: string) => Hex;
  /** In the order of the calls; null for a revert, and for a stranger that gave no answer at all. */
  callViews(calls: readonly AuditCall[]): Promise<readonly (Hex | null)[]>;
  /** In the order of the rows; null where there is no event of ours at the place that the row names. */
  readEvents(rows: readonly Row[]): Promise<readonly (DecodedEvent | null)[]>;
};

export type RowComparison = {
  readonly differences: readonly RowDifference[];
  /** Rows that the contract they name does not speak for: it may only pretend to be one. */
  readonly unverifiable: number;
  /**
   * Rows were asked about, and the contracts knew none of them. That is what a node returns that dropped the state and
   * executes calls as if it were empty.
   */
  readonly allUnknown: boolean;
};

const NOT_KNOWN = "not known to the contract";

/** What a column is called in a difference that concerns the row as a whole. */
export const ENTIRE_ROW = "(row)";

export async function compareRows(
  audit: TableAudit,
  rows: readonly Row[],
  reads: AuditReads,
): Promise<RowComparison> {
  const checks = rows.flatMap((row) =>
    audit.views.filter((view) => view.appliesTo(row)).map((view) => ({ row, view })),
  );
  const [answers, events] = await Promise.all([
    ask(checks, reads),
    audit.creationEvents.length > 0 ? reads.readEvents(rows) : [],
  ]);
  const found = new Map<Row, RowDifference[]>(rows.map((row) => [row, []]));
  const unverifiable = new Set<Row>();
  const known: boolean[] = [];
  checks.forEach(({ row, view }, index) => {
    const differences = judgeAnswer(audit, view, row, answers[index] ?? null, reads.timestamp);
    if (view.addressColumn === null) known.push(differences.every(({ expected }) => expected !== NOT_KNOWN));
    if (view.addressColumn !== null && differences.length > 0) unverifiable.add(row);
    else found.get(row)?.push(...differences);
  });
  if (audit.creationEvents.length > 0) {
    rows.forEach((row, index) => {
      const told = found.get(row) ?? [];
      // What a contract has already told is not told again.
      const more = judgeEvent(audit, row, events[index] ?? null).filter(
        ({ column }) => !told.some((each) => each.column === column),
      );
      told.push(...more);
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
  const answers = await ask(
    rows.map((row) => ({ row, view })),
    reads,
  );
  return answers.map((answer) => isAnswer(answer) && !view.isUnknown(view.decode(answer)));
}

/** Where there is no code (yet), a call succeeds and answers with nothing. */
function isAnswer(answer: Hex | null): answer is Hex {
  return answer !== null && answer !== "0x";
}

/** In the order of the checks; null also where a damaged row asks what can not be asked. */
async function ask(
  checks: readonly { readonly row: Row; readonly view: ViewCheck }[],
  reads: AuditReads,
): Promise<readonly (Hex | null)[]> {
  const calls = checks.map(({ row, view }) => callOf(view, row, reads));
  const answers = await reads.callViews(calls.filter((call) => call !== null));
  let next = 0;
  return calls.map((call) => (call === null ? null : (answers[next++] ?? null)));
}

function callOf(view: ViewCheck, row: Row, reads: AuditReads): AuditCall | null {
  const stranger = view.addressColumn !== null;
  const to = view.addressColumn === null ? reads.addressOf(view.contract) : (row[view.addressColumn] as Hex);
  try {
    return { to, data: view.callData(row), untrusted: stranger };
  } catch (cause) {
    if (cause instanceof MalformedAbiError) return null;
    throw cause;
  }
}

function judgeAnswer(
  audit: TableAudit,
  view: ViewCheck,
  row: Row,
  answer: Hex | null,
  timestamp: bigint,
): readonly RowDifference[] {
  const source = `${view.contract}.${view.name}`;
  const whole = (expected: string) => [
    { key: formatKey(audit.table.key, row), column: ENTIRE_ROW, found: "is there", expected, source },
  ];
  if (!isAnswer(answer)) return whole(NOT_KNOWN);
  let result: unknown;
  try {
    result = view.decode(answer);
  } catch (cause) {
    if (view.addressColumn !== null) return whole("an answer that can be read");
    throw new Error(`${source} gave an answer that is none`, { cause });
  }
  if (view.isUnknown(result)) return whole(NOT_KNOWN);
  const expected = Object.entries(view.columns).map(
    ([column, read]) => [column, read(result, { row, timestamp })] as const,
  );
  return unequal(audit, row, expected, source);
}

function judgeEvent(audit: TableAudit, row: Row, event: DecodedEvent | null): readonly RowDifference[] {
  const birth = audit.creationEvents.find(
    (each) => each.contract === event?.contract && each.event === event.name,
  );
  if (event === null || birth === undefined) {
    const found = `log ${row.log_index} of block ${row.block_number}`;
    const expected = audit.creationEvents.map((each) => each.event).join(" or ");
    const key = formatKey(audit.table.key, row);
    return [{ key, column: "log_index", found, expected: `a log of ${expected}`, source: "stored logs" }];
  }
  const columns = { ...birth.columns(event), tx_hash: event.txHash };
  return unequal(audit, row, Object.entries(columns), birth.event);
}

function unequal(
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
