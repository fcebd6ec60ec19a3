// `sextant exposure` and `sextant diff`: tables of what was bought, prices without buying, and wallets by name.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exampleDay } from "../../src/lib/moment.ts";
import { diffRoute } from "../../src/portfolio/http/routes/diff.ts";
import { exposureRoute } from "../../src/portfolio/http/routes/exposure.ts";
import { exampleExposure, exampleSnapshot } from "../../src/schema/portfolio/examples.ts";
import { openPaidRun } from "./paid-run.ts";

const WALLET = exampleSnapshot.address;
let stage: Awaited<ReturnType<typeof openPaidRun>>;
beforeAll(async () => {
  stage = await openPaidRun();
});
afterAll(() => stage?.close());

const FROM = ["--from", "base:30000000,ethereum:22000000"];

describe("exposure", () => {
  it("shows each permission with spender, token, allowance, value at risk and reasons", async () => {
    const payer = await stage.openPayer();
    const { code, out } = await payer.run(["exposure", WALLET]);
    expect(code).toBe(0);
    expect(out).toMatch(/^At risk {5}\$1,250\.25 {3}1 permission, 1 unlimited, 1 of unknown spenders$/m);
    expect(out).toMatch(/^ {2}spender +token +chain +allowance +at risk +reasons +kind$/m);
    expect(out).toMatch(
      /^ {2}0x0+bad00 +USDC +base +unlimited +\$1,250\.25 +unlimited, unknown spender +erc20-allowance$/m,
    );
    const revoke = exampleExposure.permissions[0]?.revoke;
    expect(out).toContain(`
How to revoke: send each from the wallet itself
  USDC on base, 0x00000000000000000000000000000000000bad00: Sets the allowance of the spender to zero.
    to    0x833589fcd6edb6e08f4c7c32d4f71b54bda02913
    data  ${revoke?.type === "call" ? revoke.data : ""}
`);
    expect(out).toMatch(/\nWhat to know\n {2}Base: permissions are /);
    expect(out).toMatch(/\n\nPaid \$0\.01 by 0x\w{40} on eip155:31337 in transaction 0x\w{64}\n$/);
    expect(await payer.transactions()).toHaveLength(1);
  });

  it("fits a terminal, and is JSON on request", async () => {
    const payer = await stage.openPayer();
    const narrow = await payer.run(["exposure", WALLET], { columns: 60, environment: { NO_COLOR: "1" } });
    for (const line of narrow.out.split("\n").filter((each) => /\S \S/.test(each))) {
      expect(line.length).toBeLessThanOrEqual(60);
    }
    expect(narrow.out).toContain("  hidden: reasons, kind; see --json");
    const { out } = await payer.run(["exposure", WALLET, "--json", "--purchase", "json"]);
    expect(JSON.parse(out)).toEqual({ ...exposureRoute.responseExample, address: WALLET });
  });
});

describe("diff", () => {
  it("shows each change split into quantity and price", async () => {
    const payer = await stage.openPayer();
    const { code, out } = await payer.run(["diff", WALLET, ...FROM]);
    expect(code).toBe(0);
    expect(out).toMatch(/^Change {6}\$3,300\.00$/m);
    expect(out).toMatch(/^ {2}chain +before +after +change +by quantity +by price +other$/m);
    expect(out).toMatch(
      /^ {2}base +\$6,000\.00 +\$9,300\.00 +\$3,300\.00 +\$3,000\.00 +\$300\.00 +\$0\.00$/m,
    );
    expect(out).toMatch(/^ {2}token +chain +change +by quantity +by price$/m);
    expect(out).toMatch(/\n\nPaid \$0\.01 by /);
  });

  it("prints a diff as JSON on request", async () => {
    const payer = await stage.openPayer();
    const { out } = await payer.run(["diff", WALLET, ...FROM, "--json"]);
    expect(JSON.parse(out)).toEqual({ ...diffRoute.responseExample, address: WALLET });
  });
});

const COMMANDS = [
  ["wallet", []],
  ["diff", FROM],
  ["exposure", []],
] as const;

describe.each(COMMANDS)("%s", (command, options) => {
  it("signs nothing for an address with a wrong checksum, and says how to go on", async () => {
    const payer = await stage.openPayer();
    const mistyped = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee";
    for (const more of [[], ["--quote"]]) {
      const { code, out, err } = await payer.run([command, mistyped, ...options, ...more]);
      expect([code, out]).toEqual([65, ""]);
      expect(err).toMatch(
        /^sextant: The address 0x5aAe\w+ has a wrong checksum \(EIP-55\).* in lower case\.\n$/,
      );
    }
    expect(await payer.transactions()).toEqual([]);
  });

  it("shows the price and the payee, and pays nothing, with --quote", async () => {
    const payer = await stage.openPayer();
    const { code, out } = await payer.run([command, WALLET, ...options, "--quote", "--json"]);
    expect([code, JSON.parse(out)]).toEqual([
      0,
      expect.objectContaining({ price: "0.01", problem: null, url: expect.stringContaining(WALLET) }),
    ]);
    const shown = await payer.run([command, WALLET, ...options, "--quote"], {
      columns: 80,
      environment: { NO_COLOR: "1" },
    });
    expect(shown.out).toMatch(/^Price +\$0\.01 in USDC\nToken +0x[0-9a-f]{40}\n/);
    expect(await payer.transactions()).toEqual([]);
  });
});

it("shows the blocks of purchases whole, or how many they are, in 80 columns", async () => {
  const payer = await stage.openPayer();
  await payer.run(["diff", WALLET, ...FROM]);
  await payer.run(["wallet", WALLET, "--block", "base:30000000"]);
  const { out } = await payer.run(["payments"], { columns: 80, environment: { NO_COLOR: "1" } });
  for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  const [head = "", ...rows] = out.trimEnd().split("\n");
  expect(rows.map((row) => row.slice(head.indexOf("as of")).trimEnd())).toEqual([
    "base:30000000",
    "2 blocks to now",
  ]);
});

it("lists what was bought, newest first", async () => {
  const payer = await stage.openPayer();
  for (const [command, options] of COMMANDS) await payer.run([command, WALLET, ...options]);
  const { out } = await payer.run(["payments"]);
  const [, ...rows] = out.trimEnd().split("\n");
  expect(rows.map((row) => / paid +\$0\.01 +(\w+) /.exec(row)?.[1])).toEqual(["exposure", "diff", "wallet"]);
});

it("says what a side of a difference may be, and asks no service", async () => {
  const payer = await stage.openPayer();
  const environment = { SEXTANT_PORTFOLIO_URL: "http://127.0.0.1:9" };
  const from = await payer.run(["diff", WALLET, "--from", "0xdead"], { environment });
  expect([from.code, from.err]).toEqual([
    65,
    `sextant: --from must be a time such as 7d, ${exampleDay()} or ${exampleDay()}T12:00Z, a block of each chain, such as base:30000000,ethereum:22000000, or the snapshotId of a snapshot (64 hex digits without 0x), not "0xdead".\n`,
  ]);
  const to = await payer.run(["diff", WALLET, ...FROM, "--to", "latest"], { environment });
  expect([to.code, to.err]).toEqual([
    65,
    expect.stringMatching(/^sextant: --to must be a time .*"latest"\.\n$/),
  ]);
  const at = await payer.run(["wallet", WALLET, "--at", "yesterday"], { environment });
  expect([at.code, at.err]).toEqual([65, expect.stringMatching(/^sextant: --at must be a time such as 7d/)]);
});

it("names --max if it is the limit that forbids the payment", async () => {
  const payer = await stage.openPayer();
  const low = await payer.run(["wallet", WALLET, "--max", "0.001"]);
  expect([low.code, low.err]).toEqual([3, expect.stringMatching(/0\.01 is above --max 0\.001/)]);
  const environment = { SEXTANT_GUARD_PER_PAYMENT: "0.001" };
  const set = await payer.run(["wallet", WALLET, "--max", "0.02"], { environment });
  expect([set.code, set.err]).toEqual([3, expect.stringMatching(/above SEXTANT_GUARD_PER_PAYMENT 0\.001/)]);
  expect(await payer.transactions()).toEqual([]);
});

it("says what a wallet may be if it is given something else", async () => {
  const payer = await stage.openPayer();
  for (const given of ["bad name", "0x12", "bad name.eth", "vitalik"]) {
    expect(await payer.run(["wallet", given])).toMatchObject({
      code: 65,
      err: `sextant: "${given}" is not a wallet: name an address (0x and 40 hex digits), or a name such as vitalik.eth.\n`,
    });
  }
});

it("does not say on the word of the service that nothing was charged for a request that it rejects", async () => {
  const payer = await stage.openPayer();
  payer.proxy.plan = () => "reject-request";
  for (const _ of [1, 2]) {
    const { code, out, err } = await payer.run(["diff", WALLET, ...FROM]);
    expect([code, out]).toEqual([5, ""]);
    expect(err).toMatch(
      /^sextant: A block is wrong\. The service says that it charged nothing, .*\nsextant: It is not known whether the payment was charged\./,
    );
  }
  const { out } = await payer.run(["payments"]);
  expect(out.match(/ rejected /g)).toHaveLength(1);
});

// At the same time, each with a proxy of its own: a lost request is sent again after pauses of seconds.
it.concurrent.each(COMMANDS)(
  "%s takes a name, and repeats a purchase whose response was lost without paying again",
  async (command, options) => {
    const payer = await stage.openPayer();
    payer.proxy.plan = () => "lose-response";
    expect((await payer.run([command, "vitalik.eth", ...options])).code).toBe(5);
    payer.proxy.plan = () => "none";
    // The signature is for the address, whether the wallet was named or not.
    const again = await payer.run([command, WALLET, ...options]);
    expect([again.code, again.out.split("\n")[0]]).toEqual([
      0,
      expect.stringContaining(WALLET.toLowerCase()),
    ]);
    expect(await payer.transactions()).toHaveLength(1);
  },
);

describe("wallet --proof 1", () => {
  it("says how much of the value is proven, and keeps the proofs for programs", async () => {
    const payer = await stage.openPayer();
    const { code, out } = await payer.run(["wallet", WALLET, "--proof", "1"]);
    expect([code, out.split("\n").find((line) => line.startsWith("Proven"))]).toEqual([
      0,
      "Proven: $0 of $7750.25. The proofs are in what --json prints and --save writes, for sextant verify.",
    ]);
    const json = await payer.run(["wallet", WALLET, "--proof", "1", "--json"]);
    expect(JSON.parse(json.out).proofs.chains).toMatchObject([
      { chain: "base", reason: "no_proofs" },
      { chain: "ethereum", reason: "no_proofs" },
    ]);
  });
});
