// The table of stored snapshots: deflated figures under a wallet and their hash, for a limited time and number.
import type { Hex } from "../../lib/hex.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { sql } from "../../schema/sql.ts";

// A quarter of a year: longer differences can name blocks instead.
const DAYS_MAX = 90;
// Bounds what one wallet can fill. Anyone may buy snapshots of any wallet: with a price of a cent, to push out those of
// others costs a hundred dollars.
const PER_WALLET_MAX = 10_000;
// What one insert removes at most, so that it stays short.
const EXPIRED_PER_INSERT = 100;

/** Ids are 64 hex digits. Storing the same again renews its time. */
export type SnapshotTable = {
  put(wallet: Hex, id: string, figures: Uint8Array): Promise<void>;
  /** Null for an unknown or expired id. */
  get(wallet: Hex, id: string): Promise<Uint8Array | null>;
};

export function openSnapshotTable(
  store: StatementRunner,
  { perWalletMax = PER_WALLET_MAX }: { readonly perWalletMax?: number } = {},
): SnapshotTable {
  return {
    async put(wallet, id, figures) {
      const owner = wallet.slice(2);
      await store.run(sql`
        insert into stored_snapshots (wallet, id, figures)
        values (decode(${owner}, 'hex'), decode(${id}, 'hex'), decode(${base64(figures)}, 'base64'))
        on conflict (wallet, id) do update set stored_at = now()`);
      await store.run(sql`
        delete from stored_snapshots where (wallet, id) in (
          (select wallet, id from stored_snapshots where wallet = decode(${owner}, 'hex')
           order by stored_at desc, id offset ${perWalletMax})
          union all
          (select wallet, id from stored_snapshots where stored_at < now() - make_interval(days => ${DAYS_MAX})
           order by stored_at limit ${EXPIRED_PER_INSERT}))`);
    },
    async get(wallet, id) {
      const [row] = await store.run<{ figures: string }>(sql`
        select encode(figures, 'base64') as figures from stored_snapshots
        where wallet = decode(${wallet.slice(2)}, 'hex') and id = decode(${id}, 'hex')
          and stored_at >= now() - make_interval(days => ${DAYS_MAX})`);
      return row === undefined ? null : Buffer.from(row.figures, "base64");
    },
  };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
