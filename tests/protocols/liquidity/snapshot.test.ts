// A whole snapshot of a wallet with half of a Uniswap v2 pair and a Uniswap v4 NFT, neither of which is on any list.
import { type Hex, zeroAddress } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { parseDecimal } from "../../../src/lib/decimal.ts";
import { Fault } from "../../../src/lib/fault.ts";
import { BlockResults } from "../../../src/portfolio/contract-reads/read-groups.ts";
import { createUniswapV2Reader } from "../../../src/portfolio/positions/uniswap-v2/reader.ts";
import { createUniswapV4Reader } from "../../../src/portfolio/positions/uniswap-v4/reader.ts";
import { rpcHoldingsProvider } from "../../../src/portfolio/providers/rpc/provider.ts";
import { createSnapshotReader } from "../../../src/portfolio/snapshot.ts";
import {
  type AssetKey,
  getAssetKey,
  type PinnedChain,
  type PriceSource,
  quotePrice,
} from "../../../src/portfolio/types.ts";
import { readArtifact } from "../support/artifacts.ts";
import { type LiquidityStage, signal, startLiquidityStage } from "./liquidity-stage.ts";
import { UniswapV4Deployment } from "./uniswap-v4-deployment.ts";

const V2 = "@uniswap/v2-core/build";

let stage: LiquidityStage;
beforeAll(async () => {
  stage = await startLiquidityStage();
});
afterAll(() => stage?.chain.stop());

/** A node that does not search the manager's logs: the transfers that the provider reads must do. */
async function pinWithoutSearch(): Promise<PinnedChain> {
  const at = await stage.pin();
  const reject = () => Promise.reject(new Fault("NODE_UNAVAILABLE", "The node went away."));
  return { ...at, transfers: (filter, abort) => (filter.contract ? reject() : at.transfers(filter, abort)) };
}

it("counts half of a pair worth $600,000, not as spam, and finds the NFT by the provider's own transfers", async () => {
  const { deployer, token0, token1, wallet } = stage;
  const factory = await deployer.deploy(readArtifact(`${V2}/UniswapV2Factory.json`), [wallet]);
  await deployer.send(factory, "createPair", [token0.address, token1.address]);
  const address = (
    await deployer.call<Hex>(factory, "getPair", [token0.address, token1.address])
  ).toLowerCase();
  const pair = { address: address as Hex, abi: readArtifact(`${V2}/UniswapV2Pair.json`).abi };
  for (const to of [`0x${"11".repeat(20)}`, wallet]) {
    for (const token of [token0, token1]) await deployer.send(token, "transfer", [pair.address, 10n ** 20n]);
    await deployer.send(pair, "mint", [to], { gas: 1_000_000n });
  }
  const v4 = await UniswapV4Deployment.deploy(stage);
  const pool = await v4.createPool(zeroAddress, token1.address);
  const id = await v4.mint(pool, [-60, 60], 10n ** 18n);

  // A dollar and a half for 10^15 units of each token: its decimals only move the point.
  const usdOf = new Map<AssetKey, string>();
  for (const token of [token0, token1]) {
    const decimals = await deployer.call<number>(token, "decimals");
    usdOf.set(token.address, decimals === 18 ? "1500" : "0.0000000015");
  }
  const prices: PriceSource = {
    name: "fixed",
    read: async ({ assets }) => ({
      prices: new Map(
        assets.flatMap((asset) => {
          const usd = usdOf.get(getAssetKey(asset));
          return usd === undefined
            ? []
            : [[getAssetKey(asset), quotePrice(parseDecimal(usd, "a price"))] as const];
        }),
      ),
      warnings: [],
    }),
  };
  const { chain } = await stage.pin();
  const feeMint = { growth: 1n, now: 5n, last: 1n };
  const market = { protocol: "uniswap-v2", name: "Uniswap v2", shape: "uniswap", feeMint } as const;
  const reader = createSnapshotReader({
    chains: new Map([
      [
        chain.slug,
        {
          chain,
          // As two snapshots of one process: the second asks early what the first led to.
          pin: async () => ({
            ...(await pinWithoutSearch()),
            chain,
            results: new BlockResults(0).of(wallet),
          }),
          canPin: () => false,
          blockAt: async () => ({ number: 0, timestamp: 0 }),
        },
      ],
    ]),
    provider: rpcHoldingsProvider,
    priceSources: [[prices]],
    positionReaders: [
      createUniswapV2Reader(new Map([[31337, [{ ...market, factory: factory.address }]]])),
      createUniswapV4Reader(new Map([[31337, [v4.market]]])),
    ],
    clock: systemClock,
  });
  const { timestamp, ...first } = await reader.read({ wallet, slugs: [chain.slug] }, signal);
  const { positions, tokens, summary } = first;

  const pairPosition = positions.find(({ contract }) => contract === pair.address);
  // 10^20 units of both, less the thousand units of liquidity that no one owns: a hair below $300,000.
  expect(Number(pairPosition?.valueUsd)).toBeGreaterThan(299_999.99);
  expect(Number(pairPosition?.valueUsd)).toBeLessThanOrEqual(300_000);
  expect(tokens.map(({ contract }) => contract)).not.toContain(pair.address);
  const nft = positions.find(({ contract }) => contract === v4.market.manager);
  expect(nft?.name).toBe(`Uniswap v4 #${id}, fee 0.3 %`);
  expect(nft?.assets.map(({ contract }) => contract)).toEqual([null, token1.address]);
  const spam = tokens.filter((token) => token.spam);
  expect(spam).toEqual([]);
  expect(summary.warnings.filter((warning) => warning.includes("Uniswap v4 positions"))).toEqual([]);
  const { timestamp: later, ...second } = await reader.read({ wallet, slugs: [chain.slug] }, signal);
  expect(second).toEqual(first);
});
