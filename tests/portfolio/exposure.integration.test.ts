// GET /exposure, bought with a real x402 client: what can be taken is shown, and its own calldata ends it.
// In main, src/portfolio/exposure/read-exposure.test.ts fails for the same broken rules.
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { numberedAddress } from "@sextant/contracts/test/hostile-token-code";
import { namedAccounts } from "@sextant/local-chain/accounts";
import { Ajv2020 } from "ajv/dist/2020.js";
import { domainSeparator, encodeFunctionData, type Hex, toFunctionSelector } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LOCAL_EXAMPLES } from "../../src/local/portfolio.ts";
import { PERMIT2 } from "../../src/portfolio/exposure/revocations.ts";
import { exposureRoute } from "../../src/portfolio/http/routes/exposure.ts";
import { FOREIGN_TEXT } from "../../src/schema/json-schema.ts";
import type { PortfolioDiff } from "../../src/schema/portfolio/diff.ts";
import { type Exposure, exposureSchema } from "../../src/schema/portfolio/exposure.ts";
import type { PortfolioSnapshot } from "../../src/schema/portfolio/snapshot.ts";
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
/** The payer of a local market has approved the solver without a limit; the agent acts for it in Permit2 and on its loan. */
const [SOLVER, AGENT] = [namedAccounts().solver, namedAccounts().agent].map(({ address }) =>
  address.toLowerCase(),
) as [Hex, Hex];
const OUTSIDER = numberedAddress(0x57a);
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

async function buyJson<T>(path: string): Promise<T> {
  const { fetch } = await openPayingClient(stage);
  const response = await fetch(`${service.url}${path}`);
  const body = await response.json();
  expect(response.status, JSON.stringify(body)).toBe(200);
  return body as T;
}

async function buy(query = "&chains=base"): Promise<Exposure> {
  const body = await buyJson<Exposure>(`/exposure?address=${wallet}${query}`);
  expect(isValid(body), JSON.stringify(isValid.errors)).toBe(true);
  return body;
}

/** Said about every wallet on every chain that is read by logs. */
const USUAL_WARNINGS = [
  /was read at block \d+ \(0x[0-9a-f]{64}\)\.$/,
  /: recent activity and unlisted tokens are found by token transfers since block 0; /,
  /: permissions are those of every known spender of list .* and of approvals in logs since block 0; /,
];

function expectUsual(warnings: readonly string[]): void {
  expect(warnings.filter((warning) => !USUAL_WARNINGS.some((usual) => usual.test(warning)))).toEqual([]);
}

// This is what `npm start` shows first. Both markets are alike, and nothing above has changed them yet.
describe("the payer of a local run", () => {
  it("has allowances without a limit, one in Permit2 and an operator, on both chains", async () => {
    const { permissions, summary } = await buy("");
    for (const chain of ["base", "ethereum"]) {
      const own = permissions.filter((permission) => permission.chain === chain);
      expect(
        own.map(({ kind, symbol, spender, spenderName, allowance, valueAtRiskUsd, reasons }) => ({
          ...{ kind, symbol, spender: spenderName ?? spender, valueAtRiskUsd, reasons },
          allowance: reasons.includes("unlimited") ? "unlimited" : allowance,
        })),
      ).toEqual([
        {
          ...{ kind: "erc20-allowance", symbol: "WETH", spender: "Permit2", allowance: "unlimited" },
          ...{ valueAtRiskUsd: "1500", reasons: ["unlimited"] },
        },
        {
          ...{ kind: "erc20-allowance", symbol: "USDC", spender: SOLVER, allowance: "unlimited" },
          ...{ valueAtRiskUsd: "1250.5", reasons: ["unlimited", "unknown spender"] },
        },
        {
          ...{ kind: "permit2-allowance", symbol: "WETH", spender: AGENT, allowance: "0.3" },
          ...{ valueAtRiskUsd: "900", reasons: ["unknown spender"] },
        },
        {
          ...{ kind: "position-operator", symbol: null, spender: AGENT, allowance: null },
          ...{ valueAtRiskUsd: "700", reasons: ["unknown spender"] },
        },
      ]);
    }
    expect(summary).toMatchObject({ valueAtRiskUsd: "6901", partial: false, permissionCount: 8 });
    expectUsual(summary.warnings);
  });

  it("has a loan near liquidation on both chains, with no warning that a real chain would not cause", async () => {
    const { health, positions, summary } = await buyJson<PortfolioSnapshot>(`/portfolio?address=${wallet}`);
    const loan = {
      ...{ protocol: "morpho-blue", collateralUsd: "3600", debtUsd: "2900", liquidatable: false },
      ...{ healthFactor: "1.067586206896551724", distanceToLiquidation: "0.063307493540051679" },
    };
    expect(health).toEqual(["base", "ethereum"].map((chain) => expect.objectContaining({ chain, ...loan })));
    expect(
      positions.filter(({ chain }) => chain === "base").map(({ name, valueUsd }) => [name, valueUsd]),
    ).toEqual([
      ["Morpho Blue WETH/USDC 86 %: collateral", "3600"],
      ["USD Coin Vault", "400"],
      ["Morpho Blue WETH/USDC 86 %: debt", "-2900"],
    ]);
    expectUsual(summary.warnings);
  });

  it("signs for Permit2 in the domain of each chain, although its code was built for another", async () => {
    for (const market of [stage.base, stage.ethereum]) {
      const data = toFunctionSelector("DOMAIN_SEPARATOR()");
      const separator = await callNode<Hex>(market, "eth_call", [{ to: PERMIT2, data }, "latest"]);
      const domain = { name: "Permit2", chainId: market.chainId, verifyingContract: PERMIT2 };
      expect(separator).toBe(domainSeparator({ domain }));
    }
  });

  it("has a change between two blocks", async () => {
    // Help and documents name this block.
    expect([stage.base.fundedBlock, stage.ethereum.fundedBlock]).toEqual([34, 34]);
    const { from, to } = LOCAL_EXAMPLES;
    expect(from).toBe("base:34,ethereum:34");
    const { tokens, positions } = await buyJson<PortfolioDiff>(
      `/portfolio/diff?address=${wallet}&from=${from}&to=${to}`,
    );
    expect(tokens.map(({ chain, contract, changeUsd }) => [chain, contract, changeUsd])).toEqual([
      ["base", listedTokenOf(stage.base, "WETH"), "-750"],
      ["ethereum", listedTokenOf(stage.ethereum, "WETH"), "-750"],
    ]);
    expect(positions).toEqual([]);
  });

  it("has a week of history: ages find the funded wallet, its activity, and a final block of now", async () => {
    const blocksAt = async (age: string) => {
      const url = `${service.url}/portfolio/diff?address=${wallet}&from=${age}`;
      const response = await fetch(url, { redirect: "manual" });
      expect(response.status).toBe(307);
      return ((await response.json()) as { blocks: { blocks: string }[] }).blocks[0]?.blocks;
    };
    expect([await blocksAt("7d"), await blocksAt("1h")]).toEqual([LOCAL_EXAMPLES.from, LOCAL_EXAMPLES.to]);
    const final = await callNode<{ timestamp: Hex }>(stage.base, "eth_getBlockByNumber", [
      "finalized",
      false,
    ]);
    expect(Date.now() / 1_000 - Number(final.timestamp)).toBeLessThan(600);
  });
});

describe("an exposure", () => {
  it("/exposure requires payment first, with terms of its own", async () => {
    const response = await fetch(`${service.url}/exposure?address=${wallet}`);
    expect(response.status).toBe(402);
    expect((await fetch(`${service.url}/exposure?address=nonsense`)).status).toBe(400);
  });

  it("shows what was approved, and each revocation ends its permission", async () => {
    await approve(ROUTER, 2n ** 256n - 1n);
    await approve(OUTSIDER, 1_500_000n);
    const block = await callNode<Hex>(stage.base, "eth_blockNumber", []);
    const { permissions, summary } = await buy();
    const ofDollars = permissions.filter(({ contract }) => contract === usdc);
    expect(ofDollars.map(({ spender, spenderName, reasons }) => [spender, spenderName, reasons])).toEqual([
      [SOLVER, null, ["unlimited", "unknown spender"]],
      [ROUTER, "1inch Aggregation Router v6", ["unlimited"]],
      [OUTSIDER, null, ["unknown spender"]],
    ]);
    expect(permissions).toHaveLength(ofDollars.length + 3);
    expect(ofDollars[0]?.rawBalance).toBe(
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
    // The solver alone may take all dollars, so that the others add nothing to the total.
    expect(summary.valueAtRiskUsd).toBe("3450.5");
    for (const { revoke } of permissions) {
      if (revoke?.type !== "call") throw new Error("an allowance is revoked by a call");
      await send(revoke.to, revoke.data);
    }
    expect((await buy()).permissions).toEqual([]);
    // As of the block before, they are still there.
    const then = await buy(`&chains=base&block=base:${BigInt(block)}`);
    expect(then.permissions).toEqual(permissions);
  });

  it("the example of an exposure follows its schema", () => {
    expect(isValid(exposureRoute.responseExample), JSON.stringify(isValid.errors)).toBe(true);
  });
});
