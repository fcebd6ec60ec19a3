// A chain of events written by the real store into a real database, alongside the plain list that readers must end with.
import { createHash } from "node:crypto";
import fc from "fast-check";
import type { Hex } from "../../../src/lib/hex.ts";
import { intents } from "../../../src/protocol/domains/intents.ts";
import { tables } from "../../../src/protocol/domains.ts";
import type { BlockSummary, ChainLog } from "../../../src/schema/chain-log.ts";
import { upsert } from "../../../src/schema/change.ts";
import { ZERO_ADDRESS, ZERO_HASH } from "../../../src/schema/table.ts";
import type { Finality } from "../../../src/store/index/event-logs.ts";
import { claimSchema } from "../../../src/store/index/prepare.ts";
import { createRowTables } from "../../../src/store/index/row-tables.ts";
import { type ChangeRows, type IndexStore, openIndexStore } from "../../../src/store/index/store.ts";
import { acquireLock } from "../../../src/store/postgres/advisory-lock.ts";
import type { DatabaseConnection } from "../../../src/store/postgres/connection.ts";
import type { Database } from "../../../src/store/postgres/database.ts";
import { encodeProtocolLog, MEMORY_DEPLOYMENT, repeatAddressByte } from "../../support/index/memory-index.ts";
import { openTestDatabase } from "../../support/index/test-index.ts";

/** Who submits intents, in turn. */
export const OWNERS: readonly Hex[] = ["a1", "a2", "a3"].map(repeatAddressByte);

export type ChainEvent = {
  readonly id: string;
  readonly type: string;
  readonly block: number;
  readonly owner: Hex;
  readonly intent: string;
};

type ChainBlock = BlockSummary & {
  readonly events: readonly ChainEvent[];
  readonly logs: readonly ChainLog[];
};

const GENESIS_SECONDS = 1_767_225_600;
const FIRST: ChainBlock = {
  ...{ number: 0, hash: hashOf("genesis"), timestamp: GENESIS_SECONDS },
  ...{ events: [], logs: [] },
};

function hashOf(text: string): Hex {
  return `0x${createHash("sha256").update(text).digest("hex")}`;
}

/** The steps of the chain in property tests: it grows, it forks, and it returns to an earlier branch. */
export const CHAIN_STEPS = [
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("extend" as const),
      counts: fc.array(fc.constantFrom(0, 1, 1, 3), { minLength: 1, maxLength: 3 }),
      unsettled: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("rollback" as const), depth: fc.integer({ min: 1, max: 6 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("return" as const) }) },
] as const;

export class EventIndex {
  readonly database: Database;
  readonly connection: DatabaseConnection;
  readonly drop: () => Promise<void>;
  readonly #store: IndexStore;
  #branch: ChainBlock[] = [];
  /** The blocks that the last rollback removed, after the one that it went to. */
  #removed: { readonly after: ChainBlock; readonly blocks: readonly ChainBlock[] } | null = null;
  #finalized = 0;
  /** Numbers every block and intent, so that no two branches have the same. */
  #made = 0;
  /** The last long text as the data of a log: encoding it took a tenth of the tests of slow clients. */
  #encoded: { readonly text: string; readonly data: Hex } | null = null;

  private constructor(
    database: Database,
    connection: DatabaseConnection,
    store: IndexStore,
    drop: () => Promise<void>,
  ) {
    this.database = database;
    this.connection = connection;
    this.#store = store;
    this.drop = drop;
  }

  static async open(): Promise<EventIndex> {
    const { database, place, drop } = await openTestDatabase();
    const lock = await acquireLock(database, "events", { waitMs: 0 });
    if (!lock) throw new Error("the lock is taken");
    await claimSchema(database, MEMORY_DEPLOYMENT);
    await database.transaction((session) => createRowTables(session, tables));
    const store = openIndexStore(database, lock, [intents]);
    const index = new EventIndex(database, place.connection, store, async () => {
      await lock.release();
      await drop();
    });
    await index.reset();
    return index;
  }

  get head(): number {
    return this.#branch.at(-1)?.number ?? 0;
  }

  get finalized(): number {
    return this.#finalized;
  }

  /** Halfway between the finalized block and the head. */
  get safe(): number {
    return Math.floor((this.#finalized + this.head) / 2);
  }

  /** The events of the chain, in order. */
  events(upTo = this.head): readonly ChainEvent[] {
    return this.#branch.filter(({ number }) => number <= upTo).flatMap(({ events }) => events);
  }

  /** How far a reader must be. One who has read more before a reorg keeps what is still on the chain. */
  upTo(finality: Finality, complete: number): number {
    if (finality === "finalized") return this.#finalized;
    return finality === "instant" ? this.head : Math.max(this.safe, complete);
  }

  hashOf(number: number): Hex | undefined {
    return this.#branch.find((block) => block.number === number)?.hash;
  }

  /** Deletes everything and writes the first block. */
  async reset(): Promise<void> {
    // Not TRUNCATE: it locks one table after the other, and meets readers that hold them in another order.
    await this.database.query(
      `with emptied_logs as (delete from logs), emptied_blocks as (delete from blocks),
         emptied_checkpoint as (delete from checkpoint), emptied_intents as (delete from intents)
       delete from abandoned_blocks`,
    );
    this.#branch = [FIRST];
    this.#removed = null;
    this.#finalized = 0;
    await this.#write([FIRST]);
  }

  /** Writes blocks in one batch, each with so many events; all but the last `unsettled` of the chain become final. */
  async extend(eventCounts: readonly number[], unsettled = 1_000_000): Promise<void> {
    const blocks = eventCounts.map((count, index) => {
      this.#made += 1;
      const number = this.head + 1 + index;
      const hash = hashOf(`block ${this.#made}`);
      const block = { number, hash, timestamp: GENESIS_SECONDS + number };
      const emitted = Array.from({ length: count }, (_, at) => this.#emit(block, at));
      return {
        ...block,
        events: emitted.map(({ event }) => event),
        logs: emitted.map(({ log }) => log),
      };
    });
    this.#branch.push(...blocks);
    this.#finalized = Math.max(this.#finalized, this.head - unsettled, 0);
    await this.#write(blocks);
  }

  /** Writes a block with so many registrations of agents, whose metadata is this text. */
  async extendWithLargeEvents(count: number, metadataURI: string): Promise<void> {
    this.#made += 1;
    const number = this.head + 1;
    const block = { number, hash: hashOf(`block ${this.#made}`), timestamp: GENESIS_SECONDS + number };
    const data = this.#encodeText(metadataURI);
    const logs = Array.from({ length: count }, (_, index) => {
      const args = { agentId: BigInt(index + 1), owner: OWNERS[0], metadataURI: "" };
      const at = { block: number, timestamp: block.timestamp, index, data };
      return { ...encodeProtocolLog("AgentRegistry", "AgentRegistered", args, at), blockHash: block.hash };
    });
    const events = logs.map(({ logIndex }) => ({
      ...{ id: `${block.hash}-${logIndex}`, type: "AgentRegistered", block: number },
      ...{ owner: OWNERS[0] ?? "0x", intent: "" },
    }));
    const made = { ...block, events, logs };
    this.#branch.push(made);
    await this.#write([made]);
  }

  /** The data of a registration: its other arguments are topics. */
  #encodeText(text: string): Hex {
    if (this.#encoded?.text !== text) {
      const args = { agentId: 1n, owner: OWNERS[0], metadataURI: text };
      this.#encoded = { text, data: encodeProtocolLog("AgentRegistry", "AgentRegistered", args).data };
    }
    return this.#encoded.data;
  }

  /** Removes the newest blocks, as far as they are not final. */
  async rollback(depth: number): Promise<void> {
    const to = Math.max(this.#finalized, this.head - depth);
    const blocks = this.#branch.filter(({ number }) => number > to);
    this.#branch = this.#branch.filter(({ number }) => number <= to);
    const after = this.#branch.at(-1) ?? FIRST;
    if (blocks.length > 0) this.#removed = { after, blocks };
    await this.#store.rollback(after);
  }

  /** The chain is indexed again, and is another one with as many events from this block on, whatever was final. */
  async rewrite(fromBlock: number): Promise<void> {
    const [kept, replaced] = [true, false].map((isKept) =>
      this.#branch.filter(({ number }) => number > 0 && number < fromBlock === isKept),
    );
    const unsettled = this.head - this.#finalized;
    await this.reset();
    this.#branch.push(...(kept ?? []));
    await this.#write(kept ?? []);
    await this.extend(
      (replaced ?? []).map(({ events }) => events.length),
      unsettled,
    );
  }

  /** The branch that the last rollback removed is the chain again, block by block; unless it no longer fits. */
  async returnToRemoved(): Promise<void> {
    if (this.#removed === null) return;
    const { after, blocks } = this.#removed;
    if (after.number < this.#finalized || this.hashOf(after.number) !== after.hash) return;
    if (this.head > after.number) await this.rollback(this.head - after.number);
    this.#branch.push(...blocks);
    await this.#write(blocks);
  }

  #emit(block: BlockSummary, index: number): { readonly log: ChainLog; readonly event: ChainEvent } {
    this.#made += 1;
    const intent = this.#made;
    const owner = OWNERS[intent % OWNERS.length] ?? "0x";
    const at = { block: block.number, timestamp: block.timestamp, index: index * 2 };
    const isSubmitted = intent % 4 !== 0;
    const type = isSubmitted ? "IntentSubmitted" : "IntentCancelled";
    const args = isSubmitted ? { intentId: BigInt(intent), owner, nonce: 1n } : { intentId: BigInt(intent) };
    const log = { ...encodeProtocolLog("IntentBook", type, args, at), blockHash: block.hash };
    const event = {
      id: `${block.hash}-${index * 2}`,
      type,
      block: block.number,
      owner,
      intent: String(intent),
    };
    return { log, event };
  }

  async #write(blocks: readonly ChainBlock[]): Promise<void> {
    const tip = blocks.at(-1);
    if (!tip) return;
    const stored = blocks.map(({ number, hash, timestamp, events }) => ({
      number,
      hash,
      timestamp,
      logCount: events.length,
    }));
    const batch = {
      tip,
      blocks: stored,
      logs: blocks.flatMap(({ logs }) => logs).map((log) => ({ log, details: null })),
      finalized: this.#finalized,
      safe: this.safe,
    };
    const prepared = await this.#store.prepare(batch, foldIntents(blocks), null);
    await prepared.write();
  }
}

/**
 * Folds the owner of each intent, which filters by account need, also for an intent that is cancelled without having
 * been submitted.
 */
function foldIntents(blocks: readonly ChainBlock[]): ChangeRows {
  return async (rows) => {
    for (const { number, events } of blocks) {
      for (const { intent, owner } of events.filter(({ type }) => type.startsWith("Intent"))) {
        const row = upsert(intents, {
          ...{ intent_id: BigInt(intent), owner, status: "OPEN", selected_bid_id: null },
          ...{ selected_solver: null, submitted_at: 0n },
          ...{ intent_type: "", input_token: ZERO_ADDRESS, output_token: ZERO_ADDRESS, nonce: 1n },
          ...{ amount_in_max: 0n, amount_out_min: 0n, deadline: 0n, slippage_bps: 0 },
          ...{ intent_hash: ZERO_HASH, execution_target: ZERO_ADDRESS, data_hash: ZERO_HASH },
          ...{ required_attestation_subject: ZERO_HASH, required_attestation_schema: ZERO_HASH },
          metadata_uri_hash: ZERO_HASH,
        });
        rows.change(row, { block_number: BigInt(number), tx_hash: ZERO_HASH, log_index: 0 });
      }
    }
  };
}
