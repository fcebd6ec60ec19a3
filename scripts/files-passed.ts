// `npm run files-passed`: how many files of src run for a log, a read, a paid snapshot and a page. `-- merchant` lists the files of each row that has that word in it.
import { startDeployedChain } from "@sextant/simulator/deployed-chain";
import { runSimulator } from "@sextant/simulator/simulator";
import { openBenchDatabase, startBenchServer } from "../bench/harness/bench-database.ts";
import { pages } from "../src/explorer/pages.ts";
import { findExamplePath } from "../tests/explorer/explorer-stage.ts";
import { openPayingClient, openServiceStage } from "../tests/portfolio/service-stage.ts";
import { createDatabaseOn, type TestDatabase } from "../tests/support/database/test-database.ts";
import { startTestApi } from "../tests/support/http/test-api.ts";
import { startTestIndex, toDeployment } from "../tests/support/index/test-index.ts";
import { openPaidBackend } from "../tests/support/payments/paid-backend.ts";
import { watchExecutedFiles } from "./files-passed/executed-files.ts";

// Enough that every page but that of a solver has an example.
const STEPS = 400;
const SEED = 1;
// The simulator chooses what happens: one of so many actions has details that events leave out.
const LOGGED_ACTIONS = 10;
// Far from those of the history, and from each other.
const ACCOUNTS_PER_ACTION = 40;
/** Who follows a path reads its files: more of them than this hide what happens. */
const AIMS = { log: 60, read: 30, page: 60, snapshot: 150 } as const;

type Row = { readonly path: string; readonly aim: number; readonly files: readonly string[] };

const [wanted = null] = process.argv.slice(2);
const executed = await watchExecutedFiles(new URL("../src/", import.meta.url));
const server = await startBenchServer("embedded");
try {
  const rows = [
    ...(await measureIndex(await createMigrated())),
    ...(await measureSnapshot(await createMigrated())),
  ];
  for (const { path, aim, files } of rows) {
    process.stdout.write(`${String(files.length).padStart(4)} of ${aim}  ${path}\n`);
    if (wanted !== null && path.includes(wanted)) process.stdout.write(`      ${files.join("\n      ")}\n`);
  }
  process.exitCode = rows.every(({ files, aim }) => files.length <= aim) ? 0 : 1;
} finally {
  executed.close();
  await server.stop();
}

async function createMigrated(): Promise<TestDatabase> {
  const { connection } = server;
  if (!("host" in connection)) throw new Error("the embedded server listens on a socket");
  const place = await createDatabaseOn({ kind: "embedded", ...connection });
  const database = await openBenchDatabase({
    connection: { ...connection, database: place.name },
    schema: "sextant",
  });
  await database.close();
  return place;
}

async function measure(path: string, kind: keyof typeof AIMS, work: () => Promise<unknown>): Promise<Row> {
  return { path, aim: AIMS[kind], files: await executed.during(work) };
}

async function get(url: string): Promise<void> {
  const response = await fetch(url);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${url} is ${response.status}`);
}

async function measureIndex(place: TestDatabase): Promise<readonly Row[]> {
  const { chain, world, deployment: local } = await startDeployedChain();
  const deployment = toDeployment(local);
  const index = await startTestIndex({ urls: [chain.rpcUrl], deployment, place });
  const act = async (seed: number, steps: number, firstAccountIndex?: number) => {
    await runSimulator({ world, seed, steps, ...(firstAccountIndex !== undefined && { firstAccountIndex }) });
    const latest = await chain.request("eth_getBlockByNumber", ["latest", false]);
    const { number, hash } = latest as { number: string; hash: string };
    await index.waitUntilIndexed({ number: Number(number), hash });
  };
  try {
    await act(SEED, STEPS);
    const logs: Row[] = [];
    for (let step = 1; step <= LOGGED_ACTIONS; step += 1) {
      const own = () => act(SEED + step, 1, 200 + step * ACCOUNTS_PER_ACTION);
      logs.push(await measure("a log folded at the head, with the most files", "log", own));
    }
    await index.stopIndexing();
    const most = logs.reduce((first, next) => (next.files.length > first.files.length ? next : first));
    const api = await startTestApi(index.database, { tokens: deployment.tokens ?? {}, cacheBytesMax: 0 });
    try {
      return [most, ...(await measureReads(api.url))];
    } finally {
      await api.close();
    }
  } finally {
    await index.close();
    await chain.stop();
  }
}

/** Cold, but not the first of its kind: what a process makes once does not count. */
async function measureReads(url: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const again = async (name: string, kind: "read" | "page", path: string) => {
    await get(url + path);
    rows.push(await measure(name, kind, () => get(url + path)));
  };
  await again("a cold read: /agents/1", "read", "/agents/1");
  await again("a cold list: /intents", "read", "/intents");
  for (const page of pages) {
    const path = await findExamplePath(url, page).catch(() => null);
    if (path === null) process.stdout.write(`left out: ${page.path}, which has no example here\n`);
    else await again(`/explorer${page.path}`, "page", path);
  }
  return rows;
}

/** The wallet holds something; the one that is bought before it does not. */
async function measureSnapshot(place: TestDatabase): Promise<readonly Row[]> {
  const backend = await openPaidBackend({ place });
  const stage = await openServiceStage(backend);
  const { url } = await stage.serve();
  try {
    const client = await openPayingClient(stage);
    const buy = (address: string) => client.snapshot(url, `address=${address.toLowerCase()}`);
    await buy(client.account.address);
    const holder = backend.chain.accounts.payer.address;
    return [await measure("a paid snapshot with its settlement", "snapshot", () => buy(holder))];
  } finally {
    await stage.close();
    await backend.close();
  }
}
