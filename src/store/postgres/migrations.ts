// The tables that hold primary data (the chain as it was read, writes, payments), as opposed to derived rows.
import type { Migration } from "./migrate.ts";
import { firstMigrations } from "./migrations/0001-0003.ts";
import { earlierMigrations } from "./migrations/0004-0012.ts";
import { laterMigrations } from "./migrations/0013-on.ts";
import { newestMigrations } from "./migrations/0025-on.ts";

/** In order; only ever append. */
export const migrations: readonly Migration[] = [
  ...firstMigrations,
  ...earlierMigrations,
  ...laterMigrations,
  ...newestMigrations,
];
