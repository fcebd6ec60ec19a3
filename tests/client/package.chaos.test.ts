// The packed package as its users get it: installed, compiled strictly, run. packages/client/sextant.test.ts is the fast part.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, it } from "vitest";
import { buildClientPackage } from "../../scripts/client-package/build.ts";
import { openServiceStage } from "../portfolio/service-stage.ts";
import { startProgram } from "../support/process/sextant-process.ts";
import { createTestFolder } from "../support/test-folder.ts";

const CHECKOUT = fileURLToPath(new URL("../../", import.meta.url));
/** What users install beside it. */
const BESIDE = ["viem", "@types/node", "typescript"];

const TSCONFIG = {
  compilerOptions: {
    ...{ target: "ES2023", types: ["node"], module: "NodeNext", noEmit: true },
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    // Our own declarations are checked with the program.
    skipLibCheck: false,
  },
  include: ["*.ts"],
};

it("is installed from its tarball, compiles with tsc --strict, and runs the quickstart", async () => {
  const folder = await createTestFolder();
  const built = join(folder, "built");
  buildClientPackage(built);
  run("npm", ["pack", "--silent", "--pack-destination", folder], built);
  const app = join(folder, "app");
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), '{"type":"module","private":true}');
  const tarball = join(folder, "sextant-index-client-0.1.0.tgz");
  // Peers come from this checkout; nothing is downloaded.
  run("npm", ["install", "--offline", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", tarball], app);
  for (const name of BESIDE) {
    mkdirSync(join(app, "node_modules", name, ".."), { recursive: true });
    symlinkSync(join(CHECKOUT, "node_modules", name), join(app, "node_modules", name));
  }
  const stage = await openServiceStage();
  try {
    const { url } = await stage.serve();
    const { asset, payTo, mint, node } = stage.paid;
    const privateKey = generatePrivateKey();
    await mint(privateKeyToAccount(privateKey).address, 1_000_000n);
    writeFileSync(join(app, "tsconfig.json"), JSON.stringify(TSCONFIG));
    writeFileSync(join(app, "quickstart.ts"), quickstart(url, asset, payTo));
    const tsc = join(CHECKOUT, "node_modules/typescript/bin/tsc");
    run(process.execPath, [tsc, "--project", app], app);
    const environment = { PAYER_PRIVATE_KEY: privateKey };
    const { code, out, err } = await startProgram("quickstart.ts", { cwd: app, environment }).ended;
    expect([code, err]).toEqual([0, ""]);
    const [, transaction] = /^worth \$[\d.]+, paid in (0x[0-9a-f]{64})/.exec(out) ?? [];
    const receipt = await node.getTransactionReceipt({ hash: transaction as `0x${string}` });
    expect(receipt.status).toBe("success");
  } finally {
    await stage.close();
  }
}, 300_000);

/** The program of docs/client.md, with the addresses of this stage. */
function quickstart(url: string, asset: string, payTo: string): string {
  const page = readFileSync(join(CHECKOUT, "docs/client.md"), "utf8");
  const program = /```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  expect(program).toContain("createSextant");
  return program
    .replace("http://127.0.0.1:3002", url)
    .replace(/asset: "0x\w+"/, `asset: "${asset}"`)
    .replace(/payees: \["0x\w+"\]/, `payees: ["${payTo}"]`);
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  expect([error, status], `${command} ${args[0]}: ${stdout}${stderr}`).toEqual([undefined, 0]);
}
