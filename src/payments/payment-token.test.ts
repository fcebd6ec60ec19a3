// The token that is paid with: its contract decides about decimals and domain, and a service that differs does not start.

import { startLocalChain } from "@sextant/local-chain/local-chain";
import { domainSeparator, encodeAbiParameters, type Hex, numberToHex, parseAbiParameters } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixedReturnCode } from "../../tests/support/chain/fixed-return-contract.ts";
import { startFaultyNode } from "../../tests/support/nodes/faulty-node.ts";
import { decodeBase64Header, waitFor } from "../../tests/support/payments/paid-client.ts";
import { openPaidStage, type PaidStage } from "../../tests/support/payments/paid-stage.ts";
import { startPortfolioCommand } from "../../tests/support/process/portfolio-command.ts";
import { runSextantInProcess } from "../../tests/support/process/run-in-process.ts";
import { createDatabaseEnvironment } from "../../tests/support/process/sextant-process.ts";
import type { Environment } from "../config/read-config.ts";

const CHAIN_ID = 31_337;
const TOKEN: Hex = "0x00000000000000000000000000000000000d0110";
const NO_NODE = "http://127.0.0.1:9";

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

const text = (value: string) => encodeAbiParameters(parseAbiParameters("string"), [value]);
const number = (value: bigint) => numberToHex(value, { size: 32 });
const separator = (name: string, version: string, chainId = CHAIN_ID) =>
  domainSeparator({ domain: { name, version, chainId, verifyingContract: TOKEN } });

const token = (functions: Readonly<Record<string, Hex>>) =>
  stage.chain.request("hardhat_setCode", [TOKEN, fixedReturnCode(functions)]);
const dollar = { "decimals()": number(18n), "name()": text("Dollar"), "version()": text("1") };

const sold = (changed: Environment = {}): Environment => ({
  ...database.environment,
  PORTFOLIO_PORT: "0",
  RPC_URL_8453: NO_NODE,
  PAY_TO: stage.payTo,
  PAYMENT_NETWORK: `eip155:${CHAIN_ID}`,
  PAYMENT_RPC_URL: stage.chain.rpcUrl,
  PAYMENT_ASSET: TOKEN,
  PAYMENT_ASSET_NAME: "Dollar",
  PAYMENT_ASSET_VERSION: "1",
  FACILITATOR_PRIVATE_KEY: stage.chain.accounts.guardian.privateKey,
  ...changed,
});

async function listening(service: ReturnType<typeof startPortfolioCommand>): Promise<string> {
  const pattern = /"event":"listening","url":"(http:[^"]+)"/;
  await Promise.race([waitFor(() => pattern.test(service.logged())), service.ended]);
  return pattern.exec(service.logged())?.[1] ?? "";
}

/** The price of one snapshot in a started service. */
async function amountOf(environment: Environment): Promise<string | undefined> {
  const service = startPortfolioCommand(environment);
  const response = await fetch(`${await listening(service)}/portfolio`);
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
  ])("is in the units of a token with %s decimals", async (decimals, amount) => {
    await token({
      ...dollar,
      "decimals()": number(decimals),
      "DOMAIN_SEPARATOR()": separator("Dollar", "1"),
    });
    expect(await amountOf(sold())).toBe(amount);
  });

  it("that the token has too few decimals for is rejected", async () => {
    await token({ ...dollar, "decimals()": number(1n) });
    await expect(startPortfolioCommand(sold()).ended).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: "PORTFOLIO_PRICE_USD must have at most 1 decimal places, like the payment token.",
    });
  });
});

describe("a token that is not the configured one", () => {
  const cases: readonly (readonly [string, Readonly<Record<string, Hex>>, RegExp])[] = [
    ["no contract", {}, /does not report its decimals\(\)/],
    ["no decimals", { "name()": text("Dollar"), "version()": text("1") }, /does not report its decimals\(\)/],
    [
      "decimals that are none",
      { ...dollar, "decimals()": number(2n ** 200n) },
      /does not report its decimals/,
    ],
    [
      "another name",
      { ...dollar, "name()": text("Euro") },
      /reports name "Euro" and version "1"; EIP-712 name "Dollar" and version "1" were expected/,
    ],
    [
      "another version",
      { ...dollar, "version()": text("2"), "DOMAIN_SEPARATOR()": separator("Dollar", "2") },
      /reports name "Dollar" and version "2"; EIP-712 name "Dollar" and version "1" were expected/,
    ],
    ["no version", { "decimals()": number(6n), "name()": text("Dollar") }, /and version nothing; /],
    [
      "the domain of another chain",
      { ...dollar, "DOMAIN_SEPARATOR()": separator("Dollar", "1", 1) },
      /and its DOMAIN_SEPARATOR\(\) is that of another domain; /,
    ],
  ];

  it.each(cases)(
    "keeps the portfolio service and the facilitator from starting: %s",
    async (_name, has, words) => {
      await (Object.keys(has).length > 0
        ? token(has)
        : stage.chain.request("hardhat_setCode", [TOKEN, "0x"]));
      await expect(startPortfolioCommand(sold()).ended).rejects.toMatchObject({
        code: "CONFIG_INVALID",
        message: expect.stringMatching(words),
      });
      const { PORTFOLIO_PORT: _port, RPC_URL_8453: _node, PAY_TO: _payee, ...rest } = sold();
      const { code, err } = await runSextantInProcess(["facilitator"], { ...rest, FACILITATOR_PORT: "0" });
      expect(err).toMatch(words);
      expect(code).toBe(78);
    },
  );

  it("is identified by its separator alone, whatever name it reports", async () => {
    const named = { ...dollar, "name()": text("Dollar (renamed)") };
    await token({ ...named, "DOMAIN_SEPARATOR()": separator("Dollar", "1") });
    expect(await amountOf(sold())).toBe("10000000000000000");
  });
});

describe("the token that is known on a chain", () => {
  it("is compared as well", async () => {
    const usdc: Hex = "0x036cbd53842c5426634e7929541ec2318f3dcf7e";
    const code = { [usdc]: fixedReturnCode({ ...dollar, "name()": text("USDC"), "version()": text("2") }) };
    const chain = await startLocalChain({ chainId: 84_532, code });
    const {
      PAYMENT_ASSET: _asset,
      PAYMENT_ASSET_NAME: _name,
      PAYMENT_ASSET_VERSION: _version,
      ...rest
    } = sold();
    const environment = { ...rest, PAYMENT_NETWORK: "eip155:84532", PAYMENT_RPC_URL: chain.rpcUrl };
    await expect(startPortfolioCommand(environment).ended).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: `The token ${usdc} on eip155:84532 has 18 decimals; 6 were expected.`,
    });
    await chain.stop();
  });
});

describe("what is given away to developers", () => {
  it("is offered in any token that can be read", async () => {
    await token(dollar);
    const service = startPortfolioCommand(sold({ X402_DEV_BYPASS: "true" }));
    const health = await (await fetch(`${await listening(service)}/health`)).json();
    expect(health).toMatchObject({ x402DevBypass: true });
    service.stop.abort();
    expect(await service.ended).toBe(0);
  });

  it("needs a node where only the token knows its decimals", async () => {
    const { PAYMENT_RPC_URL: _url, ...rest } = sold({ X402_DEV_BYPASS: "true" });
    await expect(startPortfolioCommand(rest).ended).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: "PAYMENT_RPC_URL must name at least one node of eip155:31337.",
    });
  });
});

describe("while no node responds", () => {
  it("a service waits, assumes nothing, and starts once one does", async () => {
    await token(dollar);
    let isUp = false;
    const node = await startFaultyNode({
      upstream: stage.chain.rpcUrl,
      plan: () => (isUp ? null : { kind: "reset" }),
    });
    const service = startPortfolioCommand(sold({ PAYMENT_RPC_URL: node.url }));
    try {
      await waitFor(() => service.logged().includes("Reading the payment token failed, retrying"));
      expect(service.logged()).not.toContain("Portfolio service is listening");
      isUp = true;
      expect(await listening(service)).not.toBe("");
    } finally {
      service.stop.abort();
      expect(await service.ended).toBe(0);
      await node.stop();
    }
  }, 60_000);

  it("a service stops on request", async () => {
    const service = startPortfolioCommand(sold({ PAYMENT_RPC_URL: NO_NODE }));
    await waitFor(() => service.logged().includes("Reading the payment token failed, retrying"));
    service.stop.abort();
    expect(await service.ended).toBe(0);
  }, 60_000);
});
