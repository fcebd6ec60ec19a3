// Declares the audit of a table: the views a row must equal, the events that create rows, and recounts.
import type {
  Abi,
  ContractEventArgsFromTopics,
  ContractEventName,
  ContractFunctionName,
  ContractFunctionReturnType,
} from "viem";
import { createFunctionCodec, findAbiEvent, hashEvent } from "../../lib/abi/codec.ts";
import type { Hex } from "../../lib/hex.ts";
import type { ContractName } from "../../protocol/deployment.ts";
import type { EventRecord } from "../../schema/chain-log.ts";
import type { Columns, Row, RowOf, Table } from "../../schema/table.ts";

type ViewName<A extends Abi> = ContractFunctionName<A, "view" | "pure">;
export type ViewResult<A extends Abi, V extends ViewName<A>> = ContractFunctionReturnType<
  A,
  "view" | "pure",
  V
>;

/** A contract of the deployment or, with `addressColumn`, the contract that this column of the row names. */
type AuditedContract<A extends Abi> = {
  readonly abi: A;
} & ({ readonly contract: ContractName } | { readonly contract: string; readonly addressColumn: string });

/** The input of a comparison besides the result of the view. */
type ViewContext<R = Row> = {
  readonly row: R;
  /** Unix seconds of the audited block. */
  readonly timestamp: bigint;
};

/** A contract view that returns what some columns of a row must hold. */
export type ViewCheck = {
  readonly name: string;
  readonly contract: string;
  /** The column that names the contract, if anyone may have deployed it; null for one of the deployment. */
  readonly addressColumn: string | null;
  readonly appliesTo: (row: Row) => boolean;
  readonly callData: (row: Row) => Hex;
  /** Throws if the output does not match the ABI. */
  readonly decode: (output: Hex) => unknown;
  /** Whether the result means that the contract does not know the row; a revert always does. */
  readonly isUnknown: (result: unknown) => boolean;
  readonly columns: Readonly<Record<string, (result: unknown, at: ViewContext) => unknown>>;
};

/** An event that creates or replaces a row: the one in the row's provenance. */
export type CreationEvent = {
  readonly event: string;
  readonly contract: string;
  readonly anyEmitter: boolean;
  readonly topic0: Hex;
  /** The indexed arguments (the first ones) and data words that identify a row; null: each event creates a row. */
  readonly distinctBy: { readonly topics: number; readonly words: readonly number[] } | null;
  /** The columns that follow from the event and never change afterwards. */
  readonly columns: (event: EventRecord<never>) => Row;
};

/** The expected rows, computed from other tables: plain SQL in which a table name stands for its rows as of the block. */
type RecountQuery = {
  readonly columns: readonly string[];
  readonly from: readonly Table[];
  readonly sql: string;
};

export type TableAudit = {
  readonly table: Table;
  readonly views: readonly ViewCheck[];
  readonly creationEvents: readonly CreationEvent[];
  /**
   * The column that counts from 1 without gaps, globally or per row of another table; the first view must not know the
   * next number.
   */
  readonly ids: { readonly column: string; readonly within: Table | null } | null;
  readonly recount: RecountQuery | null;
};

export function defineTableAudit<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  checks: {
    views?: readonly ViewCheck[];
    createdBy?: readonly CreationEvent[];
    ids?: K;
    idsWithin?: Table;
    recount?: RecountQuery;
  },
): TableAudit {
  return {
    table,
    views: checks.views ?? [],
    creationEvents: checks.createdBy ?? [],
    ids: checks.ids ? { column: checks.ids, within: checks.idsWithin ?? null } : null,
    recount: checks.recount ?? null,
  };
}

/** Results have lower-case addresses, and text as the index stores it. */
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
  distinctBy?: { topics: number; words?: readonly number[] },
): CreationEvent {
  return {
    event,
    contract: audited.contract,
    anyEmitter: "addressColumn" in audited,
    topic0: hashEvent(findAbiEvent(audited.abi, event)),
    distinctBy: distinctBy ? { topics: distinctBy.topics, words: distinctBy.words ?? [] } : null,
    columns: columns as CreationEvent["columns"],
  };
}

/** The audit of a rollup: recounts every column except the key. */
export function recountAudit<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  from: readonly Table[],
  sql: string,
): TableAudit {
  const keys: readonly string[] = table.key;
  const columns = Object.keys(table.columns).filter((name) => !keys.includes(name));
  return defineTableAudit(table, { recount: { columns, from, sql } });
}

/** Recounts columns that were copied or computed from other rows. */
export function derivedColumns<C extends Columns, K extends keyof C & string>(
  _table: Table<C, K>,
  columns: readonly Exclude<keyof C & string, K>[],
  from: readonly Table[],
  sql: string,
): RecountQuery {
  return { columns, from, sql };
}
