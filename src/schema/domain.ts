// Declares domains: for each event of a contract, the changes to rows and an explanation in plain English.

import type { Abi, ContractEventArgsFromTopics, ContractEventName } from "viem";
import type { EmittedEvent } from "./chain-log.ts";
import type { Change } from "./change.ts";
import type { DetailsReader } from "./event-details.ts";
import type { Sentence } from "./sentence.ts";
import { type Columns, formatKey, type Row, type RowOf, type Table } from "./table.ts";

/** The input of a fold: the event, its details from the call, and the rows that the rule requires. */
export type FoldInput<Args> = EmittedEvent<Args> & {
  readonly details: <T>(reader: DetailsReader<T>) => T;
  /** The row before this event; null if it does not exist. It must be one of the rule's required rows. */
  readonly find: <C extends Columns, K extends keyof C & string>(
    table: Table<C, K>,
    key: Pick<RowOf<C>, K>,
  ) => RowOf<C> | null;
};

/** A row that a fold reads. */
export type RequiredRow = { readonly table: Table; readonly keyText: string; readonly key: Row };

export type EventRule<Args> = {
  readonly requiredRows?: (event: EmittedEvent<Args>) => readonly RequiredRow[];
  readonly details?: DetailsReader<unknown>;
  /** Pure: the same event and rows give the same changes, which makes a rebuild possible. */
  readonly fold: (event: FoldInput<Args>) => readonly Change[];
  /** The terms are those of the intent that the event names, as far as they are known. */
  readonly explain: (event: EmittedEvent<Args>, terms: IntentTerms) => Sentence;
};

/** Amounts as decimal text. */
export type IntentTerms = Readonly<
  Record<"input_token" | "output_token" | "amount_in_max" | "amount_out_min", string | null>
>;

type EventRules<A extends Abi> = {
  readonly [Name in ContractEventName<A>]?: EventRule<ContractEventArgsFromTopics<A, Name>>;
};

/** A domain without the types of its events, as the indexer and the store use it. */
export type Domain = {
  readonly contract: string;
  readonly abi: Abi;
  /** Emitted by contracts that anyone may deploy, so that the emitter proves nothing. */
  readonly anyEmitter: boolean;
  readonly tables: readonly Table[];
  readonly events: Readonly<Record<string, EventRule<never>>>;
};

export function defineDomain<const A extends Abi>(declared: {
  contract: string;
  abi: A;
  anyEmitter?: boolean;
  tables: readonly Table[];
  events: EventRules<A>;
}): Domain {
  return {
    contract: declared.contract,
    abi: declared.abi,
    anyEmitter: declared.anyEmitter ?? false,
    tables: declared.tables,
    events: declared.events as Readonly<Record<string, EventRule<never>>>,
  };
}

export function requireRow<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  key: Pick<RowOf<C>, K>,
): RequiredRow {
  return { table, keyText: formatKey(table.key, key), key };
}
