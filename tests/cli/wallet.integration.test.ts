// `sextant wallet` and `sextant payments` with real money of a local chain: paid once, shown, or not paid and why.
// Main covers a part: packages/client/payments/purchase.test.ts (one payment for a purchase), exposure-and-diff.test.ts (the command).
import { EventEmitter } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { exampleSnapshot } from "../../src/schema/portfolio/examples.ts";
import { startFaultyProxy } from "../client/faulty-proxy.ts";
import { readBody, startLoopbackServer } from "../support/http/loopback-server.ts";
import { openPaidRun } from "./paid-run.ts";

const WALLET = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const ELSEWHERE = `0x${"ab".repeat(20)}`;

const SNAPSHOT_AT_80 = `Wallet      0xd8da6bf26964af9d7eed9e03e53415d37aa96045
Worth       $7,750.25   stablecoins $1,250.25
Taken       2026-01-01 00:00:00 UTC at base:40000123, ethereum:24136000 by rpc

Chains
  chain     tokens  priced      worth
  base           2       1  $2,750.25
  ethereum       1       1  $5,000.00

Tokens
  token  chain             balance      price      worth
  ETH    ethereum            2 ETH  $2,500.00  $5,000.00
  USDC   base        1,250.25 USDC      $1.00  $1,250.25
  CLAIM  base      1,000,000 CLAIM          –          –  spam

Positions
  position               chain  kind      assets        worth
  Aave v3 WETH supplied  base   supplied  0.6 WETH  $1,500.00

Activity
  when                 chain  transaction
  2025-12-31 23:59:00  base   0x1212121212121212121212121212121212121212121…1212

What to know
`;

type Payer = Awaited<ReturnType<Awaited<ReturnType<typeof openPaidRun>>["openPayer"]>>;

let stage: Awaited<ReturnType<typeof openPaidRun>>;
beforeAll(async () => {
  stage = await openPaidRun();
});
afterAll(() => stage?.close());
afterEach(() => {
  stage.snapshot = exampleSnapshot;
});

function journalOf({ folder }: Payer): string {
  return join(folder, "payments.jsonl");
}

describe("wallet", () => {
  it("pays once and shows the snapshot in 80 columns", async () => {
    const payer = await stage.openPayer();
    const { code, out, err } = await payer.run(["wallet", WALLET], {
      columns: 80,
      environment: { NO_COLOR: "1" },
    });
    const [transaction, ...others] = await payer.transactions();
    const withoutProgress = err
      .replaceAll("\r\u001b[2K", "")
      .replace(/\S Paying for the snapshot \d+ s/gu, "");
    expect([code, withoutProgress, others]).toEqual([0, "", []]);
    const [tables, receipt] = out.split(/\n\n(?=Paid)/);
    expect(tables?.slice(0, SNAPSHOT_AT_80.length)).toBe(SNAPSHOT_AT_80);
    const sentences = String(tables).slice(SNAPSHOT_AT_80.length).trim().replace(/\s+/g, " ");
    expect(sentences).toBe(exampleSnapshot.summary.warnings.join(" "));
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    const paid = receipt?.replace(/\s+/g, " ");
    expect(paid).toMatch(/^Paid \$0\.01 by 0x[0-9a-f]{40} on eip155:31337 in transaction 0x/);
    expect(paid).toContain(`in transaction ${transaction} `);
    expect(statSync(journalOf(payer)).mode & 0o777).toBe(0o600);
    expect(out + readFileSync(journalOf(payer), "utf8")).not.toContain(payer.privateKey.slice(2));
  });

  it("names the payment by what never reaches the chain, without which its signature opens nothing", async () => {
    const payer = await stage.openPayer();
    expect((await payer.run(["wallet", WALLET])).code).toBe(0);
    const [line = ""] = readFileSync(journalOf(payer), "utf8").split("\n");
    const { signature, url } = JSON.parse(line) as { signature: string; url: string };
    const send = async (header: object) => {
      const encoded = Buffer.from(JSON.stringify(header)).toString("base64");
      const response = await fetch(url, { headers: { "payment-signature": encoded } });
      await response.arrayBuffer();
      return response.status;
    };
    const { extensions, ...onChain } = JSON.parse(Buffer.from(signature, "base64").toString());
    expect(extensions?.["payment-identifier"]?.info?.id).toMatch(/^pay_[0-9a-f]{32}$/);
    expect(await send(onChain)).toBe(409);
    expect(await send({ ...onChain, extensions })).toBe(200);
    expect(await payer.transactions()).toHaveLength(1);
  });

  it("prints the JSON of the API, and the receipt next to it", async () => {
    const payer = await stage.openPayer();
    const { code, out, err } = await payer.run(["wallet", WALLET, "--chains", "base", "--json"]);
    expect([code, JSON.parse(out)]).toEqual([0, exampleSnapshot]);
    expect(out.split("\n")).toHaveLength(2);
    expect(err).toBe(`${err.trim()}\n`);
    expect(err).toContain(`in transaction ${(await payer.transactions())[0]}`);
  });

  it("buys what fits into a budget, and shows it in the words of the whole", async () => {
    const payer = await stage.openPayer();
    const args = ["wallet", WALLET, "--detail", "summary", "--min-usd", "1"];
    const { code, out } = await payer.run(args);
    expect(code).toBe(0);
    expect(out).toMatch(/^Wallet +0x\w+\nWorth +\$\d.*\nHolds /);
    expect(out).toMatch(/in transaction 0x/);
    const chosen = await payer.run(["wallet", WALLET, "--fields", "address,summary.tokenCount", "--json"]);
    const { address, summary } = exampleSnapshot;
    expect(JSON.parse(chosen.out)).toEqual({ address, summary: { tokenCount: summary.tokenCount } });
    const unknown = await payer.run(["wallet", WALLET, "--fields", "total"]);
    expect(unknown.err).toMatch(/total is not in the response; the known are address, timestamp/);
    expect(await payer.transactions()).toHaveLength(2);
  });

  it("buys the difference of two blocks", async () => {
    const payer = await stage.openPayer();
    const blocks = ["--chains", "base", "--from", "base:1", "--to", "base:2"];
    const { code, out } = await payer.run(["diff", WALLET, ...blocks, "--json"]);
    expect([code, JSON.parse(out)]).toMatchObject([0, { address: WALLET.toLowerCase() }]);
    const shown = await payer.run(["diff", WALLET, ...blocks]);
    expect(shown.out).toMatch(/^Wallet +0x/);
    expect(await payer.transactions()).toHaveLength(2);
    const listed = await payer.run(["payments", "--wide"]);
    expect(listed.out).toMatch(/^when .* as of +chains .*\n.* base:1 to base:2 +base /);
    expect((await payer.run(["diff"])).err).toMatch(/^sextant: Name the wallet: .* diff 0x/);
  });

  it("shows the price and the payee, and pays nothing, with --quote", async () => {
    const payer = await stage.openPayer();
    const allowed = await payer.run(["wallet", WALLET, "--quote", "--json"]);
    expect([allowed.code, JSON.parse(allowed.out)]).toMatchObject([0, { price: "0.01", problem: null }]);
    const limited = await payer.run(["wallet", WALLET, "--quote", "--max", "0.001"]);
    expect(limited.out).toMatch(/problem +Not signed: the price 0\.01 is above/);
    expect(await payer.transactions()).toEqual([]);
  });

  it("charges a purchase once under one name", async () => {
    const payer = await stage.openPayer();
    const args = ["wallet", WALLET, "--purchase", "report", "--json"];
    const [first, second] = [await payer.run(args), await payer.run(args)];
    expect([first.code, second.code]).toEqual([0, 0]);
    expect(second.out).toBe(first.out);
    expect(await payer.transactions()).toHaveLength(1);
  });

  it.each<[string, readonly string[], Record<string, string>, number, RegExp]>([
    ["no wallet", ["wallet"], {}, 64, /^sextant: Name the wallet: node bin/],
    ["two wallets", ["wallet", WALLET, WALLET], {}, 64, /^sextant: Unexpected argument '0x/],
    [
      "an invalid wallet",
      ["wallet", "0x12"],
      {},
      65,
      /^sextant: "[^"]*" is not a wallet: name an address .*\n$/,
    ],
    ["an unknown option", ["wallet", WALLET, "--tip", "1"], {}, 64, /^sextant: Unknown option '--tip'/],
    ["no number", ["wallet", WALLET, "--max", "lots"], {}, 64, /^sextant: --max must be US dollars above 0/],
    ["an unknown chain", ["wallet", WALLET, "--chains", "moon"], {}, 65, /^sextant: .*chains must be/],
    [
      "a price above --max",
      ["wallet", WALLET, "--max", "0.0099"],
      {},
      3,
      /^sextant: Not signed: the price 0\.01 is above --max 0\.0099\.\n$/,
    ],
    [
      "a price above the setting, whatever --max says",
      ["wallet", WALLET, "--max", "5"],
      { SEXTANT_GUARD_PER_PAYMENT: "0.009" },
      3,
      /SEXTANT_GUARD_PER_PAYMENT 0\.009\.\n$/,
    ],
    [
      "a budget that is used up",
      ["wallet", WALLET],
      { SEXTANT_GUARD_PER_DAY: "0.005" },
      3,
      /exceed SEXTANT_GUARD_PER_DAY 0\.005; nothing was signed\.\n$/,
    ],
    [
      "a payee that is not allowed",
      ["wallet", WALLET],
      { SEXTANT_GUARD_PAYEES: ELSEWHERE },
      3,
      /is new; if it is the right one, add it to SEXTANT_GUARD_PAYEES\.\n$/,
    ],
    [
      "a token that is not allowed",
      ["wallet", WALLET],
      { SEXTANT_GUARD_ASSET: ELSEWHERE },
      3,
      /^sextant: Not signed: the service wants the token 0x/,
    ],
    [
      "a malformed key, without showing it",
      ["wallet", WALLET],
      { SEXTANT_PAYER_KEY: "0x5ec3e7" },
      78,
      /^sextant: SEXTANT_PAYER_KEY must be a private key/,
    ],
    [
      "no payer for a service elsewhere",
      ["wallet", WALLET, "--url", "https://portfolio.example"],
      {},
      78,
      /^sextant: Set SEXTANT_PAYER_KEY or SEXTANT_PAYER_KEY_FILE/,
    ],
    [
      "no local run and no service",
      ["wallet", WALLET],
      { SEXTANT_DATA: "/nowhere" },
      78,
      /^sextant: There is no local run: start one with npm start, or set SEXTANT_PORTFOLIO_URL/,
    ],
    [
      "a service that is not there",
      ["wallet", WALLET, "--url", "http://127.0.0.1:9"],
      { SEXTANT_PAYER_KEY: `0x${"01".repeat(32)}` },
      69,
      /^sextant: No complete response from http:\/\/127\.0\.0\.1:9\.\n$/,
    ],
  ])("rejects %s in one sentence and signs nothing", async (_name, args, environment, code, sentence) => {
    const payer = await stage.openPayer();
    const result = await payer.run(args, { environment });
    expect(result.err).toMatch(sentence);
    expect([result.code, result.out]).toEqual([code, ""]);
    expect(result.err.trimEnd().split("\n")).toHaveLength(1);
    expect(result.err).not.toContain("5ec3e7");
    const journal = journalOf(payer);
    expect(existsSync(journal) ? readFileSync(journal, "utf8") : "").toBe("");
    expect(await payer.transactions()).toEqual([]);
  });

  it("says until when a rejected payment may be charged, and how to pay before", async () => {
    const payer = await stage.openPayer(0n);
    for (const _ of [1, 2]) {
      const { code, out, err } = await payer.run(["wallet", WALLET]);
      expect([code, out]).toEqual([5, ""]);
      expect(err).toMatch(
        /Without SEXTANT_GUARD_NODE, nothing new is signed for this purchase before [-0-9T:]+Z; to pay again, name a new purchase \(--purchase\)\.\nsextant: It is not known whether the payment was charged\. Run the same command/,
      );
    }
    expect(readFileSync(journalOf(payer), "utf8").match(/"type":"signed"/g)).toHaveLength(1);
  });

  it("does not pay again on its own when the service says that the payment is used, and says how to", async () => {
    const payer = await stage.openPayer();
    payer.proxy.plan = () => "claim-conflict";
    for (const _ of [1, 2]) {
      const { code, out, err } = await payer.run(["wallet", WALLET]);
      expect([code, out]).toEqual([5, ""]);
      expect(err).toMatch(
        /^sextant: It is used\. .*to pay again, name a new purchase \(--purchase\)\.\nsextant: It is not known/,
      );
    }
    expect(await payer.transactions()).toHaveLength(1);
    payer.proxy.plan = () => "none";
    expect((await payer.run(["wallet", WALLET, "--purchase", "once-more"])).code).toBe(0);
    expect(await payer.transactions()).toHaveLength(2);
  });

  it("takes no payee, limit or journal from a file of the folder for a key from elsewhere", async () => {
    const payer = await stage.openPayer();
    const pins = Object.entries(stage.pins).map(([name, value]) => `${name}=${value}\n`);
    const file = join(payer.folder, ".env");
    const key = { SEXTANT_PAYER_KEY: payer.privateKey, SEXTANT_PORTFOLIO_URL: payer.proxy.url };
    for (const line of [...pins, "SEXTANT_GUARD_PER_PAYMENT=9\n", "SEXTANT_JOURNAL=new.jsonl\n"]) {
      writeFileSync(file, line);
      const { code, err } = await payer.run(["wallet", WALLET], { environment: key });
      expect([code, err]).toEqual([
        78,
        `sextant: ${line.split("=")[0]} is in .env, and the key of the payer is not; set both in the same place.\n`,
      ]);
    }
    expect(await payer.transactions()).toEqual([]);
    writeFileSync(file, `SEXTANT_PAYER_KEY=${payer.privateKey}\n${pins.join("")}`);
    expect((await payer.run(["wallet", WALLET])).code).toBe(0);
  });

  it("takes control characters out of tables, and escapes them in JSON", async () => {
    const evil = "\u001b]0;pwned\u0007\u009b31mUSD\u202eC\r\nSpoofed\u2028line";
    const { summary, tokens, positions } = exampleSnapshot;
    stage.snapshot = {
      ...exampleSnapshot,
      provider: evil,
      summary: {
        ...summary,
        warnings: [evil],
        chains: summary.chains.map((each) => ({ ...each, chain: evil })),
      },
      tokens: tokens.map((each) => ({ ...each, symbol: evil, balance: evil, priceUsd: evil })),
      positions: positions.map((each) => ({ ...each, name: evil, kind: evil })),
    };
    const payer = await stage.openPayer();
    for (const args of [
      ["wallet", WALLET],
      ["wallet", WALLET, "--json"],
    ]) {
      for (const columns of [null, 80]) {
        const { code, out } = await payer.run(args, {
          ...(columns === null ? {} : { columns }),
          environment: { NO_COLOR: "1" },
        });
        expect(code).toBe(0);
        expect(out.replaceAll("\n", "")).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
        expect(out).not.toMatch(/^Spoofed/m);
        if (args.includes("--json")) expect(JSON.parse(out)).toEqual(stage.snapshot);
      }
    }
  });

  it("shows a paid response also if it has another form", async () => {
    stage.snapshot = { address: WALLET, note: "of another version" };
    const payer = await stage.openPayer();
    const { code, out } = await payer.run(["wallet", WALLET]);
    expect(code).toBe(0);
    expect(out).toMatch(/^note +of another version$/m);
    expect(out).toMatch(/\nPaid \$0\.01 by /);
  });
});

describe("payments", () => {
  it("shows what the chain has proven not to be charged, and that it is no longer reserved", async () => {
    const payer = await stage.openPayer(0n);
    expect((await payer.run(["wallet", WALLET])).code).toBe(5);
    // A node of the chain at a final block after the end of the signature, by which it was not used.
    const results: Readonly<Record<string, unknown>> = {
      eth_chainId: "0x7a69",
      eth_getBlockByNumber: { number: "0x1", timestamp: "0xffffffff" },
      eth_call: `0x${"0".repeat(64)}`,
    };
    const node = await startLoopbackServer(async (request, response) => {
      const { method } = JSON.parse(String(await readBody(request))) as { method: string };
      response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result: results[method] }));
    });
    onTestFinished(node.stop);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    const environment = { SEXTANT_GUARD_NODE: node.url, NO_COLOR: "1" };
    const recovered = await payer.run(["payments", "recover"], { environment, columns: 80 });
    expect([recovered.code, recovered.out.split("\n")[1]]).toEqual([
      0,
      expect.stringMatching(/ released +\$0\.01 .* not charged$/),
    ]);
    expect((await payer.run(["payments"], { environment })).out).toMatch(/ released +\$0\.01 /);
    expect((await payer.run(["payments", "budget"])).out).toMatch(/total +\$0\.00 +\$50\.00\n/);
  });

  it("compares what was spent with the limits", async () => {
    const payer = await stage.openPayer();
    const environment = { SEXTANT_GUARD_PER_HOUR: "0.5", SEXTANT_GUARD_TOTAL: "12.25" };
    await payer.run(["wallet", WALLET]);
    const { out } = await payer.run(["payments", "budget"], { environment });
    expect(out).toBe(
      [
        "in     spent or reserved   limit",
        "hour               $0.01   $0.50",
        "day                $0.01   $5.00",
        "total              $0.01  $12.25",
        "",
      ].join("\n"),
    );
    const json = JSON.parse((await payer.run(["payments", "budget", "--json"], { environment })).out);
    expect(json).toEqual({
      spent: { hour: "0.01", day: "0.01", total: "0.01" },
      limits: { hour: "0.5", day: "5", total: "12.25" },
    });
  });

  it("rejects what it does not know, and a journal that nothing names", async () => {
    const payer = await stage.openPayer();
    expect(await payer.run(["payments", "burn"])).toMatchObject({
      code: 64,
      err: 'sextant: payments takes list, recover, budget, channels, refund, withdraw, restore, not "burn".\n',
    });
    expect(await payer.run(["payments"], { environment: { SEXTANT_DATA: "/nowhere" } })).toMatchObject({
      code: 78,
      err: expect.stringMatching(
        /^sextant: There is no local run: start one with npm start, or set SEXTANT_JOURNAL/,
      ),
    });
  });
});

// At the same time, each with a proxy of its own: a lost request is sent again after pauses of seconds.
describe.concurrent("after a lost request or response,", () => {
  it("wallet says that the charge is unknown, and pays no second time when it is run again", async () => {
    const payer = await stage.openPayer();
    payer.proxy.plan = () => "lose-response";
    const lost = await payer.run(["wallet", WALLET]);
    expect([lost.code, lost.out]).toEqual([5, ""]);
    expect(lost.err).toMatch(
      /\nsextant: It is not known whether the payment was charged\. Run the same command/,
    );
    payer.proxy.plan = () => "none";
    expect((await payer.run(["payments", "budget"])).out).toMatch(/hour +\$0\.01 +\$1\.00\n/);
    const again = await payer.run(["wallet", WALLET]);
    expect(again.code).toBe(0);
    expect(await payer.transactions()).toHaveLength(1);
    expect(again.out).toContain(String((await payer.transactions())[0]));
  });

  it("wallet says that the charge is unknown when it is interrupted while it pays", async () => {
    const payer = await stage.openPayer();
    const keyboard = new EventEmitter();
    payer.proxy.plan = () => {
      keyboard.emit("SIGINT", "SIGINT");
      return "lose-request";
    };
    const { code, out, err } = await payer.run(["wallet", WALLET], { keyboard });
    expect([code, out]).toEqual([5, ""]);
    expect(err).toContain("It is not known whether the payment was charged.");
  });

  it("payments recovers a purchase whose response was lost after settlement, without paying again", async () => {
    const payer = await stage.openPayer();
    payer.proxy.plan = () => "lose-response";
    expect((await payer.run(["wallet", WALLET])).code).toBe(5);
    payer.proxy.plan = () => "none";

    const open = await payer.run(["payments"]);
    expect(open.out).toMatch(
      /^when +state +amount +bought +wallet .*\n[0-9: -]+ open +\$0\.01 +wallet +0xd8da6bf26964/,
    );
    const recovered = await payer.run(["payments", "recover", "--json"]);
    const [transaction] = await payer.transactions();
    expect(recovered.code).toBe(0);
    expect(JSON.parse(recovered.out)).toMatchObject({
      payment: { state: "paid", transaction, amount: "10000" },
      data: exampleSnapshot,
      error: null,
    });
    expect(await payer.transactions()).toHaveLength(1);
    expect((await payer.run(["payments", "recover"])).out).toBe("No payment is open.\n");
    const listed = await payer.run(["payments", "list"], { columns: 80, environment: { NO_COLOR: "1" } });
    expect(listed.out).toMatch(
      /\n[0-9 :-]{19} +paid +\$0\.01 +wallet +0xd8[0-9a-f]+…6045 +0x[0-9a-f]+…[0-9a-f]{4}\n$/,
    );
    for (const line of listed.out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect((await payer.run(["payments"])).out).toMatch(/ wallet +as of +chains +transaction /);
  });

  it("payments recover ends with 5 while an outcome stays unknown", async () => {
    const payer = await stage.openPayer();
    payer.proxy.plan = () => "lose-request";
    expect((await payer.run(["wallet", WALLET])).code).toBe(5);
    const narrow = await payer.run(["payments", "recover"], { columns: 80, environment: { NO_COLOR: "1" } });
    expect(narrow.out).toMatch(/ open +\$0\.01 .* charged: unknown, U.*\n$/);
    const recovered = await payer.run(["payments", "recover"]);
    expect(recovered.out).toMatch(/ open +\$0\.01 .* charged: unknown, UNREACHABLE\n$/);
    expect(recovered.code).toBe(5);
    expect(await payer.transactions()).toEqual([]);
  });

  it("payments recover sends no more when it is interrupted, and says so at once", async () => {
    const payer = await stage.openPayer();
    payer.proxy.plan = () => "lose-request";
    for (const name of ["one", "two"]) {
      expect((await payer.run(["wallet", WALLET, "--purchase", name])).code).toBe(5);
    }
    const keyboard = new EventEmitter();
    let sent = 0;
    payer.proxy.plan = () => {
      sent += 1;
      keyboard.emit("SIGINT", "SIGINT");
      return "lose-request";
    };
    const { code, out } = await payer.run(["payments", "recover"], { keyboard });
    expect([code, out.match(/charged: unknown, (ABORTED|UNREACHABLE)\n/g)?.length]).toEqual([5, 2]);
    expect(sent).toBe(1);
  });

  it("payments recovers what it can next to a payment to another service, whose signature goes nowhere else", async ({
    onTestFinished,
  }) => {
    const payer = await stage.openPayer();
    const elsewhere = await startFaultyProxy(payer.proxy.url);
    onTestFinished(() => elsewhere.stop());
    elsewhere.plan = () => "lose-request";
    const settings = { SEXTANT_PAYER_KEY: payer.privateKey, SEXTANT_JOURNAL: journalOf(payer) };
    const environment = { ...settings, ...stage.pins };
    const other = await payer.run(["wallet", WALLET, "--url", elsewhere.url], { environment });
    payer.proxy.plan = () => "lose-request";
    const own = await payer.run(["wallet", WALLET]);
    expect([other.code, own.code]).toEqual([5, 5]);
    payer.proxy.plan = () => "none";
    const { code, out } = await payer.run(["payments", "recover"]);
    expect(out).toMatch(
      / open +\$0\.01 .* charged: unknown, TERMS_REJECTED\n.* paid +\$0\.01 .* paid in 0x\w{64}\n$/,
    );
    expect(code).toBe(5);
    expect(await payer.transactions()).toHaveLength(1);
  });
});
