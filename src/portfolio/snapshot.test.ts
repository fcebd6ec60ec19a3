// A snapshot read: the order of its stages, what degrades to a warning, and what fails the whole read.
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
import { PositionRead } from "./positions/position-read.ts";
import { createSnapshotReader, type SnapshotReaderOptions } from "./snapshot.ts";
import {
  type Asset,
  type ChainHoldings,
  type HoldingsProvider,
  type PinnedChain,
  type PositionReader,
  type PriceSource,
  quotePrice,
} from "./types.ts";

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

function makeReader(more: Partial<SnapshotReaderOptions>) {
  return createSnapshotReader({
    chains: makeChainAccesses(base, ethereum),
    provider: providerOf(async () => ({})),
    priceSources: [],
    positionReaders: [],
    clock: createFastClock(1_700_000_000_000),
    ...more,
  });
}

function priceSource(onRead: (assets: readonly Asset[]) => void): PriceSource {
  return {
    name: "feed",
    read: async ({ assets }) => {
      onRead(assets);
      return {
        prices: new Map([[usdc.contract, quotePrice({ units: 1n, scale: 0 })]]),
        warnings: ["Feed is slow."],
      };
    },
  };
}

describe("a snapshot", () => {
  it("reads balances, metadata, positions and prices in this order and collects every warning", async () => {
    const steps: string[] = [];
    const read = () => Promise.reject(new Error("down"));
    const reader = makeReader({
      chains: new Map([["base", makeChainAccess(base, { read })]]),
      provider: providerOf(async () => ({
        holdings: [makeHolding(ETHER_ASSET, 2n * 10n ** 18n), makeHolding(receipt, 5n)],
        activity: [
          {
            ...{
              hash: numberedContract(9),
              sender: TEST_WALLET,
              from: TEST_WALLET,
              to: null,
              lookalike: false,
              transfer: null,
            },
            ...{ blockNumber: 6, timestamp: 60 },
          },
        ],
        prices: new Map([
          ["native", quotePrice({ units: 3n, scale: 0 })],
          [usdc.contract, quotePrice({ units: 9n, scale: 0 })],
        ]),
        warnings: ["Provider warns."],
      })),
      positionReaders: [
        {
          protocol: "Lend",
          read: async (query, stop) => {
            const { holdings } = await new PositionRead(query, stop).withTokens();
            steps.push(...holdings.map(({ symbol }) => `position of ${symbol}`));
            const position = {
              kind: "supplied",
              assets: [makeHolding(usdc, 5_000_000n)],
              receiptTokens: [receipt.contract],
            } as const;
            return { positions: [makePosition(position)], warnings: ["Reader warns."] };
          },
        },
      ],
      priceSources: [
        [priceSource((assets) => steps.push(...assets.map(({ symbol }) => `price of ${symbol}`)))],
      ],
    });
    const { summary, tokens, ...rest } = await reader.read({ wallet: TEST_WALLET, slugs: ["base"] }, signal);
    expect(steps).toEqual([
      ...["position of ETH", "position of aUSDC"],
      ...["price of ETH", "price of USDC"],
    ]);
    expect(tokens).toMatchObject([{ name: "Ether", valueUsd: "6", priceSource: "double" }]);
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
      "Base: names and decimals of tokens could not be read from the chain; those of the lists are shown.",
      "Feed is slow.",
      "Reader warns.",
      "What transactions cost on Base is unknown: its fees could not be read.",
      "The name of the wallet is unknown on Base: it could not be read.",
    ]);
  });

  it("reads only figures for a difference: no activity, account, gas or name", async () => {
    const asked: unknown[] = [];
    const reads: number[] = [];
    const reader = makeReader({
      chains: new Map([
        [
          "base",
          makeChainAccess(base, {
            read: async (calls) => {
              reads.push(calls.length);
              return calls.map(() => null);
            },
          }),
        ],
      ]),
      provider: {
        name: "double",
        read: async ({ withoutActivity }) => {
          asked.push(withoutActivity);
          return { holdings: [], activity: [], warnings: [] };
        },
      },
    });
    const query = { wallet: TEST_WALLET, slugs: ["base"] } as const;
    const { summary } = await reader.read({ ...query, figuresOnly: true }, signal);
    expect([asked, reads, summary.warnings.length]).toEqual([[true], [], 1]);
    await reader.read(query, signal);
    expect(asked).toEqual([true, false]);
    expect(reads.length).toBeGreaterThan(0);
  });

  it("passes the names of lists, and those that unlisted contracts return, to position readers", async () => {
    const named = `0x${Buffer.from("aUSDC on chain").toString("hex").padEnd(64, "0")}` as const;
    const read: PinnedChain["read"] = async (calls) => calls.map(() => named);
    const names: (string | null)[] = [];
    const reader = makeReader({
      chains: new Map([["base", makeChainAccess(base, { read })]]),
      provider: providerOf(async () => ({
        holdings: [ETHER_ASSET, receipt, makeListedToken(0x77, "UNLISTED")].map((asset) =>
          makeHolding(asset, 5n),
        ),
      })),
      positionReaders: [
        {
          protocol: "Lend",
          read: async (query, stop) => {
            const { holdings } = await new PositionRead(query, stop).withTokens();
            names.push(...holdings.map(({ name }) => name));
            return { positions: [], warnings: [] };
          },
        },
      ],
    });
    await reader.read({ wallet: TEST_WALLET, slugs: ["base"] }, signal);
    expect(names).toEqual(["Ether", "aUSDC token", "aUSDC on chain"]);
  });

  it("reads its chains concurrently", async () => {
    let waiting = 0;
    const { promise: bothWait, resolve } = createDeferred<void>();
    const provider = providerOf(async () => {
      waiting += 1;
      if (waiting === 2) resolve();
      await bothWait;
      return {};
    });
    const { chains } = await makeReader({ provider }).read(
      { wallet: TEST_WALLET, slugs: ["ethereum", "base"] },
      signal,
    );
    expect(chains).toEqual(["ethereum", "base"]);
  });

  it("does not mark an unpriced, unlisted token as spam when a price source failed", async () => {
    const provider = providerOf(async () => ({ holdings: [makeHolding(makeListedToken(9, "NEW"), 1n)] }));
    const failing: PriceSource = { name: "feed", read: () => Promise.reject(new Error("down")) };
    const query = { wallet: TEST_WALLET, slugs: ["base"] };
    const [known, unknown] = await Promise.all([
      makeReader({ provider }).read(query, signal),
      makeReader({ provider, priceSources: [[failing]] }).read(query, signal),
    ]);
    expect([known.tokens[0]?.spam, unknown.tokens[0]?.spam]).toEqual([true, false]);
  });

  it("a snapshot has no total while a lending protocol cannot be read, and keeps everything else", async () => {
    const provider = providerOf(async () => ({ holdings: [makeHolding(usdc, 5_000_000n)] }));
    const failing = (protocol: string, readsDebt: boolean) => ({
      ...{ protocol, readsDebt },
      read: () => Promise.reject(new Error("down")),
    });
    const totals = async (...positionReaders: SnapshotReaderOptions["positionReaders"]) => {
      const reader = makeReader({ provider, positionReaders, priceSources: [[priceSource(() => {})]] });
      return (await reader.read({ wallet: TEST_WALLET, slugs: ["base"] }, signal)).summary;
    };
    const unknown = await totals(failing("aave-v3", true), failing("erc-4626", false));
    expect(unknown).toMatchObject({ totalValueUsd: null, pricedTokenCount: 1 });
    expect(unknown.chains).toMatchObject([{ totalValueUsd: null }]);
    expect(unknown.topHoldings).toMatchObject([{ symbol: "USDC", valueUsd: "5" }]);
    expect(unknown.warnings).toContain("Positions in aave-v3 are missing on Base: they could not be read.");
    expect(unknown.warnings).toContain(
      "The total value on Base is unknown: what the wallet may owe in aave-v3 could not be read.",
    );
    expect((await totals(failing("erc-4626", false))).totalValueUsd).toBe("5");
  });

  it.each(["pin", "balances"])("fails as a whole when the %s of one chain cannot be read", async (where) => {
    const cause = new Fault("NODE_UNAVAILABLE", "No node at https://secret.example responds.");
    const fail = (stage: string, slug: string) => {
      if (stage === where && slug === "ethereum") throw cause;
    };
    const stopped: unknown[] = [];
    const reader = makeReader({
      chains: new Map([
        ["base", makeChainAccess(base)],
        ["ethereum", makeChainAccess(ethereum, { onPin: () => fail("pin", "ethereum") })],
      ]),
      provider: providerOf(async (slug, signal) => {
        fail("balances", slug);
        // Base never responds: only the failure of Ethereum ends its read.
        if (slug === "base") {
          await new Promise((_, reject) =>
            signal.addEventListener("abort", () => reject(stopped.push(slug))),
          );
        }
        return {};
      }),
    });
    const failure = reader.read({ wallet: TEST_WALLET, slugs: ["base", "ethereum"] }, signal);
    await expect(failure).rejects.toMatchObject({
      code: "PROVIDER_FAILED",
      status: 500,
      message: "The balances on Ethereum could not be read in full.",
      cause,
    });
    expect(stopped).toEqual(["base"]);
  });

  it("asks protocols while balances are read, and stops them when those fail", async () => {
    const steps: string[] = [];
    let goOn = () => {};
    const asked = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const provider = providerOf(async () => {
      await asked;
      steps.push("balances failed");
      throw new Error("down");
    });
    const early: PositionReader = {
      protocol: "Lend",
      read: async (query, stop) => {
        const run = new PositionRead(query, stop);
        stop.addEventListener("abort", () => steps.push("stopped"));
        steps.push(`asked for ${run.wallet}`);
        goOn();
        await run.withTokens();
        return { positions: [], warnings: [] };
      },
    };
    const failure = makeReader({ provider, positionReaders: [early] }).read(
      { wallet: TEST_WALLET, slugs: ["base"] },
      signal,
    );
    await expect(failure).rejects.toMatchObject({ code: "PROVIDER_FAILED" });
    expect(steps).toEqual([`asked for ${TEST_WALLET}`, "balances failed", "stopped"]);
  });

  it("names the chain that hangs before the caller times out", async () => {
    const provider = providerOf((slug, signal) => {
      if (slug === "base") return Promise.resolve({});
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    });
    const reader = makeReader({ provider, readMsMax: 20 });
    await expect(
      reader.read({ wallet: TEST_WALLET, slugs: ["base", "ethereum"] }, signal),
    ).rejects.toMatchObject({
      code: "PROVIDER_FAILED",
      message: "The balances on Ethereum could not be read in full.",
    });
  });

  it("rejects with the reason of the caller's signal", async () => {
    const stop = new AbortController();
    const provider = providerOf(async (_slug, signal) => {
      stop.abort(new Error("the client disconnected"));
      signal.throwIfAborted();
      return {};
    });
    const failure = makeReader({ provider }).read({ wallet: TEST_WALLET, slugs: ["base"] }, stop.signal);
    await expect(failure).rejects.toThrow("the client disconnected");
  });

  it("rejects a chain that is not served", async () => {
    const failure = makeReader({}).read({ wallet: TEST_WALLET, slugs: ["bitcoin"] }, signal);
    await expect(failure).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: "Chain bitcoin is not served.",
    });
  });
});
