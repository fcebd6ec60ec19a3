// The token that is paid with: its contract decides about decimals and domain, and a service that differs does not start.

import { startLocalChain } from "@sextant/local-chain/local-chain";
import { domainSeparator, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { fixedReturnCode } from "../../tests/support/chain/fixed-return-contract.ts";
import { startFaultyNode } from "../../tests/support/nodes/faulty-node.ts";
import { createTestLog } from "../../tests/support/nodes/test-rpc.ts";
import { decodeBase64Header, waitFor } from "../../tests/support/payments/paid-client.ts";
import { openPaidStage, type PaidStage } from "../../tests/support/payments/paid-stage.ts";
import {
  encodeNumber,
  encodeText,
  TOKEN,
  TOKEN_CHAIN_ID,
  TOKEN_FUNCTIONS,
  tokenEnvironment,
} from "../../tests/support/payments/token-service.ts";
import { runSextantInProcess } from "../../tests/support/process/run-in-process.ts";
import { startPortfolioCommand as start } from "../../tests/support/process/service-command.ts";
import { createDatabaseEnvironment } from "../../tests/support/process/sextant-process.ts";
import { createRpc } from "../chain/rpc/client.ts";
import { paymentSettings } from "../config/payment-settings.ts";
import { type Environment, readConfig } from "../config/read-config.ts";
import { Secret } from "../lib/secret.ts";
import { readPaymentToken, resolvePaymentAsset } from "./payment-token.ts";

let stage: PaidStage;
let database: Awaited<ReturnType<typeof createDatabaseEnvironment>>;
beforeAll(async () => {
  stage = await openPaidStage("in process");
  database = await createDatabaseEnvironment();
});
afterAll(async () => {
  await database.drop();
  await stage.close();
});

const separator = (name: string, version: string, chainId = TOKEN_CHAIN_ID) =>
  domainSeparator({ domain: { name, version, chainId, verifyingContract: TOKEN } });

const token = (functions: Readonly<Record<string, Hex>>) =>
  stage.chain.request("hardhat_setCode", [TOKEN, fixedReturnCode(functions)]);

const sold = (changed: Environment = {}): Environment => ({
  ...tokenEnvironment(stage, database.environment),
  ...changed,
});

/** The price of one snapshot in a started service. */
async function amountOf(environment: Environment): Promise<string | undefined> {
  const service = start(environment);
  const response = await fetch(`${await service.listening()}/portfolio`);
  service.stop.abort();
  expect(await service.ended).toBe(0);
  const { accepts } = decodeBase64Header<{ accepts: { amount: string }[] }>(response, "payment-required");
  return accepts[0]?.amount;
}

describe("a price in dollars", () => {
  it.each([
    [18n, "10000000000000000"],
    [6n, "10000"],
    [2n, "1"],
  ])("converts a price in dollars to a token with %s decimals", async (decimals, amount) => {
    await token({
      ...TOKEN_FUNCTIONS,
      "decimals()": encodeNumber(decimals),
      "DOMAIN_SEPARATOR()": separator("Dollar", "1"),
    });
    expect(await amountOf(sold())).toBe(amount);
  });

  it("rejects a price with more decimals than the token", async () => {
    await token({ ...TOKEN_FUNCTIONS, "decimals()": encodeNumber(1n) });
    await expect(start(sold()).ended).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: "PORTFOLIO_PRICE_USD must have at most 1 decimal places, like the payment token.",
    });
  });
});

describe("a token that is not the configured one", () => {
  const cases: readonly (readonly [string, Readonly<Record<string, Hex>>, RegExp])[] = [
    ["no contract", {}, /does not report its decimals\(\)/],
    [
      "no decimals",
      { "name()": encodeText("Dollar"), "version()": encodeText("1") },
      /does not report its decimals\(\)/,
    ],
    [
      "decimals that are none",
      { ...TOKEN_FUNCTIONS, "decimals()": encodeNumber(2n ** 200n) },
      /does not report its decimals/,
    ],
    [
      "another name",
      { ...TOKEN_FUNCTIONS, "name()": encodeText("Euro") },
      /reports name "Euro" and version "1"; EIP-712 name "Dollar" and version "1" were expected/,
    ],
    [
      "another version",
      { ...TOKEN_FUNCTIONS, "version()": encodeText("2"), "DOMAIN_SEPARATOR()": separator("Dollar", "2") },
      /reports name "Dollar" and version "2"; EIP-712 name "Dollar" and version "1" were expected/,
    ],
    [
      "no version",
      { "decimals()": encodeNumber(6n), "name()": encodeText("Dollar") },
      /and version nothing; /,
    ],
    [
      "the domain of another chain",
      { ...TOKEN_FUNCTIONS, "DOMAIN_SEPARATOR()": separator("Dollar", "1", 1) },
      /and its DOMAIN_SEPARATOR\(\) is that of another domain; /,
    ],
  ];

  it.each(cases)(
    "starts neither portfolio nor facilitator for a token with %s",
    async (_name, has, words) => {
      await (Object.keys(has).length > 0
        ? token(has)
        : stage.chain.request("hardhat_setCode", [TOKEN, "0x"]));
      await expect(start(sold()).ended).rejects.toMatchObject({
        code: "CONFIG_INVALID",
        message: expect.stringMatching(words),
      });
      const { PORTFOLIO_PORT: _port, RPC_URL_8453: _node, PAY_TO: _payee, ...rest } = sold();
      const { code, err } = await runSextantInProcess(["facilitator"], { ...rest, FACILITATOR_PORT: "0" });
      expect(err).toMatch(words);
      expect(code).toBe(78);
    },
  );

  it("identifies a token by its separator alone, whatever name it reports", async () => {
    const named = { ...TOKEN_FUNCTIONS, "name()": encodeText("Dollar (renamed)") };
    await token({ ...named, "DOMAIN_SEPARATOR()": separator("Dollar", "1") });
    expect(await amountOf(sold())).toBe("10000000000000000");
  });
});

describe("the token that is known on a chain", () => {
  it("rejects a chain's known token if its decimals differ", async () => {
    const usdc: Hex = "0x036cbd53842c5426634e7929541ec2318f3dcf7e";
    const code = {
      [usdc]: fixedReturnCode({
        ...TOKEN_FUNCTIONS,
        "name()": encodeText("USDC"),
        "version()": encodeText("2"),
      }),
    };
    const chain = await startLocalChain({ chainId: 84_532, code });
    const {
      PAYMENT_ASSET: _asset,
      PAYMENT_ASSET_NAME: _name,
      PAYMENT_ASSET_VERSION: _version,
      ...rest
    } = sold();
    const environment = { ...rest, PAYMENT_NETWORK: "eip155:84532", PAYMENT_RPC_URL: chain.rpcUrl };
    await expect(start(environment).ended).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: `The token ${usdc} on eip155:84532 has 18 decimals; 6 were expected.`,
    });
    await chain.stop();
  });
});

describe("what is given away to developers", () => {
  it("starts with a bypass for developers and any token that can be read", async () => {
    await token(TOKEN_FUNCTIONS);
    const service = start(sold({ X402_DEV_BYPASS: "true" }));
    const health = await (await fetch(`${await service.listening()}/health`)).json();
    expect(health).toMatchObject({ x402DevBypass: true });
    service.stop.abort();
    expect(await service.ended).toBe(0);
  });

  it("needs a node for the bypass if only the token knows its decimals", async () => {
    const { PAYMENT_RPC_URL: _url, ...rest } = sold({ X402_DEV_BYPASS: "true" });
    await expect(start(rest).ended).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: "PAYMENT_RPC_URL must name at least one node of eip155:31337.",
    });
  });
});

// As a service does at start, with short pauses of the client; payment-token.chaos.test.ts starts the service itself.
describe("while no node responds", () => {
  const FAILED = "Reading the payment token failed, retrying";

  async function readThroughNode() {
    await token(TOKEN_FUNCTIONS);
    const state = { isUp: false };
    const plan = () => (state.isUp ? null : ({ kind: "reset" } as const));
    const node = await startFaultyNode({ upstream: stage.chain.rpcUrl, plan });
    const { log, logged } = createTestLog();
    const limits = { attemptsMax: 2, pauseMsBase: 1, pauseMsMax: 20 };
    const rpc = createRpc({ urls: [new Secret(node.url)], log, onCall: null, limits });
    onTestFinished(async () => {
      rpc.close();
      await node.stop();
    });
    const stop = new AbortController();
    const asset = resolvePaymentAsset(readConfig(sold(), paymentSettings));
    const reading = readPaymentToken(rpc, asset, { log, signal: stop.signal });
    return { reading, state, stop, logged };
  }

  it("waits for the token's facts until a node responds, and assumes nothing", async () => {
    const { reading, state, logged } = await readThroughNode();
    let isRead = false;
    void reading.then(() => (isRead = true));
    await waitFor(() => logged().split(FAILED).length > 2);
    expect(isRead).toBe(false);
    state.isUp = true;
    expect(await reading).toMatchObject({ asset: TOKEN, decimals: 18 });
  });

  it("ends the wait for the token's facts on request", async () => {
    const { reading, stop, logged } = await readThroughNode();
    const ended = expect(reading).rejects.toThrow("stopped");
    await waitFor(() => logged().includes(FAILED));
    stop.abort(new Error("stopped"));
    await ended;
  });
});
