// The river of one request: what is asked in which order, what degrades, and what fails the whole.
import { describe, expect, it } from "vitest";
import { createFastClock } from "../../tests/support/fast-clock.ts";
import {
  createDeferred,
  ETHER_ASSET,
  makeChainAccess,
  makeChainAccesses,
  makeChainConfig,
  makeHolding,
  makeListedToken,
  makePosition,
  numberedContract,
  TEST_WALLET,
} from "../../tests/support/portfolio/portfolio-parts.ts";
import { Fault } from "../lib/fault.ts";
import { createSnapshotReader, type SnapshotReaderOptions } from "./snapshot.ts";
import type { Asset, ChainHoldings, HoldingsProvider, PriceSource } from "./types.ts";

const signal = new AbortController().signal;
const usdc = makeListedToken(1, "USDC", 6);
const receipt = makeListedToken(2, "aUSDC", 6);
const base = makeChainConfig("base", 8453, [usdc, receipt]);
const ethereum = makeChainConfig("ethereum", 1, [usdc]);

function providerOf(
  read: (slug: string, signal: AbortSignal) => Promise<Partial<ChainHoldings>>,
): HoldingsProvider {
  return {
    name: "double",
    read: async ({ at }, signal) => ({
      ...{ holdings: [], activity: [], warnings: [] },
      ...(await read(at.chain.slug, signal)),
    }),
  };
}

function takerOf(more: Partial<SnapshotReaderOptions>) {
  return createSnapshotReader({
    chains: makeChainAccesses(base, ethereum),
    provider: providerOf(async () => ({})),
    priceSources: [],
    positionReaders: [],
    readMetadata: async (_at, holdings) => ({ holdings, warnings: [] }),
    clock: createFastClock(1_700_000_000_000),
    ...more,
  });
}

function priceSource(asked: (assets: readonly Asset[]) => void): PriceSource {
  return {
    name: "feed",
    read: async ({ assets }) => {
      asked(assets);
      return { prices: new Map([[usdc.contract, { units: 1n, scale: 0 }]]), warnings: ["Feed is slow."] };
    },
  };
}

describe("a snapshot", () => {
  it("goes from balances over metadata and positions to prices, and keeps every warning", async () => {
    const asked: string[] = [];
    const taker = takerOf({
      provider: providerOf(async () => ({
        holdings: [makeHolding(ETHER_ASSET, 2n * 10n ** 18n), makeHolding(receipt, 5n)],
        activity: [{ hash: numberedContract(9), from: TEST_WALLET, to: null, blockNumber: 6, timestamp: 60 }],
        prices: new Map([
          ["native", { units: 3n, scale: 0 }],
          [usdc.contract, { units: 9n, scale: 0 }],
        ]),
        warnings: ["Provider warns."],
      })),
      readMetadata: async (_at, holdings) => ({
        holdings: holdings.map((holding) => ({ ...holding, name: `${holding.symbol} on chain` })),
        warnings: ["Metadata warns."],
      }),
      positionReaders: [
        {
          protocol: "Lend",
          read: async ({ holdings }) => {
            asked.push(...holdings.map(({ name }) => `position of ${name}`));
            const position = {
              kind: "supplied",
              assets: [makeHolding(usdc, 5_000_000n)],
              replaces: [receipt.contract],
            } as const;
            return { positions: [makePosition(position)], warnings: ["Reader warns."] };
          },
        },
      ],
      priceSources: [
        [priceSource((assets) => asked.push(...assets.map(({ symbol }) => `price of ${symbol}`)))],
      ],
    });
    const { summary, tokens, ...rest } = await taker.read({ wallet: TEST_WALLET, slugs: ["base"] }, signal);
    expect(asked).toEqual([
      ...["position of ETH on chain", "position of aUSDC on chain"],
      ...["price of ETH", "price of USDC"],
    ]);
    expect(tokens).toMatchObject([{ name: "ETH on chain", valueUsd: "6", priceSource: "double" }]);
    expect(rest).toMatchObject({
      address: TEST_WALLET,
      timestamp: "2023-11-14T22:13:20.000Z",
      chains: ["base"],
      positions: [{ valueUsd: "5" }],
      recentActivity: [{ chain: "base", blockNumber: 6 }],
      provider: "double",
    });
    expect(summary.totalValueUsd).toBe("11");
    expect(summary.warnings.slice(1)).toEqual([
      "Provider warns.",
      "Metadata warns.",
      "Reader warns.",
      "Feed is slow.",
    ]);
  });

  it("reads its chains at the same time", async () => {
    let waiting = 0;
    const { promise: bothWait, resolve } = createDeferred<void>();
    const provider = providerOf(async () => {
      waiting += 1;
      if (waiting === 2) resolve();
      await bothWait;
      return {};
    });
    const { chains } = await takerOf({ provider }).read(
      { wallet: TEST_WALLET, slugs: ["ethereum", "base"] },
      signal,
    );
    expect(chains).toEqual(["ethereum", "base"]);
  });

  it("does not call an unlisted token spam for lack of a price while a source is silent", async () => {
    const provider = providerOf(async () => ({ holdings: [makeHolding(makeListedToken(9, "NEW"), 1n)] }));
    const silent: PriceSource = { name: "feed", read: () => Promise.reject(new Error("down")) };
    const question = { wallet: TEST_WALLET, slugs: ["base"] };
    const [known, unknown] = await Promise.all([
      takerOf({ provider }).read(question, signal),
      takerOf({ provider, priceSources: [[silent]] }).read(question, signal),
    ]);
    expect([known.tokens[0]?.spam, unknown.tokens[0]?.spam]).toEqual([true, false]);
  });

  it.each(["pin", "balances", "metadata"])(
    "fails as a whole when the %s of one chain can not be had",
    async (where) => {
      const cause = new Fault("NODE_UNAVAILABLE", "No node at https://secret.example answers.");
      const fail = (stage: string, slug: string) => {
        if (stage === where && slug === "ethereum") throw cause;
      };
      const stopped: unknown[] = [];
      const taker = takerOf({
        chains: new Map([
          ["base", makeChainAccess(base)],
          ["ethereum", makeChainAccess(ethereum, () => fail("pin", "ethereum"))],
        ]),
        provider: providerOf(async (slug, signal) => {
          fail("balances", slug);
          // Base would never answer: it ends because Ethereum failed.
          if (slug === "base") {
            await new Promise((_, reject) =>
              signal.addEventListener("abort", () => reject(stopped.push(slug))),
            );
          }
          return {};
        }),
        readMetadata: async (at, holdings) => {
          fail("metadata", at.chain.slug);
          return { holdings, warnings: [] };
        },
      });
      const failure = taker.read({ wallet: TEST_WALLET, slugs: ["base", "ethereum"] }, signal);
      await expect(failure).rejects.toMatchObject({
        code: "PROVIDER_FAILED",
        status: 500,
        message: "The balances on Ethereum could not be read in full.",
        cause,
      });
      expect(stopped).toEqual(["base"]);
    },
  );

  it("names the chain that hangs, while the asker still waits", async () => {
    const provider = providerOf((slug, signal) => {
      if (slug === "base") return Promise.resolve({});
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    });
    const taker = takerOf({ provider, readMsMax: 20 });
    await expect(
      taker.read({ wallet: TEST_WALLET, slugs: ["base", "ethereum"] }, signal),
    ).rejects.toMatchObject({
      code: "PROVIDER_FAILED",
      message: "The balances on Ethereum could not be read in full.",
    });
  });

  it("ends with the asker's own reason", async () => {
    const stop = new AbortController();
    const provider = providerOf(async (_slug, signal) => {
      stop.abort(new Error("the client has left"));
      signal.throwIfAborted();
      return {};
    });
    const failure = takerOf({ provider }).read({ wallet: TEST_WALLET, slugs: ["base"] }, stop.signal);
    await expect(failure).rejects.toThrow("the client has left");
  });

  it("refuses a chain that is not there", async () => {
    const failure = takerOf({}).read({ wallet: TEST_WALLET, slugs: ["bitcoin"] }, signal);
    await expect(failure).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: "There is no chain bitcoin here.",
    });
  });
});
