// `npm run pay` from outside: it pays what it may and no more, once, and says in a sentence why it did not.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { namedAccounts } from "@sextant/local-chain/accounts";
import { decodePaymentSignatureHeader } from "@x402/core/http";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { runPayCommand } from "../../scripts/pay/run-pay.ts";
import { parsePaymentIdentifier } from "../../src/payments/paywall/payment.ts";
import {
  startTestPortfolioWeb,
  TEST_OFFER,
  type TestPortfolioWeb,
  type TestPortfolioWebOptions,
} from "../support/http/test-portfolio-web.ts";

const WALLET = "0xd8da6bf26964af9d7eed9e03e53415d37aa96045";
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const { payer } = namedAccounts();
const open: TestPortfolioWeb[] = [];
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sextant-pay-"));
  await mkdir(join(folder, ".sextant"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
afterEach(async () => {
  await Promise.all(open.splice(0).map((web) => web.close()));
  await rm(join(folder, ".sextant/local.json"), { force: true });
});

/** A local run, as far as the command can see. */
async function start(options: TestPortfolioWebOptions = {}): Promise<TestPortfolioWeb> {
  const web = await startTestPortfolioWeb(options);
  open.push(web);
  const { network, asset, payTo, amount } = TEST_OFFER;
  const accounts = [{ name: "payer", address: payer.address, privateKey: payer.privateKey }];
  const local = {
    portfolio: web.url,
    payment: { network, asset, payTo, amount: amount.toString() },
    accounts,
  };
  await writeFile(join(folder, ".sextant/local.json"), JSON.stringify(local));
  return web;
}

function pay(argv: readonly string[], environment: Record<string, string> = {}) {
  return runPayCommand({ argv, environment, localFile: join(folder, ".sextant/local.json") });
}

/** The same as a process of its own, in a folder where a local run was started. */
function payProcess(args: readonly string[]) {
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const loader = join(ROOT, "node_modules/tsx/dist/esm/index.mjs");
    const argv = ["--import", loader, join(ROOT, "scripts/pay.ts"), ...args];
    const child = execFile(process.execPath, argv, { cwd: folder, env: { PATH: "" } }, (_, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
}

describe("npm run pay", () => {
  it("pays with the local payer and prints what it got", async () => {
    const { paid } = await start();
    const { code, out, err } = await payProcess([WALLET, "--chains", "base"]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("Worth       $7750.25   stablecoins $1250.25");
    expect(out).toMatch(/USDC +base +1250\.25 +\$1 +\$1250\.25/);
    expect(out).toMatch(/CLAIM .* spam/);
    expect(out).toMatch(/Aave v3 WETH supplied +base +supplied +0\.6 WETH +\$1500/);
    expect(out).toMatch(/Paid \$0\.01 by 0x\w{40} on eip155:31337 in transaction 0xc0c0/);
    expect(paid.map(({ resource }) => resource.query)).toEqual([{ address: WALLET, chains: "base" }]);
    const { extensions } = decodePaymentSignatureHeader(paid[0]?.signature ?? "");
    expect(parsePaymentIdentifier(extensions)).toMatch(/^pay_[0-9a-f]{32}$/);
  });

  it("retries with the same signature while the outcome is unknown", async () => {
    const later = { status: 503, headers: { "retry-after": "0" }, body: { error: "On its way." } };
    const { paid } = await start({ onPayment: (_paid, count) => (count < 3 ? later : null) });
    expect((await pay([WALLET])).code).toBe(0);
    expect([paid.length, new Set(paid.map(({ signature }) => signature)).size]).toEqual([3, 1]);
  });

  it.each<[string, readonly string[], Record<string, string>, RegExp, number, boolean]>([
    ["no wallet", [], {}, /Name exactly one wallet/, 64, true],
    ["an invalid wallet", ["0x12"], {}, /The wallet must be an address/, 65, true],
    ["an unknown option", [WALLET, "--tip", "1"], {}, /Unknown option '--tip'/, 64, true],
    [
      "a price above the limit",
      [WALLET, "--max-usd", "0.0099"],
      {},
      /above --max-usd 0\.0099; nothing was/,
      70,
      true,
    ],
    ["an unknown chain", [WALLET, "--chains", "moon"], {}, /chains must be a comma-separated list/, 65, true],
    ["no local run and no address", [WALLET], {}, /start one with npm start, or name a service/, 64, false],
    ["no key", [WALLET, "--url", "http://127.0.0.1:9"], {}, /Set PAYER_PRIVATE_KEY/, 78, false],
    [
      "an invalid key",
      [WALLET, "--url", "http://127.0.0.1:9"],
      { PAYER_PRIVATE_KEY: "0x5ec3e7" },
      /in PAYER_PRIVATE_KEY must be 0x followed by 64/,
      78,
      false,
    ],
    [
      "a service that is not there",
      [WALLET, "--url", "http://127.0.0.1:9"],
      { PAYER_PRIVATE_KEY: payer.privateKey },
      /No response from http:\/\/127\.0\.0\.1:9/,
      69,
      false,
    ],
  ])("rejects %s in one sentence", async (_name, args, environment, sentence, code, running) => {
    const paid = running ? (await start()).paid : [];
    const response = await pay(args, environment);
    expect([response.code, response.out]).toEqual([code, ""]);
    expect(response.err).toMatch(sentence);
    expect(response.err.trimEnd().split("\n").length).toBe(1);
    expect(response.err).not.toMatch(/5ec3e7|0x[0-9a-f]{64}/);
    expect(paid).toEqual([]);
  });

  it("reports why a payment was rejected", async () => {
    await start({
      onPayment: () => ({
        status: 402,
        headers: { "x-error-code": "PAYMENT_REQUIRED" },
        body: { error: "The payer has too little of the token." },
      }),
    });
    expect(await pay([WALLET])).toEqual({
      code: 70,
      out: "",
      err: "pay: The payer has too little of the token.\n",
    });
  });

  it("does not pay with a token that it does not know", async () => {
    const { url, paid } = await start();
    await rm(join(folder, ".sextant/local.json"));
    const response = await pay([WALLET, "--url", url], { PAYER_PRIVATE_KEY: payer.privateKey });
    expect(response).toMatchObject({
      code: 70,
      err: expect.stringContaining("wants a token that this command does not"),
    });
    expect(paid).toEqual([]);
  });
});
