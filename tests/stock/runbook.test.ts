// The commands of docs/runbook.md, run as they stand there on an index in a stock PostgreSQL.
// Proves docs/runbook.md#backup-and-restore, docs/runbook.md#disk-full and docs/runbook.md#a-node-is-wrong.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { indexerCommand } from "../../src/cli/commands/indexer.ts";
import { type IndexerStage, openIndexerStage } from "../indexer/indexer-stage.ts";
import { findStockPostgres } from "../support/database/stock-postgres.ts";
import {
  createTestDatabase,
  formatConnectionUrl,
  type TestDatabase,
} from "../support/database/test-database.ts";
import { DeploymentFiles } from "../support/deployment-files.ts";
import { bundleSextant } from "../support/process/bundle-sextant.ts";
import { startServiceCommand } from "../support/process/service-command.ts";
import { CHECKOUT } from "../support/process/sextant-process.ts";

let stage: IndexerStage;
let place: TestDatabase;
let files: DeploymentFiles;
let backups: string;
let environment: Record<string, string>;
let client: Client;
beforeAll(async () => {
  [stage, place, files] = await Promise.all([
    openIndexerStage(7, { finalityDepth: 2 }),
    createTestDatabase(),
    DeploymentFiles.create(),
  ]);
  await stage.runSteps(10);
  backups = mkdtempSync(join(tmpdir(), "sextant-backups-"));
  const url = new URL(toolUrl(place));
  client = new Client({ connectionString: url.href });
  await client.connect();
  environment = {
    PATH: [findStockPostgres(), process.env.PATH].join(delimiter),
    DATABASE_URL: url.href,
    ...{ PGHOST: url.hostname, PGPORT: url.port, PGUSER: url.username },
    NETWORK: await files.write(stage.deployment),
    RPC_URL: stage.chain.rpcUrl,
    INDEXER_PORT: "0",
    SEXTANT_AUDIT_SECONDS: "1",
    BACKUPS: backups,
  };
});
afterAll(async () => {
  await client?.end();
  rmSync(backups, { recursive: true, force: true });
  await Promise.all([stage?.chain.stop(), place?.drop(), files?.remove()]);
});

/** The tools of PostgreSQL do not know the mode by which pg accepts the certificate of the test server. */
const toolUrl = ({ connection }: TestDatabase) =>
  formatConnectionUrl(connection).replace("sslmode=no-verify", "sslmode=disable");

const PAGE = readFileSync("docs/runbook.md", "utf8");

function readBlocks(heading: string, kind: "sh" | "text"): string[] {
  const section = PAGE.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? "";
  return [...section.matchAll(new RegExp(`^\`\`\`${kind}\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    ([, text = ""]) => text,
  );
}

/** Returns what the commands print; throws if one of them fails. */
async function run(
  commands: string | undefined,
  given: Readonly<Record<string, string>> = {},
): Promise<string> {
  // The bundle is the same command, and starts in a third of the time.
  const script = (commands ?? "false").replaceAll("bin/sextant.mjs", bundleSextant());
  const child = spawn("sh", ["-euc", script], {
    cwd: CHECKOUT,
    env: { ...environment, ...given },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`The commands ended with ${code}: ${output}`);
  return output;
}

/** The page shows figures of another index. */
function expectShown(heading: string, output: string): void {
  const withoutFigures = (text: string) => text.replace(/\d[\d,.]*\d|\d/g, "N");
  const [shown = ""] = readBlocks(heading, "text");
  expect(shown).not.toBe("");
  for (const line of shown.trimEnd().split("\n"))
    expect(withoutFigures(output)).toContain(withoutFigures(line));
}

async function runIndexerWhile(
  act: (url: string) => Promise<unknown>,
  given: Readonly<Record<string, string>> = {},
): Promise<void> {
  const indexer = startServiceCommand(indexerCommand, { ...environment, ...given });
  try {
    const url = await indexer.listening();
    await expect.poll(async () => (await fetch(`${url}/ready`)).status).toBe(200);
    await act(url);
  } finally {
    indexer.stop.abort();
    await indexer.ended;
  }
}

it("a backup is taken while the indexer runs, and its restored copy is whole", async () => {
  const [everything, people, drill, restore] = readBlocks("Backup and restore", "sh");
  await runIndexerWhile(async () => {
    await client.query(`insert into sextant.documents (kind, hash, text, size_bytes)
      values ('catalog', '0x${"ab".repeat(32)}', 'of a person', 11)`);
    await run(everything);
    await run(people);
  });
  expectShown("Backup and restore", await run(drill));

  const empty = await createTestDatabase();
  try {
    const DATABASE_URL = toolUrl(empty);
    await runIndexerWhile(async () => undefined, { DATABASE_URL });
    await run(restore, { DATABASE_URL });
    const select = "select convert_from(text, 'UTF8') from sextant.documents";
    expect(await run(`psql "$DATABASE_URL" -c "${select}"`, { DATABASE_URL })).toContain("of a person");
  } finally {
    await empty.drop();
  }
});

it("a full disk stops the index, which goes on by itself when there is space", async () => {
  await client.query(`create function sextant.fill() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`);
  await runIndexerWhile(async (url) => {
    await client.query("create trigger filled before insert on sextant.logs execute function sextant.fill()");
    await stage.runSteps(2);
    await expect.poll(async () => (await fetch(`${url}/ready`)).status).toBe(503);
    const [commands] = readBlocks("Disk full", "sh");
    expectShown("Disk full", await run(commands?.replace("http://127.0.0.1:3003", url)));
    await client.query("drop trigger filled on sextant.logs");
    await expect.poll(async () => (await fetch(`${url}/ready`)).status).toBe(200);
  });
});

it("a block that a node left out is read again, with every row", async () => {
  await runIndexerWhile(async () => undefined);
  const { rows } = await client.query(
    "delete from sextant.logs where block_number = (select min(block_number) from sextant.logs) returning block_number",
  );
  const [commands] = readBlocks("A node is wrong", "sh");
  expectShown("A node is wrong", await run(commands, { BLOCK: String(rows[0].block_number) }));
});
