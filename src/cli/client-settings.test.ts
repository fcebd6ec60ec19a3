// The client of the commands: what comes from settings, what from a local run, and what is rejected.
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGuard } from "@sextant/client/payments/guard";
import { privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { clientSettings } from "../config/client-settings.ts";
import { parseAmount } from "../lib/decimal.ts";
import { openClient } from "./client-settings.ts";
import { openReader } from "./open-reader.ts";

const KEY = `0x${"07".repeat(32)}` as const;
const OTHER_KEY = `0x${"09".repeat(32)}` as const;
const ASSET = `0x${"aa".repeat(20)}`;
const PAYEE = `0x${"bb".repeat(20)}`;
const LOCAL = {
  api: "http://127.0.0.1:3001",
  portfolio: "http://127.0.0.1:3002",
  chains: [
    { name: "base", chainId: 8453, rpcUrl: "http://127.0.0.1:8546" },
    { name: "local", chainId: 31337, rpcUrl: "http://127.0.0.1:8545" },
  ],
  payment: { network: "eip155:31337", asset: ASSET, payTo: PAYEE },
  accounts: [{ name: "payer", privateKey: KEY }],
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sextant-client-settings-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function writeLocal(run: unknown = LOCAL): void {
  writeFileSync(join(folder, "local.json"), typeof run === "string" ? run : JSON.stringify(run));
}

async function open(environment: Record<string, string> = {}, max: string | null = null) {
  const client = openClient({ SEXTANT_DATA: folder, HOME: folder, ...environment }, { needs: [], max });
  await client.close();
  return client;
}

describe("a local run", () => {
  it("takes services, payer, guard and journal from a local run", async () => {
    writeLocal();
    expect(await open()).toMatchObject({
      payer: privateKeyToAccount(KEY).address,
      journalFile: join(folder, "payments.jsonl"),
      guard: { network: "eip155:31337", asset: ASSET, payees: [PAYEE], perPayment: "0.05", total: "50" },
    });
    expect(statSync(join(folder, "payments.jsonl")).mode & 0o777).toBe(0o600);
  });

  it("takes the node of its chain for its own payer, unless a setting names one", async () => {
    writeLocal();
    const nodeOf = async (environment: Record<string, string>) => (await open(environment)).guard.node;
    expect(await nodeOf({})).toBe("http://127.0.0.1:8545");
    expect(await nodeOf({ SEXTANT_GUARD_NODE: "http://127.0.0.1:9" })).toBe("http://127.0.0.1:9");
    for (const other of [
      { SEXTANT_PAYER_KEY: OTHER_KEY },
      { SEXTANT_GUARD_NETWORK: "eip155:8453" },
      { SEXTANT_PORTFOLIO_URL: "https://portfolio.example" },
    ]) {
      expect(await nodeOf(other)).toBeUndefined();
    }
    writeLocal({ ...LOCAL, chains: undefined });
    expect(await nodeOf({})).toBeUndefined();
  });

  it("pays for no service but that of the local run", async () => {
    writeLocal();
    const { payer, guard, journalFile } = await open({ SEXTANT_PORTFOLIO_URL: "https://portfolio.example" });
    expect([payer, journalFile]).toEqual([null, null]);
    expect(guard).not.toHaveProperty("payees");
    expect(guard).not.toHaveProperty("network");
    const same = await open({ SEXTANT_PORTFOLIO_URL: `${LOCAL.portfolio}/` });
    expect(same.payer).toBe(privateKeyToAccount(KEY).address);
  });

  it("gives no payee, token or key for payments on another chain", async () => {
    writeLocal();
    const { payer, guard } = await open({ SEXTANT_GUARD_NETWORK: "eip155:8453" });
    expect(payer).toBeNull();
    expect(guard).toMatchObject({ network: "eip155:8453" });
    expect([guard.payees, guard.asset]).toEqual([undefined, undefined]);
    const same = await open({ SEXTANT_GUARD_NETWORK: "eip155:31337" });
    expect(same.guard.payees).toEqual([PAYEE]);
  });

  it.each([
    ["names the chain of real money", { ...LOCAL, payment: { ...LOCAL.payment, network: "eip155:8453" } }],
    ["is not JSON", "{"],
    ["has no services", { ...LOCAL, portfolio: "here" }],
    ["has no accounts", { ...LOCAL, accounts: null }],
    ["names no node by its URL", { ...LOCAL, chains: [{ chainId: 31337, rpcUrl: "here" }] }],
  ])("rejects a local run whose file %s", async (_name, run) => {
    writeLocal(run);
    await expect(open({ SEXTANT_PAYER_KEY: KEY })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("is not what a local run writes"),
    });
  });
});

describe("settings", () => {
  it("reads payer and guard from settings without a local run, with a journal per payer", async () => {
    const state = join(folder, "state");
    const { payer, guard, journalFile } = await open({
      SEXTANT_PORTFOLIO_URL: "https://portfolio.example",
      SEXTANT_PAYER_KEY: OTHER_KEY,
      SEXTANT_GUARD_NETWORK: "eip155:84532",
      SEXTANT_GUARD_PAYEES: `${PAYEE}, ${ASSET}`,
      SEXTANT_GUARD_PER_HOUR: "0.2",
      XDG_STATE_HOME: state,
    });
    const { address } = privateKeyToAccount(OTHER_KEY);
    expect(payer).toBe(address);
    expect(guard).toMatchObject({ network: "eip155:84532", payees: [PAYEE, ASSET], perHour: "0.2" });
    expect(journalFile).toBe(join(state, "sextant", `payments-${address.toLowerCase()}.jsonl`));
    expect(statSync(journalFile ?? "").mode & 0o777).toBe(0o600);
    expect(statSync(join(state, "sextant")).mode & 0o777).toBe(0o700);
  });

  it("prefers settings to those of a local run", async () => {
    writeLocal();
    const journal = join(folder, "mine.jsonl");
    expect(
      await open({
        SEXTANT_PAYER_KEY: OTHER_KEY,
        SEXTANT_GUARD_PAYEES: "first",
        SEXTANT_JOURNAL: journal,
      }),
    ).toMatchObject({
      payer: privateKeyToAccount(OTHER_KEY).address,
      guard: { payees: "first", asset: ASSET },
      journalFile: journal,
    });
  });

  it("defaults to the limits of the client", () => {
    const { limits } = createGuard({}, ["https://portfolio.example"]);
    const units = (name: keyof typeof clientSettings) =>
      parseAmount(String(clientSettings[name].fallback), 6, name);
    expect({
      perPayment: units("guardPerPayment"),
      perHour: units("guardPerHour"),
      perDay: units("guardPerDay"),
      total: units("guardTotal"),
    }).toEqual(limits);
  });

  it("lowers the largest payment by an argument, and never raises it", async () => {
    const limitOf = async (given: string) =>
      (await open({ SEXTANT_GUARD_PER_PAYMENT: "0.02" }, given)).guard.perPayment;
    expect([await limitOf("0.015"), await limitOf("0.10")]).toEqual(["0.015", "0.02"]);
  });

  it("opens no key and no journal for a read", () => {
    openReader({ SEXTANT_DATA: folder, SEXTANT_API_URL: LOCAL.api, SEXTANT_PAYER_KEY_FILE: "/nowhere" });
    writeLocal();
    openReader({ SEXTANT_DATA: folder });
    expect(existsSync(join(folder, "payments.jsonl"))).toBe(false);
  });
});

describe("a key in a file", () => {
  const ORDER = `0x${"f".repeat(31)}ebaaedce6af48a03bbfd25e8cd0364141`;
  const write = (text: string, mode: number) => {
    const file = join(folder, "payer.key");
    writeFileSync(file, text);
    chmodSync(file, mode);
    return { SEXTANT_PAYER_KEY_FILE: file };
  };

  it("reads a key from a file that only its owner can read", async () => {
    expect((await open(write(`${KEY}\n`, 0o400))).payer).toBe(privateKeyToAccount(KEY).address);
  });

  it.each([
    ["others can read it", () => write(KEY, 0o644), /must be readable by its owner only: run chmod 600/],
    ["it is not there", () => ({ SEXTANT_PAYER_KEY_FILE: "/nowhere" }), /cannot be read/],
    ["it is something else", () => write("7".repeat(1_000), 0o600), /must be 0x followed by 64 hex digits/],
    ["it is not a key of the curve", () => write(`0x${"00".repeat(32)}`, 0o600), /must be 0x followed by 64/],
    ["it is the order of the curve", () => write(ORDER, 0o600), /must be 0x followed by 64/],
    [
      "there is another one",
      () => ({ ...write(KEY, 0o600), SEXTANT_PAYER_KEY: OTHER_KEY }),
      /SEXTANT_PAYER_KEY or SEXTANT_PAYER_KEY_FILE, not both/,
    ],
  ])("rejects the file of a key when %s", async (_name, environment, message) => {
    const error = await open(environment()).catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({ code: "CONFIG_INVALID", message: expect.stringMatching(message) });
    expect(JSON.stringify(error)).not.toMatch(/0707|7777/);
  });
});
