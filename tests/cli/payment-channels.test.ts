// `sextant payments channels`, `refund` and `withdraw`: what channels hold, and how it comes back.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { LOCAL_JOURNAL } from "../../src/local/run-files.ts";
import { openPaidRun } from "./paid-run.ts";

const WALLET = "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955";

let stage: Awaited<ReturnType<typeof openPaidRun>>;
beforeAll(async () => {
  stage = await openPaidRun({ channels: { limits: { blockAgeMsMax: 3_600_000 } } });
});
afterAll(() => stage?.close());

async function openPayer() {
  const payer = await stage.openPayer();
  const { rpcUrl } = stage.paid.chain;
  const environment = { SEXTANT_CHANNEL_DEPOSIT: "0.2", SEXTANT_GUARD_NODE: rpcUrl, NO_COLOR: "1" };
  return { ...payer, sextant: (...args: string[]) => payer.run(args, { columns: 80, environment }) };
}

it("shows channels in 80 columns, and gets what is left from the service", async () => {
  const { sextant, privateKey } = await openPayer();
  expect((await sextant("payments", "channels")).err).toBe("No channel was opened yet.\n");
  expect((await sextant("wallet", WALLET)).out).toMatch(
    /Paid \$0\.01 by 0x\w+ on eip155:31337 in\s+transaction 0x/,
  );
  expect((await sextant("wallet", WALLET)).out).toMatch(
    /Paid \$0\.01 by 0x\w+ on eip155:31337 by\s+channel 0x/,
  );
  const { out } = await sextant("payments", "channels");
  for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(out).toMatch(
    /^channel +state +left +bought +deposited .*\n0x[0-9a-f]{10} +open +\$0\.18 +\$0\.02 +\$0\.20 /,
  );
  const [line = ""] = (await sextant("payments", "channels", "--json")).out.split("\n");
  const { id, left, signed } = JSON.parse(line) as Record<string, string>;
  expect([left, signed]).toEqual(["180000", "20000"]);
  const refund = await sextant("payments", "refund", String(id).slice(0, 12));
  expect([refund.code, refund.out]).toEqual([
    0,
    expect.stringMatching(/^\$0\.18 came back, as the service says in tr.*\nThe budget has it again once /),
  ]);
  expect(await stage.paid.balance(privateKeyToAccount(privateKey).address)).toBe(980_000n);
  expect((await sextant("payments", "list", "all")).code).toBe(64);
  expect((await sextant("payments", "refund", "0xffffffffffff")).code).toBe(2);
});

it("frees the budget of what a refund returned, by the node of the local run", async () => {
  const { run, folder } = await stage.openPayer();
  const { chain } = stage.paid;
  const file = join(folder, "local.json");
  const local = JSON.parse(readFileSync(file, "utf8")) as object;
  const chains = [{ name: "local", chainId: 31_337, rpcUrl: chain.rpcUrl }];
  writeFileSync(file, JSON.stringify({ ...local, chains }));
  const sextant = (...args: string[]) => run(args, { environment: { SEXTANT_CHANNEL_DEPOSIT: "0.2" } });
  const spent = async () => JSON.parse((await sextant("payments", "budget", "--json")).out).spent.total;
  await sextant("wallet", WALLET);
  await sextant("payments", "refund");
  expect(await spent()).toBe("0.2");
  await chain.mine(40);
  expect((await sextant("payments", "channels")).code).toBe(0);
  expect(await spent()).toBe("0.01");
});

it("finds the channels of a journal that was deleted, without the service, and begins to take them back", async () => {
  const { sextant, privateKey, proxy, folder } = await openPayer();
  await sextant("wallet", WALLET);
  proxy.plan = () => "unavailable";
  rmSync(join(folder, LOCAL_JOURNAL));
  expect((await sextant("payments", "channels")).err).toBe("No channel was opened yet.\n");
  expect(await sextant("payments", "restore", "first")).toMatchObject({ code: 64 });
  expect((await sextant("payments", "restore")).out).toMatch(
    /\n0x[0-9a-f]{10} +open +\$0\.20 +\$0\.00 +\$0\.20 /,
  );
  expect((await sextant("payments", "restore")).err).toBe(
    "No other channel of this account holds anything.\n",
  );
  const { address } = privateKeyToAccount(privateKey);
  await stage.paid.chain.request("hardhat_setBalance", [address, "0xde0b6b3a7640000"]);
  expect((await sextant("payments", "withdraw")).out).toMatch(/^The withdrawal of \$0\.20 has begun\./);
  expect((await sextant("payments", "channels")).out).toContain(" closing ");
});

it("takes back what is left without the service, after the delay", async () => {
  const { sextant, privateKey, proxy } = await openPayer();
  await sextant("wallet", WALLET);
  proxy.plan = () => "unavailable";
  const { address } = privateKeyToAccount(privateKey);
  await stage.paid.chain.request("hardhat_setBalance", [address, "0xde0b6b3a7640000"]);
  expect((await sextant("payments", "withdraw")).out).toMatch(
    /^The withdrawal of \$0\.19 has begun\. Run the same command/,
  );
  const waiting = await sextant("payments", "withdraw", "--json");
  expect(waiting.code).toBe(1);
  const { state, availableAt } = JSON.parse(waiting.out) as { state: string; availableAt: number };
  expect(state).toBe("waiting");
  await stage.paid.chain.setNextBlockTimestamp(BigInt(availableAt));
  await stage.paid.chain.mine();
  expect(await sextant("payments", "withdraw")).toMatchObject({ code: 0, out: "$0.19 came back.\n" });
  expect(await stage.paid.balance(address)).toBe(990_000n);
  expect((await sextant("payments", "channels")).out).toMatch(/ closed +\$0\.00 +\$0\.01 +\$0\.20 /);
});
