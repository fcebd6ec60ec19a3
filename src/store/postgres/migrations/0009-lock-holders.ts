// Records which session holds a lock, and until when it counts as alive.
import type { Migration } from "../migrate.ts";

export const lockHolders: Migration = {
  version: 9,
  name: "who holds a lock, and until when it counts as alive",
  published: {
    checksum: "c50939b8159ed16f5c1e506e907632a05c7120fce8a0ee6e47ddbb95cd660f9b",
    statements: "e3687099e8fdcf159f69a80d749775557507f4a6b6d89dc17a5b5b226d127d55",
  },
  sql: `
      -- No timeout of PostgreSQL ends a session inside COPY. The holder renews its row over another connection, and a
      -- standby terminates the session of a holder that stopped renewing.
      create table lock_holders (
        key text collate "C" primary key,
        pid integer not null,
        backend_start timestamptz not null,
        alive_until timestamptz not null
      );
    `,
};
