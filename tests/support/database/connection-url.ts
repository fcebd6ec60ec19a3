// A database connection as DATABASE_URL writes it, for processes that read it from their environment.
import type { DatabaseConnection } from "../../../src/store/postgres/connection.ts";

export function formatConnectionUrl(connection: DatabaseConnection): string {
  if ("url" in connection) return connection.url.reveal();
  const { user, database, host } = connection;
  return `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}`;
}
