// The table of remembered logs of wallets: deflated, one row for a wallet, chain and kind, within a number and a size.
import type { Hex } from "../../lib/hex.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { sql } from "../../schema/sql.ts";

// A hundred thousand wallets or so: most have three rows of a few kilobytes on one or two chains.
const ROWS_MAX = 250_000;
const BYTES_MAX = 512 * 1024 * 1024;
// The size of a row besides its logs.
const ROW_BYTES = 200;
/** Another search then finds what a node left out. */
export const REMEMBERED_HOURS_MAX = 24;
// The order of rows that no read used for days need not be exact: most reads write nothing.
const USED_HOURS = 1;
// A pass over all rows, some hundred milliseconds when the table is full.
const WRITES_PER_EVICTION = 200;

type WalletLogsRow = {
  readonly kind: string;
  readonly fromBlock: number;
  readonly toBlock: number;
  /** The hash of the last block. */
  readonly blockHash: Hex;
  readonly logs: Uint8Array;
  /** When the part that was read first was read. */
  readonly sinceMs: number;
};

/** `isUnmarked`: its last use is so long ago that this one is worth a write. */
type LoadedRow = WalletLogsRow & { readonly isUnmarked: boolean };

type WalletOnChain = { readonly wallet: Hex; readonly chainId: number };

export type WalletLogsTable = {
  load(owner: WalletOnChain): Promise<readonly LoadedRow[]>;
  /** Lets the rows of others go first. */
  markUsed(owner: WalletOnChain): Promise<void>;
  /** Replaces the row, unless another process has stored a later one meanwhile. */
  put(owner: WalletOnChain, row: WalletLogsRow): Promise<void>;
  forget(owner: WalletOnChain): Promise<void>;
  /** Deletes what no read would use, and beyond the limits what was not used for longest. */
  deleteUnused(): Promise<void>;
  deleteAll(): Promise<void>;
};

type StoredRow = {
  readonly kind: string;
  readonly from_block: string;
  readonly to_block: string;
  readonly block_hash: string;
  readonly logs: string;
  readonly since: string;
  readonly is_unmarked: boolean;
};

export function openWalletLogsTable(
  store: StatementRunner,
  { rowsMax = ROWS_MAX, bytesMax = BYTES_MAX, writesPerEviction = WRITES_PER_EVICTION } = {},
): WalletLogsTable {
  let writes = 0;
  return {
    async load({ wallet, chainId }) {
      const owner = sql`wallet = decode(${wallet.slice(2)}, 'hex') and chain_id = ${chainId}`;
      const rows = await store.run<StoredRow>(sql`
        select kind, from_block::text as from_block, to_block::text as to_block,
          encode(block_hash, 'hex') as block_hash, encode(logs, 'base64') as logs,
          floor(extract(epoch from read_at) * 1000)::bigint::text as since,
          used_at < now() - make_interval(hours => ${USED_HOURS}) as is_unmarked
        from wallet_logs where ${owner} and read_at > now() - make_interval(hours => ${REMEMBERED_HOURS_MAX})`);
      return rows.map((row) => ({
        kind: row.kind,
        fromBlock: Number(row.from_block),
        toBlock: Number(row.to_block),
        blockHash: `0x${row.block_hash}`,
        logs: Buffer.from(row.logs, "base64"),
        sinceMs: Number(row.since),
        isUnmarked: row.is_unmarked,
      }));
    },
    async markUsed({ wallet, chainId }) {
      await store.run(sql`
        update wallet_logs set used_at = now()
        where wallet = decode(${wallet.slice(2)}, 'hex') and chain_id = ${chainId}`);
    },
    async put({ wallet, chainId }, { kind, fromBlock, toBlock, blockHash, logs, sinceMs }) {
      await store.run(sql`
        insert into wallet_logs (wallet, chain_id, kind, from_block, to_block, block_hash, logs, read_at)
        values (decode(${wallet.slice(2)}, 'hex'), ${chainId}, ${kind}, ${fromBlock}, ${toBlock},
          decode(${blockHash.slice(2)}, 'hex'), decode(${Buffer.from(logs).toString("base64")}, 'base64'),
          least(now(), to_timestamp(${sinceMs}::double precision / 1000)))
        on conflict (wallet, chain_id, kind) do update
        set from_block = excluded.from_block, to_block = excluded.to_block, block_hash = excluded.block_hash,
          logs = excluded.logs, read_at = excluded.read_at, used_at = now()
        where excluded.to_block >= wallet_logs.to_block
          or wallet_logs.read_at <= now() - make_interval(hours => ${REMEMBERED_HOURS_MAX})`);
      writes += 1;
      if (writes % writesPerEviction === 1 % writesPerEviction) await deleteUnused();
    },
    async forget({ wallet, chainId }) {
      await store.run(sql`
        delete from wallet_logs where wallet = decode(${wallet.slice(2)}, 'hex') and chain_id = ${chainId}`);
    },
    deleteUnused,
    async deleteAll() {
      await store.run(sql`delete from wallet_logs`);
    },
  };

  async function deleteUnused(): Promise<void> {
    await store.run(sql`
      delete from wallet_logs where (wallet, chain_id, kind) in (
        select wallet, chain_id, kind from (
          select wallet, chain_id, kind, read_at, row_number() over used as place,
            sum(octet_length(logs) + ${ROW_BYTES}::int) over used as bytes
          from wallet_logs window used as (order by used_at desc, wallet, chain_id, kind)
        ) as ranked
        where place > ${rowsMax} or bytes > ${bytesMax}
          or read_at <= now() - make_interval(hours => ${REMEMBERED_HOURS_MAX}))`);
  }
}
