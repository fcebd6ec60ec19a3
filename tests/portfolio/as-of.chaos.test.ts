// The same bytes as of the same blocks from two processes of the service, of which one has read more before.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { encodeFunctionData, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Exposure } from "../../src/schema/portfolio/exposure.ts";
import type { PortfolioSnapshot } from "../../src/schema/portfolio/snapshot.ts";
import { createDatabaseEnvironment, startSextant } from "../support/process/sextant-process.ts";
import { createTestFolder } from "../support/test-folder.ts";
import { sendPlainToken, sendTransaction } from "./hostile-tokens.ts";
import { callNode, listedTokenOf, openServiceStage, type ServiceStage } from "./service-stage.ts";

let stage: ServiceStage;
let database: Awaited<ReturnType<typeof createDatabaseEnvironment>>;
let wallet: Hex;

beforeAll(async () => {
  stage = await openServiceStage();
  database = await createDatabaseEnvironment();
  wallet = stage.paid.chain.accounts.payer.address.toLowerCase() as Hex;
}, 120_000);
afterAll(async () => {
  await stage?.close();
  await database?.drop();
});

/** A process that reads the local chains, with their tokens on a list of its own. */
async function startService(
  folder: string,
): Promise<{ readonly url: string; readonly pid: number | undefined }> {
  const list = join(folder, "tokens.json");
  const { chainId, access } = stage.base;
  const tokens = [...access.chain.tokens.values()].map(({ contract, symbol, name, decimals }) => ({
    ...{ chainId, address: contract, symbol, name, decimals },
  }));
  const version = { major: 1, minor: 0, patch: 0 };
  await writeFile(
    list,
    JSON.stringify({ name: "Local", timestamp: "2026-01-01T00:00:00Z", version, tokens }),
  );
  const { child, waitForOutput } = startSextant(["portfolio"], {
    cwd: folder,
    environment: {
      ...database.environment,
      X402_DEV_BYPASS: "true",
      PAY_TO: stage.paid.payTo,
      PAYMENT_NETWORK: `eip155:${stage.paid.chain.chainId}`,
      PAYMENT_RPC_URL: stage.paid.chain.rpcUrl,
      PAYMENT_ASSET: stage.paid.asset,
      PAYMENT_ASSET_NAME: "USD Coin",
      PAYMENT_ASSET_VERSION: "2",
      FACILITATOR_URL: "http://127.0.0.1:1",
      PORTFOLIO_PORT: "0",
      PORTFOLIO_TOKEN_LISTS: list,
      RPC_URL_8453: stage.base.rpcUrl,
    },
  });
  const listening = /"event":"[a-z]+_listening","url":"(http:[^"]+)"/;
  const url = listening.exec(await waitForOutput(listening))?.[1] ?? "";
  return { url, pid: child.pid };
}

describe("two processes", () => {
  it("two processes send the same bytes as of the same blocks, whatever happened in between", async () => {
    const folder = await createTestFolder();
    const [first, second] = await Promise.all([startService(folder), startService(folder)]);
    expect(new Set([first.pid, second.pid, process.pid]).size).toBe(3);
    const read = async (url: string, path: string) => {
      const response = await fetch(`${url}${path}`);
      const text = await response.text();
      expect([response.status, text]).toEqual([200, text]);
      return text;
    };
    const usdc = listedTokenOf(stage.base, "USDC");
    const spender: Hex = `0x${"5b".repeat(20)}`;
    const data = encodeFunctionData({
      abi: usdCoinAbi,
      functionName: "approve",
      args: [spender, 7_000_000n],
    });
    await callNode(stage.base, "eth_sendTransaction", [{ from: wallet, to: usdc, data, gas: "0x2dc6c0" }]);
    await sendPlainToken(stage.base, wallet, "Plain", "PLN", 5n);
    const block = Number(await callNode<Hex>(stage.base, "eth_blockNumber", []));
    const query = `address=${wallet}&block=base:${block}`;
    const paths = [`/portfolio?${query}`, `/exposure?${query}`];
    const before = [];
    for (const path of paths) before.push(await read(first.url, path));
    // The second process knows the present, and the chain has moved on.
    await sendTransaction(stage.base, usdc, usdCoinAbi, "mint", [wallet, 77_000_000n]);
    await sendPlainToken(stage.base, wallet, "Later", "LTR", 9n);
    const present = await read(second.url, `/portfolio?address=${wallet}&chains=base`);
    const after = [];
    for (const path of paths) after.push(await read(second.url, path));
    expect(after).toEqual(before);
    const snapshot = JSON.parse(before[0] ?? "") as PortfolioSnapshot;
    const symbols = snapshot.tokens.map(({ symbol }) => symbol);
    expect(symbols).toEqual(expect.arrayContaining(["ETH", "USDC", "PLN"]));
    expect(symbols).not.toContain("LTR");
    expect(present).toContain("LTR");
    const { permissions } = JSON.parse(before[1] ?? "") as Exposure;
    expect(permissions.map((each) => [each.contract, each.spender, each.rawAllowance])).toContainEqual([
      ...[usdc, spender, "7000000"],
    ]);
  }, 240_000);
});
