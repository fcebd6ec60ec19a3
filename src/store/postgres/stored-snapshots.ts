// The table of stored snapshots: deflated figures under a wallet and their hash, for a limited time and number.
import type { Hex } from "../../lib/hex.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { sql } from "../../schema/sql.ts";

// A quarter of a year: longer differences can name blocks instead.
const DAYS_MAX = 90;
// Bounds what one wallet can fill. Anyone may buy snapshots of any wallet: with a price of a cent, to push out those of
// others costs a hundred dollars.
const PER_WALLET_MAX = 10_000;
// Bounds what requests without a settled payment can fill: many more than are in progress at a time.
const UNSOLD_PER_WALLET_MAX = 1_000;
// A payment whose outcome is unknown is settled within minutes, or never.
const UNSOLD_DAYS_MAX = 1;
// The most rows that one write removes, so that it stays short.
const EXPIRED_PER_WRITE = 100;

type TableLimits = { readonly perWalletMax?: number; readonly unsoldPerWalletMax?: number };

/** Ids are 64 hex digits. */
export type SnapshotTable = {
  /** Stores figures that are not paid for yet. */
  put(wallet: Hex, id: string, figures: Uint8Array): Promise<void>;
  /** Makes them readable; again, it renews their time. */
  markSold(wallet: Hex, id: string): Promise<void>;
  /** Null for an id that is unknown, expired or not paid for. */
  get(wallet: Hex, id: string): Promise<Uint8Array | null>;
};

export function openSnapshotTable(
  store: StatementRunner,
  { perWalletMax = PER_WALLET_MAX, unsoldPerWalletMax = UNSOLD_PER_WALLET_MAX }: TableLimits = {},
): SnapshotTable {
  return {
    async put(wallet, id, figures) {
      const owner = wallet.slice(2);
      await store.run(sql`
        insert into stored_snapshots (wallet, id, figures, sold)
        values (decode(${owner}, 'hex'), decode(${id}, 'hex'), decode(${base64(figures)}, 'base64'), false)
        on conflict (wallet, id) do update set stored_at = now() where not stored_snapshots.sold`);
      await store.run(sql`
        delete from stored_snapshots where not sold and (wallet, id) in (
          (select wallet, id from stored_snapshots where wallet = decode(${owner}, 'hex') and not sold
           order by stored_at desc, id offset ${unsoldPerWalletMax})
          union all
          (select wallet, id from stored_snapshots
           where not sold and stored_at < now() - make_interval(days => ${UNSOLD_DAYS_MAX})
           order by stored_at limit ${EXPIRED_PER_WRITE}))`);
    },
    async markSold(wallet, id) {
      const owner = wallet.slice(2);
      await store.run(sql`
        update stored_snapshots set sold = true, stored_at = now()
        where wallet = decode(${owner}, 'hex') and id = decode(${id}, 'hex')`);
      await store.run(sql`
        delete from stored_snapshots where (wallet, id) in (
          (select wallet, id from stored_snapshots where wallet = decode(${owner}, 'hex') and sold
           order by stored_at desc, id offset ${perWalletMax})
          union all
          (select wallet, id from stored_snapshots where stored_at < now() - make_interval(days => ${DAYS_MAX})
           order by stored_at limit ${EXPIRED_PER_WRITE}))`);
    },
    async get(wallet, id) {
      const [row] = await store.run<{ figures: string }>(sql`
        select encode(figures, 'base64') as figures from stored_snapshots
        where wallet = decode(${wallet.slice(2)}, 'hex') and id = decode(${id}, 'hex') and sold
          and stored_at >= now() - make_interval(days => ${DAYS_MAX})`);
      return row === undefined ? null : Buffer.from(row.figures, "base64");
    },
  };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
