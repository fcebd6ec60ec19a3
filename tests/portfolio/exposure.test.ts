// GET /exposure, bought with a real x402 client: what can be taken is shown, and its own calldata ends it.
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { numberedAddress } from "@sextant/contracts/test/hostile-token-code";
import { namedAccounts } from "@sextant/local-chain/accounts";
import { Ajv2020 } from "ajv/dist/2020.js";
import { encodeFunctionData, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FOREIGN_TEXT } from "../../src/lib/foreign-text.ts";
import type { Exposure } from "../../src/portfolio/exposure/types.ts";
import { exposureSchema } from "../../src/portfolio/http/exposure-schema.ts";
import { exposureRoute } from "../../src/portfolio/http/routes/exposure.ts";
import {
  callNode,
  listedTokenOf,
  openPayingClient,
  openServiceStage,
  type PortfolioService,
  type ServiceStage,
} from "./service-stage.ts";

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, formats: { "date-time": true } });
ajv.addKeyword(FOREIGN_TEXT);
const isValid = ajv.compile(exposureSchema);

let stage: ServiceStage;
let service: PortfolioService;
let usdc: Hex;
const wallet = namedAccounts().payer.address.toLowerCase() as Hex;
/** The payer of a local market has approved it without a limit. */
const SOLVER = namedAccounts().solver.address.toLowerCase() as Hex;
const STRANGER = numberedAddress(0x57a);
/** 1inch: the local market has the chain id of Base, so that its spenders are known. */
const ROUTER: Hex = "0x111111125421ca6dc452d289314280a0f8842a65";

beforeAll(async () => {
  stage = await openServiceStage();
  service = await stage.serve();
  usdc = listedTokenOf(stage.base, "USDC");
});
afterAll(() => stage.close());

async function send(to: Hex, data: Hex): Promise<void> {
  await callNode(stage.base, "eth_sendTransaction", [{ from: wallet, to, data, gas: "0x2dc6c0" }]);
}

async function approve(spender: Hex, amount: bigint): Promise<void> {
  await send(usdc, encodeFunctionData({ abi: usdCoinAbi, functionName: "approve", args: [spender, amount] }));
}

async function buy(query = ""): Promise<Exposure> {
  const { fetch } = await openPayingClient(stage);
  const response = await fetch(`${service.url}/exposure?address=${wallet}&chains=base${query}`);
  const body = (await response.json()) as Exposure;
  expect(response.status, JSON.stringify(body)).toBe(200);
  expect(isValid(body), JSON.stringify(isValid.errors)).toBe(true);
  return body;
}

describe("an exposure", () => {
  it("/exposure requires payment first, with terms of its own", async () => {
    const response = await fetch(`${service.url}/exposure?address=${wallet}`);
    expect(response.status).toBe(402);
    expect((await fetch(`${service.url}/exposure?address=nonsense`)).status).toBe(400);
  });

  it("shows what was approved, and each revocation ends its permission", async () => {
    await approve(ROUTER, 2n ** 256n - 1n);
    await approve(STRANGER, 1_500_000n);
    const block = await callNode<Hex>(stage.base, "eth_blockNumber", []);
    const { permissions, summary } = await buy();
    expect(permissions.map(({ spender, spenderName, reasons }) => [spender, spenderName, reasons])).toEqual([
      [SOLVER, null, ["unlimited", "unknown spender"]],
      [ROUTER, "1inch Aggregation Router v6", ["unlimited"]],
      [STRANGER, null, ["unknown spender"]],
    ]);
    expect(permissions[0]?.rawBalance).toBe(
      BigInt(
        await callNode<Hex>(stage.base, "eth_call", [
          {
            to: usdc,
            data: encodeFunctionData({ abi: usdCoinAbi, functionName: "balanceOf", args: [wallet] }),
          },
          "latest",
        ]),
      ).toString(),
    );
    // The solver alone may take everything, so that the others add nothing to the total.
    expect(summary.valueAtRiskUsd).toBe(permissions[0]?.valueAtRiskUsd);
    for (const { revoke } of permissions) {
      if (revoke?.type !== "call") throw new Error("an allowance is revoked by a call");
      await send(revoke.to, revoke.data);
    }
    expect((await buy()).permissions).toEqual([]);
    // As of the block before, they are still there.
    const then = await buy(`&block=base:${BigInt(block)}`);
    expect(then.permissions).toEqual(permissions);
  });

  it("the example of an exposure follows its schema", () => {
    expect(isValid(exposureRoute.responseExample), JSON.stringify(isValid.errors)).toBe(true);
  });
});
