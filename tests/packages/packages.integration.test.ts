// The packed packages as their users get them: checked, installed, and run on each supported Node. packages/client/sextant.test.ts is the fast part for the client.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createPublicClient, http } from "viem";
import { expect, it } from "vitest";
import { buildClientPackage } from "../../scripts/client-package/build.ts";
import { buildSitePages } from "../../scripts/docs-site/site-pages.ts";
import { buildServerPackage } from "../../scripts/server-package/build.ts";
import { openRepository } from "../architecture/repository.ts";
import { CHECKOUT, startProgram, startSextant } from "../support/process/sextant-process.ts";
import { findTypeErrors } from "../support/process/type-check.ts";
import { createTestFolder } from "../support/test-folder.ts";

/** Installed by the suite: see package.json of this folder. */
const TOOLS = fileURLToPath(new URL("node_modules/", import.meta.url));
const NODES = ["20", "22", "24"].map((version) => join(TOOLS, `node-${version}-${process.arch}`, "bin/node"));
const TARBALL_BYTES_MAX = 15_000_000;
const START_BYTES_MAX = 200_000;
// A signer and its curves add 190,000.
const READ_BYTES_MAX = 750_000;
const WALLET = "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955";

const TSCONFIG = {
  compilerOptions: {
    ...{ target: "ES2023", types: ["node"], module: "NodeNext", noEmit: true },
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    // Our own declarations are checked with the program.
    skipLibCheck: false,
  },
  include: ["*.ts"],
};

it("has nothing in its packages that publint or attw reject, runs them on Node 20, 22 and 24, and serves the documents", async () => {
  const folder = await createTestFolder();
  const server = join(folder, "built-server");
  await buildServerPackage(server);
  const client = join(folder, "built-client");
  buildClientPackage(client);
  const tarballs = [server, client].map((built) => pack(built, folder));
  for (const tarball of tarballs) {
    expect(statSync(tarball).size).toBeLessThan(TARBALL_BYTES_MAX);
    run(join(TOOLS, ".bin/publint"), ["run", tarball, "--strict"]);
  }
  // The server has nothing to import, and so no types to check.
  run(join(TOOLS, ".bin/attw"), [tarballs[1] ?? "", "--profile", "esm-only"]);

  const installed = install(tarballs, folder);
  const { server: local, state, environment } = await startLocalRun(installed.server, folder);
  for (const node of NODES) await checkServer(installed.server, { node, environment, cwd: folder });
  await checkPurchase(installed.server, { environment, cwd: folder });
  checkImports(installed.server);
  checkStart(installed.server);
  const { err } = await startSextant(["get", "head"], {
    checkout: installed.server,
    environment: { SEXTANT_DATA: join(folder, "none") },
  }).ended;
  expect(err).toMatch(/^sextant: There is no local run: start one with sextant local, /);
  await checkDocuments(installed.server, folder);
  const hashes = await buySnapshots(installed.app, state);
  const chain = createPublicClient({ transport: http(state.chains[0]?.rpcUrl) });
  for (const hash of hashes) {
    const receipt = await chain.getTransactionReceipt({ hash: hash as `0x${string}` });
    expect(receipt.status).toBe("success");
  }
  expect(hashes.size).toBe(NODES.length);
  local.child.kill("SIGINT");
  expect((await local.ended).code).toBe(0);
}, 600_000);

function pack(built: string, folder: string): string {
  return join(folder, run("npm", ["pack", "--silent", "--pack-destination", folder], built).trim());
}

/** Unpacks the tarballs as npm does, and links what they declare to this checkout: nothing is downloaded. */
function install(tarballs: readonly string[], folder: string) {
  const app = join(folder, "app");
  const modules = join(app, "node_modules");
  // The program's own packages besides those of ours.
  const wanted = new Set(["@types/node"]);
  const packages = tarballs.map((tarball) => {
    const target = join(modules, "@sextant-index", tarball.includes("client") ? "client" : "sextant");
    mkdirSync(target, { recursive: true });
    run("tar", ["-xzf", tarball, "-C", target, "--strip-components=1"]);
    const manifest = JSON.parse(readFileSync(join(target, "package.json"), "utf8"));
    const sections = ["dependencies", "optionalDependencies", "peerDependencies"];
    for (const section of sections) for (const name of Object.keys(manifest[section] ?? {})) wanted.add(name);
    return target;
  });
  for (const name of wanted) {
    mkdirSync(join(modules, name, ".."), { recursive: true });
    symlinkSync(join(CHECKOUT, "node_modules", name), join(modules, name));
  }
  return { app, server: packages[0] ?? "" };
}

async function startLocalRun(checkout: string, folder: string) {
  const environment = { SEXTANT_DATA: join(folder, "data") };
  const ports = { API_PORT: "0", PORTFOLIO_PORT: "0", FACILITATOR_PORT: "0" };
  const server = startSextant(["local", "--no-traffic"], {
    checkout,
    environment: { ...environment, ...ports },
  });
  const banner = await server.waitForOutput(/Press Ctrl-C to stop/);
  expect(banner).toContain(`\n    sextant wallet ${WALLET}\n`);
  const state = JSON.parse(readFileSync(join(folder, "data/local.json"), "utf8")) as LocalState;
  for (const path of ["explorer", "docs"]) expect((await fetch(`${state.api}/${path}`)).status).toBe(200);
  const page = await fetch(`${state.portfolio}/portfolio`, { headers: { accept: "text/html" } });
  expect(await page.text()).toContain("<script");
  return { server, state, environment };
}

type LocalState = {
  readonly api: string;
  readonly portfolio: string;
  readonly chains: readonly { readonly rpcUrl: string }[];
  readonly accounts: readonly { readonly name: string; readonly privateKey: string }[];
};

type Setup = {
  readonly node: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: string;
};

async function checkServer(checkout: string, { node, environment, cwd }: Setup): Promise<void> {
  const sextant = (...args: string[]) =>
    startSextant(args, { checkout, execPath: node, environment, cwd }).ended;
  const { version } = JSON.parse(readFileSync(join(CHECKOUT, "package.json"), "utf8"));
  expect(await sextant("--version")).toEqual({ code: 0, out: `sextant ${version}\n`, err: "" });
  expect(await sextant("help")).toMatchObject({ code: 0, err: "", out: expect.stringContaining("sextant") });
  expect(await sextant("get", "head", "--json")).toMatchObject({ code: 0, err: "" });
}

async function checkPurchase(checkout: string, { environment, cwd }: Omit<Setup, "node">): Promise<void> {
  const args = ["wallet", WALLET, "--json"];
  const { code, out } = await startSextant(args, { checkout, environment, cwd }).ended;
  expect([code, JSON.parse(out)]).toMatchObject([0, { summary: { totalValueUsd: expect.any(String) } }]);
}

/** Every page was compiled, which nothing else proves, and the command serves the site with its search. */
async function checkDocuments(checkout: string, cwd: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(CHECKOUT, "package.json"), "utf8"));
  const folder = join(checkout, "docs/.site", version);
  const built = new Set(readdirSync(folder, { recursive: true, encoding: "utf8" }));
  const pages = buildSitePages(openRepository(CHECKOUT), { isInstalled: true }).map(({ path }) =>
    path.replace(/\.md$/, ".html"),
  );
  expect(pages.filter((page) => !built.has(page))).toEqual([]);
  const command = startSextant(["docs", "--port", "0"], { checkout, cwd });
  const [, url = ""] = /at (http:\S+)\n/.exec(await command.waitForOutput(/Press Ctrl-C to stop/)) ?? [];
  const index = [...built].find((name) => /localSearchIndex.*\.js$/.test(name));
  for (const path of ["", `${version}/`, "client", `${version}/client.html`, `${version}/${index}`]) {
    const response = await fetch(`${url}${path}`);
    expect([path, response.status]).toEqual([path, 200]);
    if (path.includes("client"))
      expect(await response.text()).toMatch(/Content-Security-Policy.*>sextant local</s);
  }
  command.child.kill("SIGINT");
  expect((await command.ended).code).toBe(0);
}

/** Each part of the bundle finds what it imports, among the packages that the manifest declares. */
function checkImports(checkout: string): void {
  const parts = readdirSync(join(checkout, "dist")).map(
    (name) => `import(${JSON.stringify(`./dist/${name}`)})`,
  );
  const program = `await Promise.all([${parts.join()}]); process.exit();`;
  run(process.execPath, ["--input-type=module", "-e", program], checkout);
}

/** Everything that is loaded before a command is chosen. */
function listLoaded(folder: string, part: string, loaded = new Set<string>()): ReadonlySet<string> {
  loaded.add(part);
  for (const [, name = ""] of readFileSync(join(folder, part), "utf8").matchAll(
    /^(?:import|\}) .*"(.+)";$/gm,
  )) {
    const next = name.replace(/^\.\//, "");
    if (next === name) loaded.add(name);
    else if (!loaded.has(next)) listLoaded(folder, next, loaded);
  }
  return loaded;
}

/** Help and reads are fast because they load neither packages nor what services and payers need. */
function checkStart(checkout: string): void {
  const dist = join(checkout, "dist");
  const read = readdirSync(dist).find((name) => /^get-\w+\.js$/.test(name)) ?? "";
  const limits = { "main.js": START_BYTES_MAX, [read]: READ_BYTES_MAX };
  for (const [first, bytesMax] of Object.entries(limits)) {
    const loaded = [...listLoaded(dist, first)].filter((name) => !name.startsWith("node:"));
    const parts = loaded.filter((name) => existsSync(join(dist, name)));
    expect(loaded).toEqual(parts);
    const bytes = parts.reduce((sum, name) => sum + statSync(join(dist, name)).size, 0);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(bytesMax);
  }
}

/** Runs the quickstart once on each Node, against the packed client, and returns the transactions that paid. */
async function buySnapshots(app: string, state: LocalState): Promise<ReadonlySet<string | undefined>> {
  writeFileSync(join(app, "package.json"), '{"type":"module","private":true}');
  writeFileSync(join(app, "tsconfig.json"), JSON.stringify(TSCONFIG));
  const program = readFileSync(join(CHECKOUT, "examples/quickstart.ts"), "utf8");
  writeFileSync(join(app, "quickstart.ts"), program);
  expect(findTypeErrors(app)).toBeNull();
  const payer = state.accounts.find(({ name }) => name === "payer");
  const environment = {
    PAYER_PRIVATE_KEY: payer?.privateKey ?? "",
    SEXTANT_PORTFOLIO_URL: state.portfolio,
  };
  const hashes = new Set<string | undefined>();
  for (const execPath of NODES) {
    const { code, out, err } = await startProgram("quickstart.ts", { cwd: app, environment, execPath }).ended;
    expect([code, err]).toEqual([0, ""]);
    const [, hash, next = ""] =
      /^worth \$\d{1,3}(?:,\d{3})+\.\d+, paid in (0x[0-9a-f]{64})\nnext: open (\S+)\n$/.exec(out) ?? [];
    hashes.add(hash);
    expect((await fetch(next, { headers: { accept: "text/html" } })).headers.get("content-type")).toMatch(
      /^text\/html/,
    );
  }
  const journal = readFileSync(join(app, "payments.jsonl"), "utf8").trim().split("\n");
  expect(journal.map((line) => JSON.parse(line).type)).toEqual(NODES.flatMap(() => ["signed", "paid"]));
  return hashes;
}

function run(command: string, args: readonly string[], cwd = CHECKOUT): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  expect([error, status], `${command} ${args[0]}: ${stdout}${stderr}`).toEqual([undefined, 0]);
  return stdout;
}
