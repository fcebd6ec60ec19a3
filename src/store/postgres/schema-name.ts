// Names of schemas: which are valid, and which one is kept for the rebuild of another.
import { Fault } from "../../lib/fault.ts";

// A name that needs no quoting anywhere, with room for suffixes below PostgreSQL's 63 bytes.
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,47}$/;
const REBUILD_SUFFIX = "_rebuild";

export function isSchemaName(name: string): boolean {
  return SCHEMA_NAME.test(name) && !name.startsWith("pg_");
}

/** The schema in which rows are rebuilt: its contents are dropped when a rebuild begins. */
export function toRebuildSchema(schema: string): string {
  return schema + REBUILD_SUFFIX;
}

/** Whether a rebuild of another schema would use, and drop, this one. */
export function isRebuildSchema(schema: string): boolean {
  return schema.endsWith(REBUILD_SUFFIX);
}

export function assertSchemaName(schema: string): void {
  if (!isSchemaName(schema)) {
    throw new Fault(
      "CONFIG_INVALID",
      "DATABASE_SCHEMA must be 1 to 48 lower-case letters, digits and underscores, not start with a digit, and not with pg_.",
    );
  }
  if (isRebuildSchema(schema)) {
    throw new Fault(
      "CONFIG_INVALID",
      `DATABASE_SCHEMA must not end in ${REBUILD_SUFFIX}: an installation without that ending rebuilds its rows there. Choose another name; ALTER SCHEMA … RENAME TO keeps what one has.`,
    );
  }
}
