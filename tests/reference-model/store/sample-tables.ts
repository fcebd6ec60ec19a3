// Tables of every kind with changes encoded in logs, to test the store without the protocol.
import type { Hex } from "../../../src/lib/hex.ts";
import type { ChainLog } from "../../../src/schema/chain-log.ts";
import { addAmounts, type Change, insert, update, upsert } from "../../../src/schema/change.ts";
import {
  address,
  bool,
  bytes,
  int257,
  orNull,
  uint16,
  uint63,
  uint256,
  unboundedText,
} from "../../../src/schema/column.ts";
import { requireRow } from "../../../src/schema/domain.ts";
import { defineRollup, defineTable, formatKey, type Row, type Table } from "../../../src/schema/table.ts";
import type { RebuildOptions } from "../../../src/store/index/rebuild.ts";

export type SampleVerb = "insert" | "put" | "update" | "add";

/** One change of one row: its table, one of a few keys, and a number that its values derive from. */
export type SampleChange = {
  readonly table: number;
  readonly verb: SampleVerb;
  readonly key: number;
  readonly value: number;
  /** Whether the fold reads the row first. */
  readonly looks: boolean;
};

type SampleTable = {
  readonly table: Table;
  readonly counts: boolean;
  readonly key: (key: number) => Row;
  /** All columns except the key; for a rollup, the amounts to add. */
  readonly values: (value: number) => Row;
  /** Some of them, for an update. */
  readonly fields: (value: number) => Row;
};

const UINT256_MAX = 2n ** 256n - 1n;
// Values that are hard for COPY, arrays and text columns.
const NAMES = [
  "",
  "plain",
  "tab\tline\nreturn\r",
  "back\\slash \\N \\.",
  '{"quotes",\'}',
  "Ünïcode 🧭 \u2028",
  "NULL",
];

const addressOf = (number: number): Hex => `0x${number.toString(16).padStart(40, "0")}`;
const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, "f")}`;
const nameOf = (value: number): string => NAMES[value % NAMES.length] ?? "";

// Unknown, empty and full are three values.
const PROOFS: readonly ((value: number) => Hex | null)[] = [() => null, () => "0x", hashOf];

const accountValues = (value: number): Row => ({
  name: nameOf(value),
  balance: value % 5 === 0 ? UINT256_MAX : BigInt(value),
  note: value % 3 === 0 ? null : nameOf(value + 1),
  open: value % 2 === 0,
});

const accountColumns = {
  id: uint256,
  name: unboundedText,
  balance: uint256,
  note: orNull(unboundedText),
  open: bool,
};
const grantColumns = {
  owner: address,
  kind: uint16,
  amount: orNull(int257),
  since: uint63,
  proof: orNull(bytes),
};
const tallyColumns = { who: unboundedText, day: uint63, times: uint63, volume: int257 };

const accountKey = (key: number): Row => ({ id: key === 0 ? UINT256_MAX : BigInt(key) });

/** Full and recent history, keys of one and of several columns, nullable columns, counters. */
export const SAMPLE_DECLARATIONS: readonly SampleTable[] = [
  {
    table: defineTable("accounts", accountColumns, { key: ["id"], index: [["open", "id"]] }),
    counts: false,
    key: accountKey,
    values: accountValues,
    fields: (value) => (value % 2 === 0 ? { note: null } : { name: nameOf(value), open: value % 3 === 0 }),
  },
  {
    table: defineTable("grants", grantColumns, { key: ["owner", "kind"] }),
    counts: false,
    key: (key) => ({ owner: addressOf(key % 2), kind: key >> 1 }),
    values: (value) => ({
      amount: value % 4 === 0 ? null : -BigInt(value),
      since: BigInt(value),
      proof: PROOFS[value % 3]?.(value) ?? null,
    }),
    fields: (value) => ({ amount: value % 2 === 0 ? null : UINT256_MAX - BigInt(value) }),
  },
  {
    table: { ...defineTable("sightings", accountColumns, { key: ["id"] }), history: "recent" },
    counts: false,
    key: accountKey,
    values: accountValues,
    fields: (value) => ({ balance: BigInt(value), note: value % 2 === 0 ? null : nameOf(value) }),
  },
  {
    table: defineRollup("tallies", tallyColumns, { key: ["who", "day"], history: "full" }),
    counts: true,
    key: (key) => ({ who: nameOf(key), day: BigInt(key) }),
    values: (value) => ({ times: BigInt(value % 4), volume: BigInt(value % 4) * 1000n }),
    fields: () => ({}),
  },
  {
    table: defineRollup("recent_tallies", tallyColumns, { key: ["who", "day"] }),
    counts: true,
    key: (key) => ({ who: nameOf(key), day: BigInt(key) }),
    values: (value) => ({ times: BigInt(value % 4), volume: BigInt(value % 4) * 1000n }),
    fields: () => ({}),
  },
];

export const SAMPLE_TABLES: readonly Table[] = SAMPLE_DECLARATIONS.map((sample) => sample.table);

export function sampleTableOf(act: Pick<SampleChange, "table">): SampleTable {
  const sample = SAMPLE_DECLARATIONS[act.table];
  if (!sample) throw new Error(`there is no sample table ${act.table}`);
  return sample;
}

function changeOf(act: SampleChange): Change {
  const sample = sampleTableOf(act);
  const target = sample.table as Table<never, never>;
  const key = sample.key(act.key);
  const row = { ...key, ...sample.values(act.value) };
  const making: Readonly<Record<SampleVerb, () => Change>> = {
    insert: () => insert(target, row as never),
    put: () => upsert(target, row as never),
    update: () => update(target, key as never, sample.fields(act.value) as never),
    add: () => addAmounts(target, key as never, sample.values(act.value) as never),
  };
  return making[act.verb]();
}

/** A log that encodes the change, so that the rows can be rebuilt from the stored logs. */
export function encodeSampleLog(
  act: SampleChange,
  place: { readonly block: number; readonly blockHash: Hex; readonly index: number },
): ChainLog {
  return {
    address: addressOf(act.table + 1),
    topics: [hashOf(act.key)],
    data: `0x${Buffer.from(JSON.stringify(act)).toString("hex")}`,
    blockNumber: place.block,
    blockHash: place.blockHash,
    blockTimestamp: 1_700_000_000 + place.block,
    transactionHash: hashOf(place.block * 1000 + place.index),
    transactionIndex: place.index,
    logIndex: place.index,
  };
}

function actOf(log: ChainLog): SampleChange {
  return JSON.parse(Buffer.from(log.data.slice(2), "hex").toString("utf8")) as SampleChange;
}

/** Applies the changes in the logs; calls `onRow` with every row that is read, before it changes. */
export function createSampleFold(onRow: (row: Row | null) => void = () => undefined): RebuildOptions["fold"] {
  return async (logs, rows) => {
    const acts = logs.map(({ log }) => ({ log, act: actOf(log) }));
    const looking = acts.filter(({ act }) => act.looks);
    await rows.load(
      looking.map(({ act }) => requireRow(sampleTableOf(act).table, sampleTableOf(act).key(act.key))),
    );
    for (const { log, act } of acts) {
      const { table: target, key } = sampleTableOf(act);
      if (act.looks) onRow(rows.find(target, formatKey(target.key, key(act.key))));
      rows.change(changeOf(act), {
        block_number: BigInt(log.blockNumber),
        tx_hash: log.transactionHash,
        log_index: log.logIndex,
      });
    }
  };
}
