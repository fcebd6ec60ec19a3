// An index written by the real store and the real folds, block by block from events that a test lists.
import { createHash } from "node:crypto";
import type { EventRowsLimits } from "../../../src/api/events/event-rows.ts";
import { createEventReader, type ReadEvents } from "../../../src/api/events/read-events.ts";
import type { Hex } from "../../../src/lib/hex.ts";
import { tables } from "../../../src/protocol/domains.ts";
import { createStoredLogsFold } from "../../../src/protocol/fold.ts";
import type { RunRead } from "../../../src/schema/reads/read.ts";
import { openPipelinedReader } from "../../../src/store/fast/pipelined-reader.ts";
import { claimSchema, readDeploymentIdentity } from "../../../src/store/index/prepare.ts";
import { openIndexReader } from "../../../src/store/index/reader.ts";
import { createRowIndexes, createRowTables } from "../../../src/store/index/row-tables.ts";
import { type IndexStore, openIndexStore } from "../../../src/store/index/store.ts";
import { acquireLock } from "../../../src/store/postgres/advisory-lock.ts";
import type { Database } from "../../../src/store/postgres/database.ts";
import {
  encodeProtocolLog,
  MEMORY_DEPLOYMENT,
  repeatAddressByte,
  repeatHashByte,
} from "../../support/index/memory-index.ts";
import { openTestDatabase } from "../../support/index/test-index.ts";

type SolverEvent = { readonly name: string; readonly args: Readonly<Record<string, unknown>> };

/** Events of solvers: they need no details, and one text has any length. */
export const registered = (solverId: number, metadataURI = ""): SolverEvent => ({
  name: "SolverRegistered",
  args: {
    ...{ solverId: BigInt(solverId), operator: repeatAddressByte("a1"), metadataURI },
    ...{ capabilitiesHash: repeatHashByte("ca"), bond: 0n },
  },
});
export const bonded = (solverId: number, bond: number): SolverEvent => ({
  name: "SolverBondChanged",
  args: { solverId: BigInt(solverId), bond: BigInt(bond) },
});

const GENESIS_SECONDS = 1_767_225_600;
const fold = createStoredLogsFold(MEMORY_DEPLOYMENT);

export class FoldedIndex {
  readonly database: Database;
  readonly close: () => Promise<void>;
  /** Counts the statements that readers send. */
  statements = 0;
  /** Called before each of them, with its text. */
  beforeStatement: (text: string) => Promise<void> = async () => undefined;
  readonly #store: IndexStore;
  readonly #run: RunRead;
  readonly #branch: { readonly number: number; readonly hash: Hex; readonly timestamp: number }[] = [];
  #made = 0;

  private constructor(database: Database, store: IndexStore, close: () => Promise<void>) {
    this.database = database;
    this.#store = store;
    const pipelined = openPipelinedReader(database);
    const { read } = openIndexReader({ quick: pipelined, slow: pipelined });
    this.#run = async (statement, use) => {
      this.statements += 1;
      await this.beforeStatement(statement.sql.text);
      return read(statement, use);
    };
    this.close = async () => {
      await pipelined.close();
      await close();
    };
  }

  static async open(): Promise<FoldedIndex> {
    const { database, drop } = await openTestDatabase();
    const lock = await acquireLock(database, "rows", { waitMs: 0 });
    if (!lock) throw new Error("the lock is taken");
    await claimSchema(database, MEMORY_DEPLOYMENT);
    await lock.transaction(async (session) => {
      await createRowTables(session, tables);
      await createRowIndexes(session, tables);
    });
    const store = openIndexStore(database, lock, tables);
    const index = new FoldedIndex(database, store, async () => {
      await lock.release();
      await drop();
    });
    return index;
  }

  /** Deletes everything and writes an empty first block. */
  async reset(): Promise<void> {
    const names = ["logs", "blocks", "checkpoint", "abandoned_blocks", ...tables.map(({ name }) => name)];
    // Not TRUNCATE, which makes new files of all tables and their indexes: most of them are empty.
    await this.database.query(names.map((name) => `delete from ${name}`).join("; "));
    this.#branch.length = 0;
    await this.extend([]);
  }

  openReader(rowsLimits: Partial<EventRowsLimits> = {}): ReadEvents {
    const readDeployment = () => readDeploymentIdentity(this.database);
    return createEventReader({ run: this.#run, readDeployment, rowsLimits });
  }

  /** Writes a block with these events. */
  async extend(events: readonly SolverEvent[]): Promise<void> {
    this.#made += 1;
    const number = this.#branch.length;
    const hash: Hex = `0x${createHash("sha256").update(`block ${this.#made}`).digest("hex")}`;
    const tip = { number, hash, timestamp: GENESIS_SECONDS + number };
    const logs = events.map(({ name, args }, index) => ({
      log: {
        ...encodeProtocolLog("SolverRegistry", name, args, {
          block: number,
          index,
          timestamp: tip.timestamp,
        }),
        blockHash: hash,
      },
      details: null,
    }));
    this.#branch.push(tip);
    const blocks = [{ ...tip, logCount: logs.length }];
    const batch = { tip, blocks, logs, finalized: 0 };
    const prepared = await this.#store.prepare(batch, (rows) => fold(logs, rows), null);
    await prepared.write();
  }

  /** Removes the newest blocks. */
  async rollback(depth: number): Promise<void> {
    this.#branch.length -= depth;
    const tip = this.#branch.at(-1);
    if (!tip) throw new Error("the first block stays");
    await this.#store.rollback(tip);
  }
}
