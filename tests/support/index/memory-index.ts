// The protocol's folds without a chain or a database: logs are made by hand, rows are kept in memory.

import { type EventSource, PROTOCOL_ABIS } from "@sextant/contracts/interface/protocol-abis";
import { type AbiEvent, encodeAbiParameters, encodeEventTopics } from "viem";
import type { Hex } from "../../../src/lib/hex.ts";
import type { Deployment } from "../../../src/protocol/deployment.ts";
import type { DetailReads } from "../../../src/protocol/details/chain-reads.ts";
import { tables } from "../../../src/protocol/domains.ts";
import { createProtocol, type Rows } from "../../../src/protocol/fold.ts";
import type { ChainLog } from "../../../src/schema/chain-log.ts";
import { keyText, type Row, type Table } from "../../../src/schema/table.ts";

/** The byte repeated to an address, and to a word. */
export const addressOf = (byte: string): Hex => `0x${byte.repeat(20)}`;
export const hashOf = (byte: string): Hex => `0x${byte.repeat(32)}`;
export const ZERO_ADDRESS = addressOf("00");
export const ZERO_HASH = hashOf("00");

export const DEPLOYMENT: Deployment = {
  network: "memory",
  chainId: 1,
  startBlock: 1,
  contracts: {
    AgentRegistry: addressOf("c1"),
    IntentBook: addressOf("c2"),
    PolicyModule: addressOf("c3"),
    AttestationRegistry: addressOf("c4"),
    SolverRegistry: addressOf("c5"),
    AttestorRegistry: addressOf("c6"),
    CommerceRegistry: addressOf("c7"),
    SettlementAdapter: addressOf("c8"),
  },
};

/** An account that somebody deployed; the deployment does not know it. */
export const ACCOUNT = addressOf("ac");

export type Place = {
  readonly block?: number;
  readonly timestamp?: number;
  readonly tx?: Hex;
  readonly index?: number;
  readonly emitter?: Hex;
  /** In place of the encoded arguments. */
  readonly data?: Hex;
};

const GENESIS = 1_767_225_600;

function eventOf(contract: EventSource, name: string): AbiEvent {
  const item = PROTOCOL_ABIS[contract].find((each) => each.type === "event" && each.name === name);
  if (item?.type !== "event") throw new Error(`${contract} has no event ${name}`);
  return item;
}

/** A log as the contract would emit it. Without a place, it stands alone in block 1. */
export function logOf(
  contract: EventSource,
  name: string,
  args: Readonly<Record<string, unknown>>,
  place: Place = {},
): ChainLog {
  const event = eventOf(contract, name);
  const plain = event.inputs.filter(({ indexed }) => !indexed);
  const topics = encodeEventTopics({ abi: [event], eventName: name, args: args as never }) as Hex[];
  const data = encodeAbiParameters(
    plain,
    plain.map((input) => args[input.name ?? ""]),
  );
  const { block = 1, index = 0 } = place;
  const address = contract === "PolicyAccount" ? ACCOUNT : DEPLOYMENT.contracts[contract];
  return {
    address: place.emitter ?? address,
    topics: topics.map((topic) => topic.toLowerCase() as Hex),
    data: place.data ?? data,
    blockNumber: block,
    blockHash: `0x${block.toString(16).padStart(64, "b")}`,
    blockTimestamp: place.timestamp ?? GENESIS + block,
    transactionHash: place.tx ?? `0x${(block * 1_000 + index).toString(16).padStart(64, "e")}`,
    transactionIndex: 0,
    logIndex: index,
  };
}

/** Events one after another, each in the next block unless it is placed. */
export class Story {
  readonly logs: ChainLog[] = [];

  say(contract: EventSource, name: string, args: Readonly<Record<string, unknown>>, place: Place = {}): this {
    const last = this.logs.at(-1);
    const block = place.block ?? (last?.blockNumber ?? 0) + 1;
    const index = last?.blockNumber === block ? last.logIndex + 1 : 0;
    this.logs.push(logOf(contract, name, args, { index, ...place, block }));
    return this;
  }

  rows(chain: MemoryChain = {}): Promise<MemoryRows> {
    return rowsAfter(this.logs, chain);
  }
}

export type MemoryChain = {
  readonly transactions?: Readonly<Record<Hex, { to: Hex | null; input: Hex }>>;
  /** Responses of view calls at the event's block by the called data; what is not here reverts, or was pruned. */
  readonly state?: Readonly<Record<Hex, Hex>>;
  /** The same at a later block; without it, as at the block. */
  readonly laterState?: Readonly<Record<Hex, Hex>>;
  /** Whether records changed since; without it no node says. */
  readonly changed?: boolean;
  readonly traces?: Readonly<Record<Hex, readonly { to: Hex; input: Hex }[]>>;
};

export type Asked = { transactions: Hex[]; calls: Hex[]; laterCalls: Hex[]; traces: Hex[] };

/** The reads of a chain that is written down, and what was asked of it. */
export function readsOf(chain: MemoryChain): DetailReads & { asked: Asked } {
  const asked: Asked = { transactions: [], calls: [], laterCalls: [], traces: [] };
  const known = <T>(from: Readonly<Record<Hex, T>> | undefined, hashes: readonly Hex[]) =>
    new Map(
      hashes.flatMap((hash) => {
        const value = from?.[hash];
        return value ? [[hash, value] as const] : [];
      }),
    );
  return {
    asked,
    async transactions(hashes) {
      asked.transactions.push(...hashes);
      return known(chain.transactions, hashes);
    },
    async callsAt(calls) {
      asked.calls.push(...calls.map(({ data }) => data));
      return calls.map(({ data }) => chain.state?.[data] ?? null);
    },
    async callsLater(calls) {
      asked.laterCalls.push(...calls.map(({ data }) => data));
      const results = calls.map(({ data }) => (chain.laterState ?? chain.state)?.[data] ?? null);
      return { at: { number: 1_000_000, hash: hashOf("1a") }, results };
    },
    async changes(queries) {
      return queries.map(() => chain.changed ?? null);
    },
    async traces(hashes) {
      asked.traces.push(...hashes);
      return known(chain.traces, hashes);
    },
  };
}

/** The rows after these logs, by table and key: folded all at once, which must give what one by one gives. */
async function rowsAfter(logs: readonly ChainLog[], chain: MemoryChain = {}): Promise<MemoryRows> {
  const together = new MemoryRows();
  const oneByOne = new MemoryRows();
  const protocol = createProtocol(DEPLOYMENT, readsOf(chain));
  const detailed = await protocol.detail(logs, new AbortController().signal);
  await protocol.fold(detailed, together.batch());
  for (const each of detailed) await protocol.fold([each], oneByOne.batch());
  const [left, right] = [together.toString(), oneByOne.toString()];
  if (left !== right) throw new Error(`one batch gives ${left}, but many give ${right}`);
  return together;
}

export class MemoryRows {
  readonly #tables = new Map<string, Map<string, Row>>(tables.map(({ name }) => [name, new Map()]));

  /** All rows of a table, in the order they came to be. */
  of(table: { readonly name: string }): Row[] {
    return [...this.#rows(table).values()];
  }

  /** The only row of a table. */
  one(table: { readonly name: string }): Row {
    const [row, ...others] = this.of(table);
    if (!row || others.length > 0) throw new Error(`${table.name} has ${others.length + (row ? 1 : 0)} rows`);
    return row;
  }

  /** As a batch of the store: only rows that were asked for can be looked at. */
  batch(): Rows {
    const loaded = new Set<string>();
    return {
      load: async (needs) => {
        for (const need of needs) loaded.add(`${need.table.name} ${need.keyText}`);
      },
      find: (table, key) => {
        if (!loaded.has(`${table.name} ${key}`)) throw new Error(`${table.name} ${key} was not asked for`);
        return this.#rows(table).get(key) ?? null;
      },
      change: (change, origin) => {
        const rows = this.#rows(change.table);
        const after = change.apply(rows.get(change.keyText) ?? null, origin);
        if (keyText(change.table.key, after) !== change.keyText) throw new Error("a change moved a row");
        refuseUnfit(change.table, after);
        rows.set(change.keyText, after);
      },
    };
  }

  toString(): string {
    const plain = [...this.#tables].map(([name, rows]) => [
      name,
      [...rows].sort(([a], [b]) => (a < b ? -1 : 1)),
    ]);
    return JSON.stringify(plain, (_, value) => (typeof value === "bigint" ? String(value) : value));
  }

  #rows({ name }: { readonly name: string }): Map<string, Row> {
    const rows = this.#tables.get(name);
    if (!rows) throw new Error(`there is no table ${name}`);
    return rows;
  }
}

/** What the database would refuse: a column without a value, or a value that is not of its kind. */
function refuseUnfit(table: Table, row: Row): void {
  for (const [name, column] of Object.entries(table.columns)) {
    const value = row[name];
    if (value === null && column.nullable) continue;
    if (value === undefined || value === null) throw new Error(`${table.name}.${name} has no value`);
    const back = column.fromSql(typeof value === "boolean" ? value : column.toSql(value));
    if (back !== value) throw new Error(`${table.name}.${name} can not hold ${String(value)}`);
    const { pattern } = column.json;
    const fits = typeof pattern !== "string" || new RegExp(pattern).test(String(value));
    if (!fits) throw new Error(`${table.name}.${name} is not as declared: ${String(value)}`);
  }
}
