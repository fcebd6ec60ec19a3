// What an audit of a table says: which views must agree with a row, which events rows come from, what they add up to.
import {
  type Abi,
  type AbiEvent,
  type ContractEventArgsFromTopics,
  type ContractEventName,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  toEventSelector,
} from "viem";
import { createFunctionCodec } from "../../lib/abi/codec.ts";
import type { Hex } from "../../lib/hex.ts";
import type { ContractName } from "../../protocol/deployment.ts";
import type { EventRecord } from "../../schema/event.ts";
import type { Columns, Row, RowOf, Table } from "../../schema/table.ts";

export type ViewName<A extends Abi> = ContractFunctionName<A, "view" | "pure">;
export type ViewResult<A extends Abi, V extends ViewName<A>> = ContractFunctionReturnType<
  A,
  "view" | "pure",
  V
>;

function findAbiEvent(abi: Abi, name: string): AbiEvent {
  const item = abi.find((each): each is AbiEvent => each.type === "event" && each.name === name);
  if (!item) throw new Error(`${name} is not an event of the ABI`);
  return item;
}

/** A contract of the deployment; or, with `account`, whichever contract that column of the row names. */
export type AuditedContract<A extends Abi> = {
  readonly abi: A;
} & ({ readonly contract: ContractName } | { readonly contract: string; readonly addressColumn: string });

/** What a view call is judged by, besides its result. */
export type ViewContext<R = Row> = {
  readonly row: R;
  /** Unix seconds of the audited block. */
  readonly timestamp: bigint;
};

/** A view of a contract that tells what is in some columns of a row. */
export type ViewCheck = {
  readonly name: string;
  readonly contract: string;
  /** The column that names the contract, where anyone may have deployed it; null for one of the deployment. */
  readonly addressColumn: string | null;
  readonly appliesTo: (row: Row) => boolean;
  readonly callData: (row: Row) => Hex;
  /** Throws where the output is none of this view. */
  readonly decode: (output: Hex) => unknown;
  /** Whether the result is how the contract says that it knows nothing of it; a revert always is. */
  readonly isUnknown: (result: unknown) => boolean;
  readonly columns: Readonly<Record<string, (result: unknown, at: ViewContext) => unknown>>;
};

/** An event that makes a row, or makes it anew: the one that the row's provenance names. */
export type CreationEvent = {
  readonly event: string;
  readonly contract: string;
  readonly anyEmitter: boolean;
  readonly topic0: Hex;
  /** Which indexed arguments (the first so many) and words of data tell rows apart; null: each event makes a row. */
  readonly distinctBy: { readonly topics: number; readonly words: readonly number[] } | null;
  /** The columns that follow from the event and never change after it. */
  readonly columns: (event: EventRecord<never>) => Row;
};

/** The rows as they should be, from other tables: plain SQL in which a table's name stands for its rows as of the block. */
export type RecountQuery = {
  readonly columns: readonly string[];
  readonly from: readonly Table[];
  readonly sql: string;
};

export type TableAudit = {
  readonly table: Table;
  readonly views: readonly ViewCheck[];
  readonly creationEvents: readonly CreationEvent[];
  /**
   * The column that counts from 1 without gaps, on its own or for each row of another table; the first view must
   * not know the number that comes next.
   */
  readonly ids: { readonly column: string; readonly within: Table | null } | null;
  readonly recount: RecountQuery | null;
};

type AnyTable = Pick<Table, "name">;

export function defineTableAudit<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  checks: {
    views?: readonly ViewCheck[];
    births?: readonly CreationEvent[];
    ids?: K;
    idsWithin?: AnyTable;
    recount?: RecountQuery;
  },
): TableAudit {
  return {
    table: table as unknown as Table,
    views: checks.views ?? [],
    creationEvents: checks.births ?? [],
    ids: checks.ids ? { column: checks.ids, within: (checks.idsWithin as Table | undefined) ?? null } : null,
    recount: checks.recount ?? null,
  };
}

/** Every address that a result holds is lower case and its text is as the index stores text. */
export function viewCheck<
  C extends Columns,
  K extends keyof C & string,
  const A extends Abi,
  V extends ViewName<A>,
>(
  _table: Table<C, K>,
  audited: AuditedContract<A>,
  name: V,
  declared: {
    args: (row: RowOf<C>) => readonly unknown[];
    when?: (row: RowOf<C>) => boolean;
    unknown?: (result: ViewResult<A, V>) => boolean;
    columns: {
      readonly [Name in keyof C & string]?: (
        result: ViewResult<A, V>,
        at: ViewContext<RowOf<C>>,
      ) => RowOf<C>[Name];
    };
  },
): ViewCheck {
  // Text as the index stores it.
  const codec = createFunctionCodec(audited.abi as Abi, name as string, "storable");
  return {
    name,
    contract: audited.contract,
    addressColumn: "addressColumn" in audited ? audited.addressColumn : null,
    appliesTo: (row) => declared.when?.(row as RowOf<C>) ?? true,
    callData: (row) => codec.encodeCall(declared.args(row as RowOf<C>) as readonly unknown[]),
    decode: codec.decodeResult,
    isUnknown: (result) => declared.unknown?.(result as ViewResult<A, V>) ?? false,
    columns: declared.columns as ViewCheck["columns"],
  };
}

export function createdBy<
  C extends Columns,
  K extends keyof C & string,
  const A extends Abi,
  N extends ContractEventName<A>,
>(
  _table: Table<C, K>,
  audited: AuditedContract<A>,
  event: N,
  columns: (event: EventRecord<ContractEventArgsFromTopics<A, N>>) => Partial<RowOf<C>>,
  apart?: { topics: number; words?: readonly number[] },
): CreationEvent {
  return {
    event,
    contract: audited.contract,
    anyEmitter: "addressColumn" in audited,
    topic0: toEventSelector(findAbiEvent(audited.abi, event)),
    distinctBy: apart ? { topics: apart.topics, words: apart.words ?? [] } : null,
    columns: columns as CreationEvent["columns"],
  };
}

/** What a table of counters must hold: every column but its key. */
export function recountAudit<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  from: readonly AnyTable[],
  sql: string,
): TableAudit {
  const keys: readonly string[] = table.key;
  const columns = Object.keys(table.columns).filter((name) => !keys.includes(name));
  return defineTableAudit(table, { recount: { columns, from: from as readonly Table[], sql } });
}

/** What some columns of a table must hold, because they were copied or worked out from other rows. */
export function derivedColumns<C extends Columns, K extends keyof C & string>(
  _table: Table<C, K>,
  columns: readonly Exclude<keyof C & string, K>[],
  from: readonly AnyTable[],
  sql: string,
): RecountQuery {
  return { columns, from: from as readonly Table[], sql };
}
