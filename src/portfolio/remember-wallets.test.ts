// Remembered logs of wallets on a real database: another process searches only what is new, and nothing false outlives a disagreement.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { openFailingChain } from "../../tests/support/chain/recorded-chain.ts";
import { createTestDatabase, type TestDatabase } from "../../tests/support/database/test-database.ts";
import {
  makeChainConfig,
  numberedContract,
  TEST_WALLET,
} from "../../tests/support/portfolio/portfolio-parts.ts";
import { silentLog } from "../../tests/support/quiet-log.ts";
import type { Hex } from "../lib/hex.ts";
import { type Database, openDatabase } from "../store/postgres/database.ts";
import { migrate } from "../store/postgres/migrate.ts";
import { migrations } from "../store/postgres/migrations.ts";
import { openRecordStore } from "../store/postgres/record-store.ts";
import { openWalletLogsTable, type WalletLogsTable } from "../store/postgres/wallet-logs.ts";
import { findRememberedLogs } from "./log-memory.ts";
import { openRememberedWallets } from "./remember-wallets.ts";
import type { PinnedChain, PortfolioChain, TransferLog } from "./types.ts";

/** A block is final when 360 more have been made, and reads within 60 blocks write nothing. */
const CHAIN = { ...makeChainConfig("base", 8453), blockTimeMs: 10_000 };
const { signal } = new AbortController();
const OTHER: Hex = `0x${"cd".repeat(20)}`;

let server: TestDatabase;
let database: Database;
let statements: number;
let table: WalletLogsTable;

beforeAll(async () => {
  server = await createTestDatabase();
  const options = { schema: "memory", poolMax: 2, log: silentLog, applicationName: "test" };
  database = await openDatabase({ connection: server.connection, ...options });
  await migrate(database, migrations, silentLog);
});

beforeEach(async () => {
  await database.query("truncate wallet_logs");
  statements = 0;
  const records = openRecordStore(database);
  const run: typeof records.run = (statement) => {
    // A start deletes what is old.
    if (!statement.text.includes("row_number")) statements += 1;
    return records.run(statement);
  };
  table = openWalletLogsTable({ run });
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

const logAt = (blockNumber: number, changes: Partial<TransferLog> = {}): TransferLog => ({
  ...{ contract: numberedContract(1), from: TEST_WALLET, to: OTHER, transactionHash: "0x12", blockNumber },
  ...{ blockTimestamp: null, logIndex: 0, amount: 10n ** 30n, isErc721: false, tokenId: null },
  ...changes,
});

type Node = {
  readonly head: number;
  readonly logs: readonly TransferLog[];
  /** The first digits of all its block hashes; null cannot show headers. */
  readonly fork?: string | null;
};

/** Another process: searches what a wallet sent, and returns what it found and which ranges it asked for. */
async function search(
  { head, logs, fork = "aa" }: Node,
  { wallet = TEST_WALLET, block }: { readonly wallet?: Hex; readonly block?: number } = {},
) {
  const asked: (readonly [number, number])[] = [];
  const hashOf = (number: number): Hex => `0x${fork}${number.toString(16).padStart(62, "0")}`;
  const at: PinnedChain = {
    ...openFailingChain({ chain: CHAIN, calls: [] }),
    block: { number: head, hash: hashOf(head), timestamp: 1_700_000_000 },
    asOf: block !== undefined,
    async blockHash(number) {
      if (fork === null) throw new Error("no headers");
      return hashOf(number);
    },
  };
  const access = { chain: CHAIN, pin: async () => at } as unknown as PortfolioChain;
  const remembered = openRememberedWallets(table, { enabled: true, log: silentLog });
  const pinned = await remembered.remember(access).pin(signal, block, wallet);
  const readRange = async ({ fromBlock, toBlock }: { fromBlock: number; toBlock: number }) => {
    asked.push([fromBlock, toBlock]);
    return logs.filter(({ blockNumber }) => blockNumber >= fromBlock && blockNumber <= toBlock);
  };
  const found = await findRememberedLogs(pinned, { wallet, kind: "from", readRange }, signal);
  await remembered.close();
  return { found: found?.logs, asked };
}

const countRows = async () => (await database.query("select 1 from wallet_logs")).rows.length;

describe("logs of a wallet in the database", () => {
  it("another process returns the same and asks only for blocks that are new or not final", async () => {
    const nft = logAt(50, { amount: null, isErc721: true, tokenId: 7n, logIndex: 3 });
    const logs = [logAt(3, { contract: null }), nft, logAt(900)];
    const first = await search({ head: 1_000, logs });
    expect(first).toEqual({ found: logs, asked: [[0, 1_000]] });
    logs.push(logAt(1_100));
    expect(await search({ head: 1_200, logs })).toEqual({ found: logs, asked: [[641, 1_200]] });
    expect(await search({ head: 1_201, logs })).toEqual({ found: logs, asked: [[841, 1_201]] });
    expect(await countRows()).toBe(1);
  });

  it("reads within minutes write nothing", async () => {
    await search({ head: 1_000, logs: [] });
    const before = statements;
    await search({ head: 1_060, logs: [] });
    expect(statements - before).toBe(1);
    await search({ head: 1_061, logs: [] });
    expect(statements - before).toBe(3);
  });

  it("a node with another block there gets everything searched, and the false memory is gone", async () => {
    const lie = [logAt(5), logAt(7)];
    await search({ head: 1_000, logs: lie, fork: "bb" });
    const honest = { head: 1_000, logs: [logAt(6)] };
    const { found, asked } = await search(honest);
    expect(found).toEqual(honest.logs);
    expect(asked.at(-1)).toEqual([0, 1_000]);
    expect(await search(honest)).toEqual({ found: honest.logs, asked: [[641, 1_000]] });
    // The other node again: what the honest one showed is not true there either.
    expect((await search({ head: 1_000, logs: lie, fork: "bb" })).found).toEqual(lie);
  });

  it("a node that shows no block uses no memory and deletes none", async () => {
    await search({ head: 1_000, logs: [logAt(5)] });
    expect((await search({ head: 1_000, logs: [], fork: null })).found).toEqual([]);
    expect((await search({ head: 1_000, logs: [] })).found).toEqual([logAt(5)]);
  });

  it("remembers nothing as of a block, of blocks that are not final, and after a day", async () => {
    await search({ head: 1_000, logs: [] }, { block: 1_000 });
    await search({ head: 300, logs: [] });
    expect(await countRows()).toBe(0);
    await search({ head: 1_000, logs: [] });
    await database.query("update wallet_logs set read_at = now() - interval '25 hours'");
    expect(await search({ head: 1_000, logs: [logAt(8)] })).toEqual({
      ...{ found: [logAt(8)], asked: [[0, 1_000]] },
    });
    expect((await search({ head: 1_000, logs: [] })).found).toEqual([logAt(8)]);
  });

  it("keeps wallets apart, and forgets one by a statement", async () => {
    await search({ head: 1_000, logs: [logAt(5)] });
    expect((await search({ head: 1_000, logs: [] }, { wallet: OTHER })).found).toEqual([]);
    await database.query(`delete from wallet_logs where wallet = '\\x${TEST_WALLET.slice(2)}'`);
    expect((await search({ head: 1_000, logs: [] })).asked).toEqual([[0, 1_000]]);
    expect((await search({ head: 1_000, logs: [] }, { wallet: OTHER })).asked).toEqual([[641, 1_000]]);
  });

  it("reads everything if the database does not respond, or has a damaged row", async () => {
    const logs = [logAt(5)];
    await search({ head: 1_000, logs });
    await database.query("update wallet_logs set logs = '\\x00'");
    expect(await search({ head: 1_000, logs })).toEqual({ found: logs, asked: [[0, 1_000]] });
    const gone = () => Promise.reject(new Error("gone"));
    table = { load: gone, put: gone, forget: gone, markUsed: gone, deleteUnused: gone, deleteAll: gone };
    expect(await search({ head: 1_000, logs })).toEqual({ found: logs, asked: [[0, 1_000]] });
    table = { ...table, load: () => new Promise(() => {}) };
    expect(await search({ head: 1_000, logs })).toEqual({ found: logs, asked: [[0, 1_000]] });
  });

  it("is used by a database that cannot be written", async () => {
    await search({ head: 1_000, logs: [] });
    await database.query("update wallet_logs set used_at = used_at - interval '2 hours'");
    const full = () => Promise.reject(new Error("no space left"));
    table = { ...table, put: full, forget: full, markUsed: full };
    expect((await search({ head: 1_000, logs: [] })).asked).toEqual([[641, 1_000]]);
  });

  it("stores no logs that someone else has filled with zeros", async () => {
    const zeros = `0x${"00".repeat(10_000)}` as Hex;
    const logs = Array.from({ length: 240 }, (_, block) => logAt(block, { transactionHash: zeros }));
    await search({ head: 1_000, logs });
    expect(await countRows()).toBe(0);
  });

  it("replaces what a node with a wrong head has shown", async () => {
    await search({ head: 9_000_000, logs: [] });
    await search({ head: 1_000, logs: [logAt(5)] });
    expect(await search({ head: 1_000, logs: [] })).toEqual({ found: [logAt(5)], asked: [[641, 1_000]] });
  });

  it("a start deletes what is older than a day, and everything if the setting is off", async () => {
    const start = (enabled: boolean) => openRememberedWallets(table, { enabled, log: silentLog }).close();
    await search({ head: 1_000, logs: [] });
    await database.query("update wallet_logs set read_at = read_at - interval '25 hours'");
    await search({ head: 1_000, logs: [] }, { wallet: OTHER });
    expect(await countRows()).toBe(1);
    await start(true);
    expect(await countRows()).toBe(1);
    await start(false);
    expect(await countRows()).toBe(0);
  });

  it("deletes what is older than a day each hour, also if no wallet is read", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const remembered = openRememberedWallets(table, { enabled: true, log: silentLog });
    await search({ head: 1_000, logs: [] });
    await database.query("update wallet_logs set read_at = read_at - interval '25 hours'");
    vi.advanceTimersByTime(3_600_000);
    await remembered.close();
    expect(await countRows()).toBe(0);
  });

  it("tries to delete what is too much once for many writes, also if that fails", async () => {
    let evictions = 0;
    const records = openRecordStore(database);
    const run: typeof records.run = (statement) => {
      if (!statement.text.includes("row_number")) return records.run(statement);
      evictions += 1;
      return Promise.reject(new Error("too slow"));
    };
    table = openWalletLogsTable({ run }, { writesPerEviction: 3 });
    for (const digits of ["01", "02", "03", "04"]) {
      await search({ head: 1_000, logs: [] }, { wallet: `0x${digits.repeat(20)}` });
    }
    // Each of the four starts tries too.
    expect(evictions).toBe(4 + 2);
    expect(await countRows()).toBe(4);
  });

  it.each([
    ["rows", { rowsMax: 2, bytesMax: 1_000_000, writesPerEviction: 1 }],
    ["bytes", { rowsMax: 1_000, bytesMax: 500, writesPerEviction: 1 }],
  ])("beyond so many %s what was used longest ago goes", async (_, limits) => {
    table = openWalletLogsTable(openRecordStore(database), limits);
    for (const digits of ["01", "02", "03"]) {
      await search({ head: 1_000, logs: [] }, { wallet: `0x${digits.repeat(20)}` });
      await database.query("update wallet_logs set used_at = used_at - interval '2 hours'");
      // Renewed by its use.
      await search({ head: 1_000, logs: [] }, { wallet: `0x${"01".repeat(20)}` });
    }
    const { rows } = await database.query<{ wallet: string }>(
      "select encode(wallet, 'hex') as wallet from wallet_logs order by wallet",
    );
    expect(rows.map(({ wallet }) => wallet.slice(0, 2))).toEqual(["01", "03"]);
  });
});
