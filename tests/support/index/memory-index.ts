// The folds without a chain or a database: logs encoded by hand, rows in memory.
import { type EventSource, PROTOCOL_ABIS } from "@sextant/contracts/interface/protocol-abis";
import { type AbiEvent, encodeAbiParameters, encodeEventTopics } from "viem";
import type { Hex } from "../../../src/lib/hex.ts";
import type { Deployment } from "../../../src/protocol/deployment.ts";
import { createAddDetails, type DetailReads } from "../../../src/protocol/details/read-details.ts";
import { tables } from "../../../src/protocol/domains.ts";
import { type FoldRows, foldLogs } from "../../../src/protocol/fold.ts";
import type { ChainLog } from "../../../src/schema/chain-log.ts";
import { formatKey, type Row, type Table } from "../../../src/schema/table.ts";

/** The byte repeated to an address, and to a word. */
export const repeatAddressByte = (byte: string): Hex => `0x${byte.repeat(20)}`;
export const repeatHashByte = (byte: string): Hex => `0x${byte.repeat(32)}`;
export const MEMORY_ZERO_ADDRESS = repeatAddressByte("00");
export const MEMORY_ZERO_HASH = repeatHashByte("00");

export const MEMORY_DEPLOYMENT: Deployment = {
  network: "memory",
  chainId: 1,
  startBlock: 1,
  contracts: {
    AgentRegistry: repeatAddressByte("c1"),
    IntentBook: repeatAddressByte("c2"),
    PolicyModule: repeatAddressByte("c3"),
    AttestationRegistry: repeatAddressByte("c4"),
    SolverRegistry: repeatAddressByte("c5"),
    AttestorRegistry: repeatAddressByte("c6"),
    CommerceRegistry: repeatAddressByte("c7"),
    SettlementAdapter: repeatAddressByte("c8"),
  },
};

/** An account outside the deployment. */
export const MEMORY_ACCOUNT = repeatAddressByte("ac");

export type MemoryLogPosition = {
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

/** A log as the contract would emit it; by default alone in block 1. */
export function encodeProtocolLog(
  contract: EventSource,
  name: string,
  args: Readonly<Record<string, unknown>>,
  position: MemoryLogPosition = {},
): ChainLog {
  const event = eventOf(contract, name);
  const plain = event.inputs.filter(({ indexed }) => !indexed);
  const topics = encodeEventTopics({ abi: [event], eventName: name, args: args as never }) as Hex[];
  const data = encodeAbiParameters(
    plain,
    plain.map((input) => args[input.name ?? ""]),
  );
  const { block = 1, index = 0 } = position;
  const address = contract === "PolicyAccount" ? MEMORY_ACCOUNT : MEMORY_DEPLOYMENT.contracts[contract];
  return {
    address: position.emitter ?? address,
    topics: topics.map((topic) => topic.toLowerCase() as Hex),
    data: position.data ?? data,
    blockNumber: block,
    blockHash: `0x${block.toString(16).padStart(64, "b")}`,
    blockTimestamp: position.timestamp ?? GENESIS + block,
    transactionHash: position.tx ?? `0x${(block * 1_000 + index).toString(16).padStart(64, "e")}`,
    transactionIndex: 0,
    logIndex: index,
  };
}

/** A sequence of events, each in the next block unless positioned. */
export class LogSequence {
  readonly logs: ChainLog[] = [];

  append(
    contract: EventSource,
    name: string,
    args: Readonly<Record<string, unknown>>,
    position: MemoryLogPosition = {},
  ): this {
    const last = this.logs.at(-1);
    const block = position.block ?? (last?.blockNumber ?? 0) + 1;
    const index = last?.blockNumber === block ? last.logIndex + 1 : 0;
    this.logs.push(encodeProtocolLog(contract, name, args, { index, ...position, block }));
    return this;
  }

  rows(chain: MemoryChain = {}): Promise<MemoryRows> {
    return rowsAfter(this.logs, chain);
  }
}

export type MemoryChain = {
  readonly transactions?: Readonly<Record<Hex, { to: Hex | null; input: Hex }>>;
  /** Results of view calls at the event's block by calldata; a missing one reverts, or was pruned. */
  readonly state?: Readonly<Record<Hex, Hex>>;
  /** The same at a later block; without it, as at the block. */
  readonly laterState?: Readonly<Record<Hex, Hex>>;
  /** Whether records changed since; without it no node knows. */
  readonly changed?: boolean;
  readonly traces?: Readonly<Record<Hex, readonly { to: Hex; input: Hex }[]>>;
};

type RequestedReads = { transactions: Hex[]; calls: Hex[]; laterCalls: Hex[]; traces: Hex[] };

/** Reads of a fixed chain, which record what was requested. */
export function createMemoryReads(chain: MemoryChain): DetailReads & { requested: RequestedReads } {
  const requested: RequestedReads = { transactions: [], calls: [], laterCalls: [], traces: [] };
  const known = <T>(from: Readonly<Record<Hex, T>> | undefined, hashes: readonly Hex[]) =>
    new Map(
      hashes.flatMap((hash) => {
        const value = from?.[hash];
        return value ? [[hash, value] as const] : [];
      }),
    );
  return {
    requested,
    async readTransactions(hashes) {
      requested.transactions.push(...hashes);
      return known(chain.transactions, hashes);
    },
    async callAtBlocks(calls) {
      requested.calls.push(...calls.map(({ data }) => data));
      return calls.map(({ data }) => chain.state?.[data] ?? null);
    },
    async callAtLaterBlock(calls) {
      requested.laterCalls.push(...calls.map(({ data }) => data));
      const results = calls.map(({ data }) => (chain.laterState ?? chain.state)?.[data] ?? null);
      return { at: { number: 1_000_000, hash: repeatHashByte("1a") }, results };
    },
    async haveChanged(queries) {
      return queries.map(() => chain.changed ?? null);
    },
    async traceCalls(hashes) {
      requested.traces.push(...hashes);
      return known(chain.traces, hashes);
    },
  };
}

/** The rows after these logs: folded at once, which must equal folding one by one. */
async function rowsAfter(logs: readonly ChainLog[], chain: MemoryChain = {}): Promise<MemoryRows> {
  const together = new MemoryRows();
  const oneByOne = new MemoryRows();
  const addDetails = createAddDetails(MEMORY_DEPLOYMENT, createMemoryReads(chain));
  const detailed = await addDetails(logs, new AbortController().signal);
  await foldLogs(detailed, together.batch());
  for (const each of detailed) await foldLogs([each], oneByOne.batch());
  const [left, right] = [together.toString(), oneByOne.toString()];
  if (left !== right) throw new Error(`one batch gives ${left}, but many give ${right}`);
  return together;
}

export class MemoryRows {
  readonly #tables = new Map<string, Map<string, Row>>(tables.map(({ name }) => [name, new Map()]));

  /** All rows of a table, in order of creation. */
  of(table: { readonly name: string }): Row[] {
    return [...this.#rows(table).values()];
  }

  /** The only row of a table. */
  one(table: { readonly name: string }): Row {
    const [row, ...others] = this.of(table);
    if (!row || others.length > 0) throw new Error(`${table.name} has ${others.length + (row ? 1 : 0)} rows`);
    return row;
  }

  /** As a batch of the store: `find` sees only loaded rows. */
  batch(): FoldRows {
    const loaded = new Set<string>();
    return {
      load: async (needs) => {
        for (const need of needs) loaded.add(`${need.table.name} ${need.keyText}`);
      },
      find: (table, key) => {
        if (!loaded.has(`${table.name} ${key}`)) throw new Error(`${table.name} ${key} was not loaded`);
        return this.#rows(table).get(key) ?? null;
      },
      change: (change, origin) => {
        const rows = this.#rows(change.table);
        const after = change.apply(rows.get(change.keyText) ?? null, origin);
        if (formatKey(change.table.key, after) !== change.keyText) throw new Error("a change moved a row");
        assertStorable(change.table, after);
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

/** Throws for what the database would reject: a missing value, or one that the column cannot hold. */
function assertStorable(table: Table, row: Row): void {
  for (const [name, column] of Object.entries(table.columns)) {
    const value = row[name];
    if (value === null && column.nullable) continue;
    if (value === undefined || value === null) throw new Error(`${table.name}.${name} has no value`);
    const back = column.fromSql(typeof value === "boolean" || column.isHex ? value : column.toSql(value));
    if (back !== value) throw new Error(`${table.name}.${name} cannot hold ${String(value)}`);
    const { pattern } = column.json;
    const fits = typeof pattern !== "string" || new RegExp(pattern).test(String(value));
    if (!fits) throw new Error(`${table.name}.${name} is not as declared: ${String(value)}`);
  }
}
