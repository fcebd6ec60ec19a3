// `sextant deployments` in a database with schemas that it cannot read, that others own, or whose names are statements.
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deploymentsCommand } from "../../src/cli/commands/deployments.ts";
import {
  createMigratedDatabase,
  formatConnectionUrl,
  type TestDatabase,
} from "../support/database/test-database.ts";
import { DeploymentFiles } from "../support/deployment-files.ts";
import { MEMORY_DEPLOYMENT } from "../support/index/memory-index.ts";
import { silentLog } from "../support/quiet-log.ts";

const TOUCH = "nextval('sextant_trap.touched')";
// Between quotes this name ends them.
const STATEMENT = `sextant_x"; select ${TOUCH}; --`;

let place: TestDatabase;
let files: DeploymentFiles;
let client: Client;
/** The user of the command, who owns `sextant_old` only. */
let operator: string;
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  place = await createMigratedDatabase();
  files = await DeploymentFiles.create();
  operator = `operator_${place.name}`;
  const url = formatConnectionUrl(place.connection);
  client = new Client(url);
  await client.connect();
  await client.query(`create role ${operator};
    grant usage on schema sextant to ${operator}; grant select on all tables in schema sextant to ${operator}`);
  for (const schema of ["sextant_old", "sextant_closed", "sextant_trap", STATEMENT]) await create(schema);
  await client.query(`alter schema sextant_old owner to ${operator};
    alter table sextant_old.deployment owner to ${operator};
    create table sextant_old.logs as select 1 as block_number; alter table sextant_old.logs owner to ${operator}`);
  // Functions of a view run as the user that reads it. A sequence counts calls, also those of a transaction that fails.
  await client.query(`create sequence sextant_trap.touched; grant usage on schema sextant_trap to public;
    create view sextant_trap.checkpoint as select ${TOUCH} as block_number;
    create view sextant_trap.logs as select ${TOUCH};
    grant all on all tables in schema sextant_trap to public;
    grant all on sequence sextant_trap.touched to public`);
  environment = {
    DATABASE_URL: `${url}${url.includes("?") ? "&" : "?"}options=${encodeURIComponent(`-c role=${operator}`)}`,
    NETWORK: await files.write(MEMORY_DEPLOYMENT),
  };
});

afterAll(async () => {
  // Roles belong to the server.
  await client?.query(`drop owned by ${operator} cascade; drop role ${operator}`);
  await client?.end();
  await place?.drop();
  await files?.remove();
});

/** Creates a schema with the table by which an index is recognized, but without the tables that are read. */
async function create(schema: string): Promise<void> {
  const name = client.escapeIdentifier(schema);
  await client.query(`create schema ${name}; create table ${name}.deployment
    (chain_id bigint, start_block bigint, contracts jsonb)`);
}

async function run(options: Parameters<typeof deploymentsCommand>[0]["options"] = {}) {
  let out = "";
  const print = (text: string) => {
    out += text;
  };
  const stop = new AbortController().signal;
  const code = await deploymentsCommand({ environment, options, log: silentLog, print, stop });
  return { code, out };
}

async function tablesOf(schema: string): Promise<readonly string[]> {
  const text = "select tablename from pg_tables where schemaname = $1 order by 1";
  const { rows } = await client.query<{ tablename: string }>(text, [schema]);
  return rows.map(({ tablename }) => tablename);
}

const isTouched = async () =>
  (await client.query<{ called: boolean }>("select is_called as called from sextant_trap.touched")).rows[0]
    ?.called;

describe("`sextant deployments`", () => {
  it("lists every schema, also next to one that cannot be read", async () => {
    const { code, out } = await run();
    expect(code).toBe(0);
    expect(out).toMatch(/^memory +schema sextant +chain 1 +nothing indexed$/m);
    expect(out).toMatch(
      /^old +schema sextant_old +not configured +cannot be read: .*"checkpoint" does not exist$/m,
    );
    for (const name of ["closed", "trap"])
      expect(out).toMatch(
        new RegExp(`^${name} +schema sextant_${name} +not configured +not read: another .* owns it$`, "m"),
      );
  });

  it("runs nothing that is in the schema of another user, or in its name", async () => {
    const { out } = await run();
    expect(out).not.toContain("sextant_x");
    await expect(run({ drop: "trap" })).rejects.toMatchObject({ code: "USAGE_INVALID", message: /owns/ });
    expect(await isTouched()).toBe(false);
  });

  it("counts what a schema has as it is, and drops it without a migration", async () => {
    const asked = await run({ drop: "old" });
    expect(asked).toEqual({ code: 1, out: expect.stringMatching(/sextant_old has 1 events[\s\S]*Nothing/) });
    expect(await tablesOf("sextant_old")).toEqual(["deployment", "logs"]);
    expect((await run({ drop: "old", yes: true })).code).toBe(0);
    expect(await tablesOf("sextant_old")).toEqual([]);
  });
});
