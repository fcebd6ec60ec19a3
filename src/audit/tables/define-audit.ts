// Declares the audit of a table: the views a row must equal, the events that create rows, and recounts.
import type {
  Abi,
  AbiParameter,
  ContractEventArgsFromTopics,
  ContractEventName,
  ContractFunctionName,
  ContractFunctionReturnType,
} from "viem";
import { createFunctionCodec, findAbiEvent, findAbiFunction, hashEvent } from "../../lib/abi/codec.ts";
import type { Hex } from "../../lib/hex.ts";
import type { ContractName } from "../../protocol/deployment.ts";
import type { EmittedEvent } from "../../schema/chain-log.ts";
import { type Columns, listValueColumns, type Row, type RowOf, type Table } from "../../schema/table.ts";

type ViewName<A extends Abi> = ContractFunctionName<A, "view" | "pure">;
type ViewResult<A extends Abi, V extends ViewName<A>> = ContractFunctionReturnType<A, "view" | "pure", V>;

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
  readonly columns: (event: EmittedEvent<never>) => Row;
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

type Joined<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Joined<Rest>}`
  : Name;
type LowerCased<T> = { readonly [Member in keyof T & string as Lowercase<Member>]: T[Member] };

/** The columns that are named like a member of T, but for underscores and capitals, and have its type. */
type SharedColumn<C extends Columns, T> = {
  [Name in keyof C & string]: LowerCased<T> extends Readonly<Record<Joined<Name>, RowOf<C>[Name]>>
    ? Name
    : never;
}[keyof C & string];

/** The arguments that a row keeps under their names, or the columns that follow from the event. */
type EventColumns<C extends Columns, Args> =
  | readonly SharedColumn<C, Args>[]
  | ((event: EmittedEvent<Args>) => Partial<RowOf<C>>);

/** The columns; with `topics` and `words` if a later event of the same subject replaces the row. */
type EventDeclaration<C extends Columns, Args> =
  | EventColumns<C, Args>
  | {
      readonly columns: EventColumns<C, Args>;
      readonly topics: number;
      readonly words?: readonly number[];
    };

type ViewDeclaration<C extends Columns, Result> = {
  /** The columns with the arguments of the call. */
  readonly args: readonly (keyof C & string)[];
  readonly when?: (row: RowOf<C>) => boolean;
  readonly unknown?: (result: Result) => boolean;
  /** The columns that equal the member of the result that is named like them. */
  readonly columns?: readonly SharedColumn<C, Result>[];
  readonly computed?: {
    readonly [Name in keyof C & string]?: (result: Result, at: ViewContext<RowOf<C>>) => RowOf<C>[Name];
  };
};

export function defineTableAudit<C extends Columns, K extends keyof C & string, const A extends Abi>(
  table: Table<C, K>,
  audited: AuditedContract<A>,
  checks: {
    createdBy: {
      readonly [N in ContractEventName<A>]?: EventDeclaration<C, ContractEventArgsFromTopics<A, N>>;
    };
    views?: { readonly [V in ViewName<A>]?: ViewDeclaration<C, ViewResult<A, V>> };
    ids?: K;
    idsWithin?: Table;
    /** Columns that were copied or computed from other rows. */
    recount?: RecountQuery & { readonly columns: readonly Exclude<keyof C & string, K>[] };
  },
): TableAudit {
  const events = Object.entries(checks.createdBy) as [string, EventDeclaration<Columns, unknown>][];
  const views = Object.entries(checks.views ?? {}) as [string, ViewDeclaration<Columns, unknown>][];
  return {
    table,
    views: views.map(([name, view]) => createViewCheck(audited, name, view)),
    creationEvents: events.map(([name, event]) => createCreationEvent(audited, name, event)),
    ids: checks.ids ? { column: checks.ids, within: checks.idsWithin ?? null } : null,
    recount: checks.recount ?? null,
  };
}

function createViewCheck(
  audited: AuditedContract<Abi>,
  name: string,
  view: ViewDeclaration<Columns, unknown>,
): ViewCheck {
  // Results have lower-case addresses, and text as the index stores it.
  const codec = createFunctionCodec(audited.abi, name, "storable");
  const [output] = findAbiFunction(audited.abi, name).outputs;
  const members = output !== undefined && "components" in output ? output.components : [];
  const same = pairMembers(view.columns ?? [], members).map(([column, member]) => [
    column,
    (result: Row) => result[member],
  ]);
  return {
    name,
    contract: audited.contract,
    addressColumn: "addressColumn" in audited ? audited.addressColumn : null,
    appliesTo: view.when ?? (() => true),
    callData: (row) => codec.encodeCall(view.args.map((column) => row[column])),
    decode: codec.decodeResult,
    isUnknown: view.unknown ?? (() => false),
    columns: { ...Object.fromEntries(same), ...view.computed },
  };
}

function createCreationEvent(
  audited: AuditedContract<Abi>,
  event: string,
  declared: EventDeclaration<Columns, unknown>,
): CreationEvent {
  const item = findAbiEvent(audited.abi, event);
  const { columns, ...subject } = "columns" in declared ? declared : { columns: declared };
  return {
    event,
    contract: audited.contract,
    anyEmitter: "addressColumn" in audited,
    topic0: hashEvent(item),
    distinctBy: "topics" in subject ? { words: [], ...subject } : null,
    columns: typeof columns === "function" ? columns : readArguments(pairMembers(columns, item.inputs)),
  };
}

const readArguments =
  (pairs: readonly (readonly [string, string])[]) =>
  ({ args }: { readonly args: Row }): Row =>
    Object.fromEntries(pairs.map(([column, member]) => [column, args[member]]));

/** Each column with the member that is named like it: `metadata_uri` with `metadataURI`. */
function pairMembers(
  columns: readonly string[],
  members: readonly AbiParameter[],
): readonly (readonly [string, string])[] {
  return columns.map((column) => {
    const plain = column.replaceAll("_", "");
    const member = members.find(({ name }) => name?.toLowerCase() === plain)?.name;
    if (member === undefined) throw new Error(`no member is named like the column ${column}`);
    return [column, member];
  });
}

/** The audit of a rollup: recounts every column except the key. */
export function recountAudit<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  from: readonly Table[],
  sql: string,
): TableAudit {
  const recount = { columns: listValueColumns(table), from, sql };
  return { table, views: [], creationEvents: [], ids: null, recount };
}
