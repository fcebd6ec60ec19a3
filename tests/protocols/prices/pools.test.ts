// Prices from Uniswap's own pools: which liquidity counts, what it could pay, and that every token is looked up.
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatDecimal } from "../../../src/lib/decimal.ts";
import type { AssetKey, AssetPrice, Holding, PinnedChain } from "../../../src/portfolio/types.ts";
import { makeChainConfig, makeChainData, makeSnapshot } from "../../support/portfolio/portfolio-parts.ts";
import { readArtifact } from "../support/artifacts.ts";
import type { DeployedContract } from "../support/deployer.ts";
import {
  assetOf,
  collect,
  deployFeed,
  deployUniswapV2,
  deployUniswapV3,
  type Exchange,
  type LabSources,
  openPriceLab,
  type PriceLab,
} from "./price-lab.ts";

const ETHER = 10n ** 18n;
const DOLLAR = 10n ** 6n;
const YEARS_SECONDS = 10 * 365 * 86_400;

let lab: PriceLab;
let weth: DeployedContract;
let usdc: DeployedContract;
let v3: Exchange;
let v2: Exchange;
/** With ticks close to each other. */
let thin: Exchange;
let sources: LabSources;

beforeAll(async () => {
  lab = await openPriceLab();
  weth = await lab.deployToken();
  usdc = await lab.deployToken(6);
  v3 = await deployUniswapV3(lab, weth.address);
  v2 = await deployUniswapV2(lab);
  thin = await deployUniswapV3(lab, weth.address, 500n);
  const feedOf = async (price: bigint) => ({
    feed: (await deployFeed(lab, price)).proxy,
    heartbeatSeconds: YEARS_SECONDS,
  });
  const ether = await feedOf(3_000_00000000n);
  sources = {
    feeds: {
      native: ether,
      wrappedNative: weth.address,
      sequencer: null,
      tokens: { [weth.address]: ether, [usdc.address]: await feedOf(1_00000000n) },
    },
    market: {
      wrappedNative: weth.address,
      quotes: [
        { token: weth.address, decimals: 18 },
        { token: usdc.address, decimals: 6 },
      ],
      factories: [v3.factory, v2.factory, thin.factory],
    },
  };
});
afterAll(() => lab?.stop());

async function read(token: DeployedContract, at?: PinnedChain, held?: bigint) {
  const asset = assetOf(token.address);
  const holding = { ...asset, rawBalance: held ?? asset.rawBalance };
  const { prices, ...rest } = await collect(at ?? (await lab.pin()), sources, [holding]);
  const price = prices.get(token.address);
  return {
    ...rest,
    price: price && formatDecimal(price.usd),
    payable: price?.payableUsdMax && formatDecimal(price.payableUsdMax),
    contract: price?.contract,
  };
}

/** Rounded to whole dollars: Uniswap keeps a few units for itself. */
const dollars = (text: string | null | undefined) => Math.round(Number(text));

describe("what pools could pay", () => {
  it("counts 54,000 dollars for a token with 18 ether in its pool", async () => {
    const token = await lab.deployToken();
    const pool = await v3.addLiquidity(token, 18n * ETHER, weth, 18n * ETHER);
    await lab.pass();
    const { price, payable, contract } = await read(token, await lab.pin([token.address]));
    expect({ price: dollars(price), payable: dollars(payable), contract }).toEqual({
      ...{ price: 3_000, payable: 54_000, contract: pool },
    });
  });

  it("counts five million dollars of USDC", async () => {
    const token = await lab.deployToken();
    await v3.addLiquidity(token, 2_500_000n * ETHER, usdc, 5_000_000n * DOLLAR);
    await lab.pass();
    const { price, payable } = await read(token, await lab.pin([token.address]));
    expect({ price: Number(price).toFixed(6), payable: dollars(payable) }).toEqual({
      ...{ price: "2.000000", payable: 5_000_000 },
    });
  });

  it("adds up the pools that agree, and not those that do not", async () => {
    const token = await lab.deployToken();
    await v3.addLiquidity(token, 100n * ETHER, weth, 100n * ETHER);
    await v2.addLiquidity(token, 50n * ETHER, usdc, 150_000n * DOLLAR);
    await v2.addLiquidity(token, 50n * ETHER, weth, 25n * ETHER);
    await lab.pass();
    expect(dollars((await read(token, await lab.pin([token.address]))).payable)).toBe(450_000);
  });

  it("values an unlisted token at twice what a sale of it pays at most, and not at the depth", async () => {
    const token = await lab.deployToken();
    await v2.addLiquidity(token, 100n * ETHER, weth, 100n * ETHER);
    await lab.pass();
    const { price, payable } = await read(token);
    expect(price).toBe("3000");
    // The formula of the pool for one token, with its fee of 0.3 %.
    expect(Number(payable) / 2).toBeCloseTo((0.997 * 100 * 3_000) / 100.997, 6);
  });

  it("gives no price to a token whose pools could pay less than 50,000 dollars", async () => {
    const token = await lab.deployToken();
    await v2.addLiquidity(token, 16n * ETHER, weth, 16n * ETHER);
    await lab.pass();
    const { price, incompletePrices } = await read(token);
    expect(price).toBeUndefined();
    expect(incompletePrices.size).toBe(0);
  });

  it("keeps the digits of a price far below a millionth of a millionth of a dollar", async () => {
    const token = await lab.deployToken();
    await v3.addLiquidity(token, 17n * 10n ** 35n, weth, 100n * ETHER);
    await lab.pass();
    expect((await read(token, undefined, 10n ** 33n)).price).toMatch(/^0\.0000000000001764705[0-9]{10}/);
  });
});

describe("liquidity that has just come", () => {
  it.each(["v3", "v2"])("does not count in a new pool of %s, and does after half an hour", async (name) => {
    const token = await lab.deployToken();
    await lab.pass();
    const before = (await lab.pin()).block.number;
    await (name === "v3" ? v3 : v2).addLiquidity(token, 100n * ETHER, weth, 100n * ETHER);
    const head = (await lab.pin()).block.number;
    const { price, incompletePrices } = await read(token, await lab.pin([], head - before + 3));
    expect(price).toBeUndefined();
    expect(incompletePrices.size).toBe(0);
    await lab.pass();
    expect(dollars((await read(token)).price)).toBe(3_000);
  });

  it.each(["v3", "v2"])("does not add to an old pool of %s", async (name) => {
    const exchange = name === "v3" ? v3 : v2;
    const token = await lab.deployToken();
    await exchange.addLiquidity(token, 20n * ETHER, weth, 20n * ETHER);
    await lab.pass();
    const before = (await lab.pin()).block.number;
    await exchange.addLiquidity(token, 1_000n * ETHER, weth, 1_000n * ETHER);
    const head = (await lab.pin()).block.number;
    const at = await lab.pin([token.address], head - before + 3);
    const { price, payable } = await read(token, at);
    expect({ price: dollars(price), payable: dollars(payable) }).toEqual({ price: 3_000, payable: 60_000 });
  });

  it("knows recent liquidity by a v3 pool's memory if the node has no old state", async () => {
    const token = await lab.deployToken();
    const address = await v3.addLiquidity(token, 20n * ETHER, weth, 20n * ETHER);
    const { abi } = readArtifact("@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json");
    await lab.deployer.send({ address, abi }, "increaseObservationCardinalityNext", [8]);
    await lab.pass();
    await v3.addLiquidity(token, 1_000n * ETHER, weth, 1_000n * ETHER);
    // The memory does not say how many coins there were, which is enough for a listed token only.
    const { price: unlisted, incompletePrices } = await read(token, forgetful(await lab.pin()));
    expect(unlisted).toBeUndefined();
    expect([...incompletePrices]).toEqual([token.address]);
    const { price, payable } = await read(token, forgetful(await lab.pin([token.address])));
    expect(dollars(price)).toBe(3_000);
    // A few seconds of the half hour already had the new liquidity.
    expect(Number(payable)).toBeGreaterThan(59_999);
    expect(Number(payable)).toBeLessThan(62_000);
  });
});

/** The chain through a node that keeps only the newest state. */
function forgetful(at: PinnedChain): PinnedChain {
  return { ...at, readEarlier: async () => null };
}

describe("a node without old state", () => {
  it("prices a pool that did not change for half an hour", async () => {
    const token = await lab.deployToken();
    await v2.addLiquidity(token, 100n * ETHER, weth, 100n * ETHER);
    await lab.pass();
    expect((await read(token, forgetful(await lab.pin()))).price).toBe("3000");
  });

  it("leaves a busy pool unpriced, and says that this is not the token's fault", async () => {
    const token = await lab.deployToken();
    await v2.addLiquidity(token, 100n * ETHER, weth, 100n * ETHER);
    await lab.pass();
    await v2.addLiquidity(token, 1n * ETHER, weth, 1n * ETHER);
    const { price, incompletePrices, warnings } = await read(token, forgetful(await lab.pin()));
    expect(price).toBeUndefined();
    expect([...incompletePrices]).toEqual([token.address]);
    expect(warnings).toEqual([expect.stringMatching(/^Prices of 1 tokens on Local are missing: the node/)]);
  });
});

describe("a price that was moved", () => {
  it("does not believe a price that moved by more than a quarter within half an hour", async () => {
    const token = await lab.deployToken();
    const address = await v2.addLiquidity(token, 100n * ETHER, weth, 100n * ETHER);
    await lab.pass();
    const before = (await lab.pin()).block.number;
    const { abi } = readArtifact("@uniswap/v2-core/build/UniswapV2Pair.json");
    await lab.deployer.send(weth, "transfer", [address, 20n * ETHER]);
    const out = (100n * 20n * 997n * ETHER) / (100n * 1000n + 20n * 997n) - 1n;
    const amounts = token.address < weth.address ? [out, 0n] : [0n, out];
    await lab.deployer.send({ address, abi }, "swap", [...amounts, lab.owner, "0x"]);
    const head = (await lab.pin()).block.number;
    const { price, incompletePrices } = await read(token, await lab.pin([], head - before + 3));
    expect(price).toBeUndefined();
    expect(incompletePrices.size).toBe(0);
    await lab.pass();
    expect(Number((await read(token)).price)).toBeGreaterThan(4_300);
  });
});

describe("coins that are not around the price", () => {
  const NAME = "Visit moon-usdc.com to claim USDC";
  const THIN = { tickLower: -10n, tickUpper: 10n };

  /** The number of ticks by which the token is cheaper there than at its price. */
  const FALLS = { "just below the price": [20n, 600n], "out of reach": [350_000n, 400_000n] } as const;
  const PLACES = ["just below the price", "out of reach"] as const;

  /**
   * A sliver of coins around a price of one ether, and a hundred ether in a range in which the pool has nothing but
   * ether.
   */
  async function addVirtualLiquidity(token: DeployedContract, place: keyof typeof FALLS): Promise<void> {
    await thin.addLiquidity(token, (12n * ETHER) / 100n, weth, (12n * ETHER) / 100n, THIN);
    await lab.pass();
    const [near, far] = FALLS[place];
    const range =
      token.address < weth.address
        ? { tickLower: -far, tickUpper: -near }
        : { tickLower: near, tickUpper: far };
    await thin.addLiquidity(token, 0n, weth, 100n * ETHER, range);
  }

  function valueHolding(token: DeployedContract, name: string, prices: ReadonlyMap<AssetKey, AssetPrice>) {
    const holding = { ...assetOf(token.address), name, symbol: "MOON", rawBalance: 10n ** 24n };
    return makeSnapshot(makeChainData(makeChainConfig("local", 31_337), { holdings: [holding], prices }));
  }

  it.each(PLACES)(
    "gives no value to 100 ether that come for a block %s, next to 0.12 ether that stood",
    async (place) => {
      const token = await lab.deployToken();
      const before = (await lab.pin()).block.number;
      await addVirtualLiquidity(token, place);
      const head = (await lab.pin()).block.number;
      for (const listed of [[], [token.address]]) {
        const at = await lab.pin(listed, head - before - 4);
        const holding = { ...assetOf(token.address), rawBalance: 10n ** 24n };
        const { prices } = await collect(at, sources, [holding]);
        expect(prices.size).toBe(0);
        const { tokens, summary } = valueHolding(token, NAME, prices);
        expect(tokens).toMatchObject([{ priceUsd: null, valueUsd: null, spam: true }]);
        expect(summary).toMatchObject({ totalValueUsd: "0", unlistedValueUsd: "0" });
      }
    },
  );

  it.each(["listed", "unlisted"])(
    "gives no price to a %s token by ether that stood out of reach",
    async (kind) => {
      const token = await lab.deployToken();
      await addVirtualLiquidity(token, "out of reach");
      await lab.pass();
      const at = await lab.pin(kind === "listed" ? [token.address] : []);
      expect((await read(token, at, 10n ** 24n)).price).toBeUndefined();
    },
  );

  it("lets no pool outrank a lure or a copied symbol", async () => {
    const token = await lab.deployToken();
    await v3.addLiquidity(token, 1_000n * ETHER, weth, 1_000n * ETHER);
    await lab.pass();
    const holding = { ...assetOf(token.address), rawBalance: 10n ** 24n };
    const { prices } = await collect(await lab.pin(), sources, [holding]);
    expect(prices.has(token.address)).toBe(true);
    expect(valueHolding(token, NAME, prices).tokens).toMatchObject([{ priceUsd: null, spam: true }]);
    const { tokens, summary } = valueHolding(token, "Moon", prices);
    expect(tokens).toMatchObject([{ spam: false }]);
    // Twice what the pool of 1,000 ether pays for as many tokens, less its fee of 0.3 %.
    expect(dollars(summary.totalValueUsd)).toBe(2_995_493);
    expect(summary.unlistedValueUsd).toBe(summary.totalValueUsd);
  });
});

describe("a token that its holder cannot sell", () => {
  const TRAPS = {
    ...{ open: 0n, reverts: 1n, taxes: 2n, loops: 3n, "forges proceeds": 4n, "pays by itself": 5n },
    ...{ "rejects plain accounts": 6n, "returns false to plain accounts": 7n, "takes 73 percent": 8n },
  };

  it.each(["v3", "v2"])(
    "has no price by a pool of %s if it reverts, taxes, loops, forges, or tells plain accounts apart",
    async (name) => {
      const trap = await lab.deployTrap();
      await (name === "v3" ? v3 : v2).addLiquidity(trap, 100n * ETHER, weth, 100n * ETHER);
      const victim: Hex = `0x${"71c7".repeat(10)}`;
      await lab.deployer.send(trap, "mint", [victim, 5n * ETHER]);
      await lab.deployer.send(weth, "transfer", [trap.address, 50n * ETHER]);
      await lab.pass();
      const holding = { ...assetOf(trap.address), rawBalance: 5n * ETHER };
      const found: Record<string, string | null | undefined> = {};
      for (const [trick, mode] of Object.entries(TRAPS)) {
        await lab.deployer.send(trap, "arm", [mode, weth.address]);
        await lab.pass();
        const { texts, incompletePrices } = await collect(await lab.pin(), sources, [holding], victim);
        expect(incompletePrices.size).toBe(0);
        found[trick] = texts[0];
      }
      const none = Object.fromEntries(Object.keys(TRAPS).map((trick) => [trick, null]));
      expect(found).toEqual({ ...none, open: expect.stringMatching(/^(3000|2999\.9)[0-9]* pools$/) });
    },
  );

  it("has no price if the wallet holds none of it", async () => {
    const token = await lab.deployToken();
    await v3.addLiquidity(token, 100n * ETHER, weth, 100n * ETHER);
    await lab.pass();
    const outsider: Hex = `0x${"57a9".repeat(10)}`;
    const { texts } = await collect(await lab.pin(), sources, [assetOf(token.address)], outsider);
    expect(texts).toEqual([null]);
  });
});

describe("a node without state overrides", () => {
  it("finds the same pools", async () => {
    const token = await lab.deployToken();
    await v3.addLiquidity(token, 100n * ETHER, weth, 100n * ETHER);
    await v2.addLiquidity(token, 100n * ETHER, usdc, 300_000n * DOLLAR);
    await lab.pass();
    const at = await lab.pin();
    const none = { callWithOverride: async () => null, callAsAccount: async () => null };
    const without = (known: PinnedChain) => ({ ...known, ...none });
    const listed = await lab.pin([token.address]);
    expect(await read(token, without(listed))).toEqual(await read(token, listed));
    expect(dollars((await read(token, listed)).payable)).toBe(600_000);
    const { price, incompletePrices, warnings } = await read(token, without(at));
    expect(price).toBeUndefined();
    expect([...incompletePrices]).toEqual([token.address]);
    expect(warnings).toEqual([
      "Prices of 1 unlisted tokens on Local are missing: the node cannot simulate that the wallet sells them.",
    ]);
  });
});

describe("many tokens", () => {
  // A hundred transactions, one after another: on a busy machine that takes longer than other tests may.
  it("all get a price, in the same number of requests as one", { timeout: 120_000 }, async () => {
    const tokens: DeployedContract[] = [];
    for (let i = 0; i < 25; i += 1) {
      const token = await lab.deployToken();
      await v2.addLiquidity(token, 100n * ETHER, weth, 100n * ETHER);
      tokens.push(token);
    }
    await lab.pass();
    expect(new Set(tokens.map(({ address }) => address < weth.address)).size).toBe(2);
    const count = async (assets: readonly Holding[]) => {
      const at = await lab.pin();
      let requests = 0;
      const counted: PinnedChain = {
        ...at,
        read: (calls, signal) => {
          requests += 1;
          return at.read(calls, signal);
        },
        callWithOverride: (call, signal) => {
          requests += 1;
          return at.callWithOverride(call, signal);
        },
        callAsAccount: (call, signal) => {
          requests += 1;
          return at.callAsAccount(call, signal);
        },
      };
      const { texts } = await collect(counted, sources, assets);
      return { requests, texts };
    };
    const assets = tokens.map(({ address }) => assetOf(address));
    const [one, all] = [await count(assets.slice(0, 1)), await count(assets)];
    expect(all.texts).toEqual(assets.map(() => "3000 pools"));
    expect(all.requests).toBe(one.requests);
  });
});

describe("the native coin without a feed", () => {
  it("prices the native coin by its pools without a feed, and other pools by it", async () => {
    const token = await lab.deployToken();
    await v2.addLiquidity(token, 100n * ETHER, weth, 100n * ETHER);
    await v2.addLiquidity(weth, 1_000n * ETHER, usdc, 2_900_000n * DOLLAR);
    await lab.pass();
    const { [weth.address]: _, ...tokens } = sources.feeds.tokens;
    const feeds = { ...sources.feeds, native: null, tokens };
    const assets = [assetOf(null), assetOf(weth.address), assetOf(token.address)];
    const { texts, prices } = await collect(await lab.pin(), { ...sources, feeds }, assets);
    expect(texts).toEqual(["2900 pools", "2900 pools", "2900 pools"]);
    expect(prices.get("native")?.payableUsdMax).toEqual({
      units: 2_900_000n * DOLLAR * 10n ** 8n,
      scale: 14,
    });
  });
});
