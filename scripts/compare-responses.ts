// `npx tsx scripts/compare-responses.ts <commit> [portfolio]`: sends every API example, every page of the explorer and paid requests, or only those, to that version and to this one, and compares status, headers and bytes.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startDeployedChain } from "@sextant/simulator/deployed-chain";
import { runSimulator } from "@sextant/simulator/simulator";
import { PORTFOLIO_CHAINS } from "../src/chain/chains/chains.ts";
import { pages } from "../src/explorer/pages.ts";
import { findExamplePath } from "../tests/explorer/explorer-stage.ts";
import { toDeployment } from "../tests/support/index/test-index.ts";
import { type ApiExample, requestAllExamples } from "./api-examples/sample-requests.ts";
import { withoutGrownHeader, withoutImprovements } from "./compare-responses/named-improvements.ts";
import { checkOutVersion } from "./testing/checkout-version.ts";

const HERE = fileURLToPath(new URL("..", import.meta.url));
const STEPS = 400;
const SEED = 1;
const START_MS_MAX = 120_000;
// A block comes every few seconds, a part of the index's audit every second, and on a busy machine a warning of a read that
// took too long: a response takes less, so that some pair is of one state.
const ATTEMPTS_MAX = 8;
const SETTINGS = {
  API_PORT: "0",
  INDEXER_PORT: "0",
  PORTFOLIO_PORT: "0",
  SEXTANT_REQUESTS_PER_MINUTE: "0",
  // The examples read metrics and make webhooks.
  SEXTANT_METRICS_PORT: "shared",
  SEXTANT_WEBHOOK_KEY: `0x${"11".repeat(32)}`,
};
// An account of the local chain: the service needs a payee to start, and nothing is paid here.
const PAYEE = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
// The first address in the log is the one that the service listens on.
const LISTENING = /(?:listening at |"url":")(http:\/\/127\.0\.0\.1:\d+)/;
// The parts that may differ between two processes of one version.
const VOLATILE_HEADERS = new Set(["date", "connection", "keep-alive", "x-request-id"]);
// They report on the process itself, or consist of texts that are reworded on purpose: texts are compared apart.
const PROCESS_PATHS = ["/metrics", "/ready", "/health"];
const TEXT_PATHS = ["/openapi.json", "/docs"];
// When a snapshot was made, and its id, which is a hash of that time too.
const SNAPSHOT_TIME = /(?<="timestamp":")[^"]+(?=")/;
const SNAPSHOT_ID = /(?<="snapshotId":")[^"]+(?=")/g;
// Changes with the code of the folds, even if that is only moved.
const FOLD_VERSION = /(?<="fold_version":")[^"]+|(?<=Version of the folds<\/dt><dd>)<code.*?<\/code>/;
// Writes whose response does not depend on how often they are sent.
const REPEATABLE = ["/preflight", "/catalogs", "/quote-requests", "/quote-responses"];
// A snapshot takes seconds on a busy machine, and a form is a part of what the plain request has compared.
const WALLETS_IN_ALL_FORMS = 2;
// Characters around the first difference.
const [EXCERPT_BEFORE, EXCERPT_AFTER] = [80, 300];
type LocalState = {
  readonly chains: readonly { readonly chainId: number; readonly rpcUrl: string }[];
  readonly accounts:
    | Readonly<Record<string, { readonly address: string }>>
    | readonly { readonly address: string }[];
};
type Settings = Readonly<Record<string, string>>;
type Raw = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

const [commit = "", part] = process.argv.slice(2);
const before = commit === "" ? null : checkOutVersion(commit);
if (before === null)
  throw new Error(`usage: compare-responses.ts <commit> [portfolio]; "${commit}" is not in the history`);
const folder = mkdtempSync(join(tmpdir(), "sextant-compare-"));
const chain = await startDeployedChain();
const running: ChildProcess[] = [];
// Two versions that both reject all requests would be equal, too.
let [compared, succeeded, differences] = [0, 0, 0];
try {
  const network = join(folder, "deployment.json");
  writeFileSync(network, JSON.stringify(toDeployment(chain.deployment)));
  const environment = {
    ...SETTINGS,
    NETWORK: network,
    RPC_URL: chain.chain.rpcUrl,
    SEXTANT_DATA: join(folder, "data"),
  };
  if (part === undefined) await compareApis(before.folder, environment);
  await comparePortfolios(before.folder, environment);
  process.stdout.write(
    `${compared} requests compared with ${commit}, ${succeeded} of them with status 200: ${differences} differences\n`,
  );
  process.exitCode = differences === 0 ? 0 : 1;
} finally {
  for (const child of running.reverse()) await end(child);
  await chain.chain.stop();
  before.remove();
  rmSync(folder, { recursive: true, force: true });
}

/** Printed at once: a service that ends later takes nothing back. */
function report(found: readonly string[]): void {
  differences += found.length;
  for (const line of found) process.stdout.write(`${line}\n`);
}

/** Both on one database. */
async function compareApis(checkout: string, environment: Settings): Promise<void> {
  await runSimulator({ world: chain.world, seed: SEED, steps: STEPS });
  const serve = async (served: string) =>
    waitUntilReady(await startService(["serve"], environment, /Indexing API +(http:\S+)\/docs/, served));
  // As in an upgrade: a version starts on no database of a later one, and goes on when that has come.
  await serve(checkout);
  const old = await startService(["api"], environment, LISTENING, checkout);
  await Promise.all(running.splice(0, 1).map(end));
  await serve(HERE);
  const now = await startService(["api"], environment, LISTENING);
  const examples = await requestAllExamples((method, target, body) => requestJson(now, method, target, body));
  for (const { method, target, body } of examples.filter(isComparable)) {
    compared += 1;
    report(await compareAtOneState(old, now, { method, target, body }));
  }
  for (const page of pages) {
    const target = await findExamplePath(now, page).catch((error: Error) => error);
    if (target instanceof Error) {
      process.stdout.write(`left out: the page ${page.path}, because ${target.message}\n`);
      continue;
    }
    compared += 1;
    report(await compareAtOneState(old, now, { method: "GET", target }));
  }
  for (const path of TEXT_PATHS.slice(0, 1)) {
    compared += 1;
    const shapes = await Promise.all(
      [old, now].map(async (url) => withoutTexts(JSON.parse((await send(url, "GET", path)).body))),
    );
    if (JSON.stringify(shapes[0]) !== JSON.stringify(shapes[1]))
      report([`GET ${path}: another shape, texts left aside`]);
  }
}

/** Both over the chains of one local run. */
async function comparePortfolios(checkout: string, environment: Settings): Promise<void> {
  const stateFile = await startService(
    ["local", "--still"],
    { ...SETTINGS, FACILITATOR_PORT: "0", SEXTANT_DATA: join(folder, "local") },
    /scripts: (\S+local\.json)/,
  );
  const { chains, accounts } = JSON.parse(readFileSync(join(folder, stateFile), "utf8")) as LocalState;
  const nodes = Object.fromEntries(chains.map(({ chainId, rpcUrl: node }) => [`RPC_URL_${chainId}`, node]));
  // Every chain is read otherwise, and the others have nodes elsewhere.
  const local = new Set(chains.map(({ chainId }) => chainId));
  const served = PORTFOLIO_CHAINS.filter(({ chainId }) => local.has(chainId));
  const slugs = served.map(({ slug }) => slug).join(",");
  const giving = {
    ...environment,
    ...nodes,
    PAY_TO: PAYEE,
    X402_DEV_BYPASS: "true",
    PORTFOLIO_PUBLIC_URL: "http://portfolio.example",
  };
  const portfolios = await Promise.all(
    [checkout, HERE].map((served, index) => {
      const own = { ...giving, SEXTANT_DATA: join(folder, `ledger-${index}`) };
      return startService(["portfolio"], own, LISTENING, served);
    }),
  );
  const [oldPortfolio = "", newPortfolio = ""] = portfolios;
  for (const target of portfolioTargets(accounts, slugs)) {
    compared += 1;
    report(await compareAtOneState(oldPortfolio, newPortfolio, { method: "GET", target }));
  }
}

async function end(child: ChildProcess): Promise<void> {
  child.kill("SIGTERM");
  if (child.exitCode === null) await once(child, "close");
}

/** Resolves with the URL that the process prints once it listens. */
async function startService(
  args: readonly string[],
  environment: Settings,
  listening: RegExp,
  checkout = HERE,
): Promise<string> {
  const child = spawn(process.execPath, [join(checkout, "bin/sextant.mjs"), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", HOME: folder, ...knownSettings(environment, checkout) },
  });
  running.push(child);
  let output = "";
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const url = listening.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("close", () => reject(new Error(`sextant ${args.join(" ")} ended: ${output}`)));
  });
}

/** An earlier version rejects settings that came after it. */
function knownSettings(settings: Readonly<Record<string, string>>, checkout: string): typeof settings {
  const listed = join(checkout, ".env.example");
  if (!existsSync(listed)) return settings;
  const names = new Set(readFileSync(listed, "utf8").match(/\b[A-Z][A-Z0-9_]+(?==)/g));
  return Object.fromEntries(
    Object.entries(settings).filter(([name]) => names.has(name) || /^RPC_URL_\d+$/.test(name)),
  );
}

async function waitUntilReady(url: string): Promise<void> {
  const deadline = Date.now() + START_MS_MAX;
  while ((await fetch(`${url}/ready`).catch(() => null))?.status !== 200) {
    if (Date.now() > deadline) throw new Error(`${url} did not become ready`);
    await sleep(200);
  }
}

/**
 * Every paid route for every account of the local chains, given away in development mode, its forms for a few of them, and
 * requests that fail.
 */
function portfolioTargets(accounts: LocalState["accounts"], slugs: string): string[] {
  const addresses = Object.values(accounts).map(({ address }) => address);
  const plain = addresses.flatMap((address) => [
    `/portfolio?address=${address}&chains=${slugs}`,
    `/exposure?address=${address}&chains=${slugs}`,
  ]);
  const forms = addresses
    .slice(-WALLETS_IN_ALL_FORMS)
    .flatMap((address) => [
      `/portfolio?address=${address}&chains=base&spam=exclude`,
      `/portfolio?address=${address}&block=base:30&detail=tokens`,
      `/portfolio?address=${address}&chains=${slugs}&detail=summary&min_usd=1`,
      `/portfolio?address=${address}&chains=${slugs}&fields=summary.totalValueUsd,tokens.symbol`,
      `/portfolio/diff?address=${address}&from=base:20`,
      `/portfolio/diff?address=${address}&from=base:20&to=base:30&detail=summary`,
      `/exposure?address=${address}&chains=base&detail=summary`,
    ]);
  const routes = ["/portfolio", "/portfolio/diff", "/exposure"];
  const wrong = ["", "?address=nonsense", "?address=0x1&chains=nowhere", `?address=${PAYEE}&fields=nothing`];
  const rejected = routes.flatMap((route) => wrong.map((query) => route + query));
  const documents = ["/.well-known/x402", "/.well-known/x402.json", "/.well-known/api-catalog", "/nothing"];
  return [...plain, ...forms, ...rejected, ...documents];
}

function isComparable({ method, path }: ApiExample): boolean {
  if (PROCESS_PATHS.includes(path) || TEXT_PATHS.includes(path)) return false;
  return method === "GET" || REPEATABLE.includes(path);
}

async function send(url: string, method: string, target: string, body?: unknown): Promise<Raw> {
  const options =
    body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(url + target, { method, ...options });
  const headers = Object.fromEntries(
    [...response.headers].filter(([name]) => !VOLATILE_HEADERS.has(name)).sort(),
  );
  const text = await response.text();
  const masked = text
    .replaceAll(url, "URL")
    .replace(SNAPSHOT_TIME, "TIME")
    .replace(SNAPSHOT_ID, "ID")
    .replace(FOLD_VERSION, "FOLDS");
  // The hash of a body of which a part may differ, and its length in an encoding.
  if (masked !== text) for (const name of ["etag", "content-length"]) delete headers[name];
  return { status: response.status, headers: withoutGrownHeader(headers), body: masked };
}

/** The sentence of an error may be reworded. */
function withoutSentence({ status, headers, body }: Raw): Raw {
  if (!body.startsWith('{"error"')) return { status, headers, body };
  const { "content-length": _length, ...others } = headers;
  const plain = JSON.stringify({ ...JSON.parse(body), error: "sentence" });
  return { status, headers: others, body: plain };
}

/** Paid responses without what is named as an improvement. */
function comparePaid(old: Raw, now: Raw): readonly [Raw, Raw] {
  if (![old, now].every(({ body }) => body.startsWith('{"address"'))) return [old, now];
  const [before, after] = withoutImprovements(JSON.parse(old.body), JSON.parse(now.body));
  const strip = (
    { status, headers: { "content-length": _length, ...headers } }: Raw,
    body: unknown,
  ): Raw => ({
    status,
    headers,
    body: JSON.stringify(body),
  });
  return [strip(old, before), strip(now, after)];
}

async function requestJson(url: string, method: string, target: string, body?: unknown) {
  const { status, headers, body: text } = await send(url, method, target, body);
  const isJson = headers["content-type"]?.startsWith("application/json") === true;
  return { status, body: isJson ? JSON.parse(text) : text };
}

type Sent = { readonly method: string; readonly target: string; readonly body?: unknown };

/** Chains and audits go on meanwhile: two responses that differ may be of two states, and are asked for again. */
async function compareAtOneState(old: string, now: string, sent: Sent): Promise<string[]> {
  const { method, target, body } = sent;
  const ask = (url: string) => send(url, method, target, body).then(withoutSentence);
  for (let attempt = 1; ; attempt += 1) {
    const responses = await Promise.all([ask(old), ask(now)] as const);
    const found = compare(`${method} ${target}`, ...comparePaid(...responses));
    if (found.length > 0 && attempt < ATTEMPTS_MAX) continue;
    if (responses.every(({ status }) => status === 200)) succeeded += 1;
    return found;
  }
}

function compare(what: string, old: Raw, now: Raw): string[] {
  return (["status", "headers", "body"] as const).flatMap((part) => {
    const [before, after] = [JSON.stringify(old[part]), JSON.stringify(now[part])];
    if (before === after) return [];
    const from = [...before].findIndex((character, index) => character !== after[index]);
    const excerpt = (text: string) => text.slice(Math.max(0, from - EXCERPT_BEFORE), from + EXCERPT_AFTER);
    return [`${what}: ${part}\n  - ${excerpt(before)}\n  + ${excerpt(after)}`];
  });
}

/** A description without what people read. */
function withoutTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTexts);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([key, part]) => !(["summary", "description", "title"].includes(key) && typeof part === "string"),
      )
      .map(([key, part]) => [key, withoutTexts(part)]),
  );
}
