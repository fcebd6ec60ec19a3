// The connection by which the doctor reads a database: one attempt, with a limit on every wait.
import { Client } from "pg";
import { CHECK_MS_MAX } from "./finding.ts";

export function createDoctorClient(url: string): Client {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CHECK_MS_MAX,
    query_timeout: CHECK_MS_MAX,
    application_name: "sextant doctor",
  });
  // A connection that is lost fails the query too.
  client.on("error", () => undefined);
  return client;
}
