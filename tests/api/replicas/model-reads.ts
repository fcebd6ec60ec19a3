// Requests of every kind of read, each with what the API must respond to it as of a block of the reference model.
import { BlockState, compareIds } from "../../reference-model/chain-branches.ts";
import type { PlainRow, ReadModel } from "../../reference-model/read-model.ts";
import { LIST_SHAPES } from "../record-shapes.ts";
import { intentStatus, listBids, listPolicies, RECORD_TABLES, toRecord } from "./model-records.ts";
import { countCommerce, countReputation, countTotals } from "./model-totals.ts";

type Plain = Readonly<Record<string, unknown>>;

export type ModelRead = {
  readonly path: string;
  /**
   * The body at the block; null if the response is 404. Values that only the service can know are taken from its body.
   */
  readonly expect: (state: BlockState, body: Plain) => unknown;
  /** For a list: the same read after the record with this id, and the cursor of the next page. */
  readonly after?: (last: string, cursor: string) => ModelRead;
  /** The key of a list's records, and of their ids. */
  readonly list?: { readonly key: string; readonly id: string };
  /** Whether `block=` reads it at any earlier block. */
  readonly isVersioned?: boolean;
  /** Events come without x-min-block. */
  readonly takesMinBlock?: boolean;
};

const PAGE = 8;
const EVENTS = 30;

/** The read as of an earlier block of the branch that the response names. */
export function readAt(read: ModelRead, block: number): ModelRead {
  const path = `${read.path}${read.path.includes("?") ? "&" : "?"}block=${block}`;
  return { path, expect: (state, body) => read.expect(new BlockState(state.ancestor(block)), body) };
}

function readRecord(table: string, id: string): ModelRead {
  const path = `${RECORD_TABLES[table]?.path}/${id}`;
  return {
    path,
    isVersioned: true,
    expect: (state) => {
      if (!state.model.has(table, BigInt(id))) return null;
      const record = toRecord(state, table, state.model.get(table, BigInt(id)));
      return table === "intents" ? { ...record, metadata: null } : record;
    },
  };
}

type ListRead = {
  readonly path: string;
  readonly table: string;
  /** With a leading `&`; empty for all records. */
  readonly filter?: string;
  readonly isWanted?: (row: PlainRow, state: BlockState) => boolean;
  /** The page begins after this id. */
  readonly last?: string;
  readonly cursor?: string;
};

function readList(given: ListRead): ModelRead {
  const { path, table, filter = "", isWanted = () => true, last, cursor } = given;
  const { id } = RECORD_TABLES[table] ?? { id: "" };
  const isDescending = LIST_SHAPES[path]?.newestFirst === true;
  return {
    path: `${path}?limit=${PAGE}${filter}${cursor === undefined ? "" : `&cursor=${cursor}`}`,
    isVersioned: true,
    list: { key: table, id },
    after: (next, nextCursor) => readList({ ...given, last: next, cursor: nextCursor }),
    expect: (state, body) => {
      const isAfter = (row: PlainRow) => {
        if (last === undefined) return true;
        const order = compareIds(String(row[id]), last);
        return isDescending ? order < 0 : order > 0;
      };
      const ascending = state.sorted(table, id);
      const ordered = isDescending ? ascending.toReversed() : ascending;
      const rows = ordered.filter((row) => isAfter(row) && isWanted(row, state));
      const records = rows.slice(0, PAGE).map((row) => toRecord(state, table, row));
      return { [table]: records, pagination: describePage(body, PAGE, records.length, rows.length) };
    },
  };
}

/** Cursors are opaque: the model only knows that there is one if there is more. */
function describePage(body: Plain, limit: number, count: number, found: number): Plain {
  const { next_cursor = "a cursor" } = (body.pagination ?? {}) as Plain;
  return { limit, offset: 0, count, ...(found > count && { next_cursor }) };
}

function readBids(id: string): ModelRead {
  return {
    path: `/intents/${id}/bids?limit=100`,
    isVersioned: true,
    expect: (state) => {
      if (!state.model.has("intents", BigInt(id))) return null;
      const bids = listBids(state, state.model.get("intents", BigInt(id)));
      return { bids, pagination: { limit: 100, offset: 0, count: bids.length } };
    },
  };
}

function readPolicies(account: string): ModelRead {
  return {
    path: `/accounts/${account}/policies?limit=100`,
    isVersioned: true,
    expect: (state) => {
      const policies = listPolicies(state, account);
      return { account, policies, pagination: { limit: 100, offset: 0, count: policies.length } };
    },
  };
}

/** A page may end early while there is more; what it has is the beginning of what there is. */
function readEvents(from: number): ModelRead {
  return {
    path: `/events?from=${from}&limit=${EVENTS}`,
    takesMinBlock: false,
    expect: (state, body) => {
      const shown = (body.events ?? []) as readonly Plain[];
      const all = state.path
        .filter(({ number }) => number >= from)
        .flatMap(({ hash, number, timestamp, events }) =>
          events.map((event) => ({
            id: `${hash}-${event.logIndex}`,
            type: event.event,
            contract: event.contract,
            address: event.address,
            tx_hash: event.transactionHash,
            log_index: event.logIndex,
            block_number: String(number),
            block_hash: hash,
            block_timestamp: String(timestamp),
          })),
        );
      const count = body.has_more === true ? Math.max(shown.length, 1) : all.length;
      const events = all.slice(0, count).map((event, at) => ({ ...shown[at], ...event }));
      const progress = { ...(body.progress as Plain), indexed_block: String(state.block.number) };
      return { ...body, undo: null, events, progress };
    },
  };
}

/** Some of the rows, the newest among them. */
function someRows(model: ReadModel, table: string): readonly PlainRow[] {
  const rows = model.rows(table);
  return [...rows.slice(0, 2), ...rows.slice(-4)];
}

const valuesOf = (model: ReadModel, table: string, column: string) => [
  ...new Set(someRows(model, table).map((row) => String(row[column]))),
];

function listFiltered(model: ReadModel): ModelRead[] {
  const equal = (path: string, table: string, parameter: string, column = parameter) =>
    valuesOf(model, table, column).map((value) =>
      readList({
        ...{ path, table, filter: `&${parameter}=${value}` },
        isWanted: (row) => String(row[column]) === value,
      }),
    );
  const statuses = ["OPEN", "FILLED", "CANCELLED", "EXPIRED"].map((status) =>
    readList({
      ...{ path: "/intents", table: "intents", filter: `&status=${status.toLowerCase()}` },
      isWanted: (row, state) => intentStatus(state, row) === status,
    }),
  );
  return [
    ...statuses,
    ...equal("/agents", "agents", "owner"),
    ...equal("/directory/agents", "agents", "revoked"),
    ...equal("/intents", "intents", "owner"),
    ...equal("/receipts", "receipts", "merchant_id"),
    ...equal("/receipts", "receipts", "token"),
    ...equal("/attestations", "attestations", "attester"),
    ...equal("/merchants", "merchants", "active"),
    ...equal("/services", "services", "merchant_id"),
    ...equal("/trust-signals", "trust_signals", "subject_id"),
  ];
}

/** Requests for what the model has, and for some that it does not have. `head` is a block that clients have seen. */
export function listModelReads(model: ReadModel, head: number): readonly ModelRead[] {
  const records = Object.entries(RECORD_TABLES)
    .filter(([table]) => table !== "trust_signals")
    .flatMap(([table, { id }]) => {
      const ids = someRows(model, table).map((row) => String(row[id]));
      const next = String(Math.max(0, ...model.rows(table).map((row) => Number(row[id]))) + 1);
      return [...new Set([...ids, next])].map((each) => readRecord(table, each));
    });
  const lists = Object.entries(LIST_SHAPES).map(([path, { key }]) => readList({ path, table: key }));
  const merchants = valuesOf(model, "merchants", "merchant_id");
  return [
    ...records,
    ...lists,
    ...listFiltered(model),
    ...valuesOf(model, "bids", "intent_id").map(readBids),
    ...valuesOf(model, "policies", "account").map(readPolicies),
    ...merchants.map((id) => ({ ...countReputation(id), isVersioned: true })),
    ...[countTotals, countCommerce],
    ...[25, 40, 90].map((back) => readEvents(Math.max(1, head - back))),
  ];
}
