// Chainlink prices: from a record, from a real feed contract on a real EVM, and the validation of rounds.
import { priceFeedAbi, priceFeedBytecode } from "@sextant/contracts/generated/price-feed";
import { type Contract, type Evm, startEvm } from "@sextant/contracts/test/evm";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import {
  openFailingChain,
  openRecordedChain,
  readChainRecord,
} from "../../../tests/support/chain/recorded-chain.ts";
import { createTestRpc } from "../../../tests/support/nodes/test-rpc.ts";
import {
  describePriceSource,
  nativeAsset,
  priceTexts,
  tokenAsset,
} from "../../../tests/support/portfolio/price-source-suite.ts";
import type { ChainPriceFeeds } from "../../chain/price-feeds/price-feeds.ts";
import { formatDecimal } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import { createChainAccess } from "../chain-access.ts";
import type { PortfolioChain } from "../types.ts";
import { type AggregatorRound, createChainlinkSource, isSequencerUp, validatePrice } from "./chainlink.ts";

const record = readChainRecord(
  new URL("../../../tests/fixtures/prices/handwritten/chainlink.json", import.meta.url),
);
const { signal } = new AbortController();
const DAYS_LATER = { ...record, block: { ...record.block, timestamp: record.block.timestamp + 200_000 } };
const SEQUENCER = "0xbcf85224fc0756b9fa45aa7892530b47e10b6433";
const USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";

describePriceSource("Chainlink", {
  open: async (scenario) => {
    const at = openRecordedChain(scenario === "stale" ? DAYS_LATER : record);
    const opened = scenario === "failing" ? openFailingChain(record) : at;
    return { source: createChainlinkSource(), at: opened, roundTrips: () => at.rounds.length };
  },
  known: { asset: tokenAsset(USDC, 6), price: "0.99985213" },
  exact: {
    asset: tokenAsset("0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf", 8),
    price: "9586.712345678901234567",
  },
  zero: { asset: tokenAsset("0x940181a94a35a4569e4529a3cdfb74e38fd98631"), price: null },
  roundTripsMax: 1,
});

describe("Chainlink", () => {
  it("prices tokens and the native coin in one request", async () => {
    const at = openRecordedChain(record);
    const result = await createChainlinkSource().read(
      { at, assets: [nativeAsset, tokenAsset(USDC)] },
      signal,
    );
    expect(priceTexts(result)).toEqual({ native: "3182.45713042", [USDC]: "0.99985213" });
    expect(at.requests.map(({ length }) => length)).toEqual([1]);
    expect(result.warnings).toEqual([]);
  });

  it("omits carried-over and negative prices", async () => {
    const dai = tokenAsset("0x50c5725949a6f0c72e6c4a641f24049a917db0cb");
    const link = tokenAsset("0x88fb150bdc53a65fe94dea0c9ba0a6daf8c6e196");
    const result = await createChainlinkSource().read(
      { at: openRecordedChain(record), assets: [dai, link] },
      signal,
    );
    expect(result).toEqual({ prices: new Map(), warnings: [] });
  });

  it.each([
    ["is down", ["2", "1", "1725386413", "1725386413", "2"]],
    ["restarted ten minutes ago", ["2", "0", String(record.block.timestamp - 600), "0", "2"]],
    ["never had a round", ["0", "0", "0", "0", "0"]],
  ])("uses no price and warns once when the sequencer %s", async (_, result) => {
    const calls = record.calls.map((call) => (call.to === SEQUENCER ? { ...call, result } : call));
    const at = openRecordedChain({ ...record, calls });
    const read = await createChainlinkSource().read({ at, assets: [nativeAsset, tokenAsset(USDC)] }, signal);
    expect(read.prices.size).toBe(0);
    expect(read.warnings).toEqual([expect.stringMatching(/^The sequencer of Base is down .*Chainlink/)]);
  });

  it("uses no price when the sequencer's feed reverts", async () => {
    const calls = record.calls.filter(({ to }) => to !== SEQUENCER);
    const result = await createChainlinkSource().read(
      { at: openRecordedChain({ ...record, calls }), assets: [nativeAsset] },
      signal,
    );
    expect(result).toMatchObject({ prices: new Map(), warnings: [expect.any(String)] });
  });
});

describe("a round", () => {
  const round = (changes: Partial<AggregatorRound> = {}): AggregatorRound => ({
    ...{ roundId: 7n, answer: 100n, startedAt: 1_000n, updatedAt: 1_000n, answeredInRound: 7n },
    ...changes,
  });
  const feed = { feed: "0x00" as Hex, heartbeatSeconds: 3_600 };

  it("a round is valid until its heartbeat plus five minutes, and never from the future", () => {
    const isValid = (now: number) => validatePrice(round(), 2, feed, now) !== null;
    expect([999, 1_000, 4_900, 4_901].map(isValid)).toEqual([false, true, true, false]);
  });

  it("a round is invalid without an id, a price or decimals", () => {
    expect(validatePrice(round({ roundId: 0n }), 2, feed, 1_000)).toBeNull();
    expect(validatePrice(round({ answer: 0n }), 2, feed, 1_000)).toBeNull();
    expect(validatePrice(round({ answeredInRound: 6n }), 2, feed, 1_000)).toBeNull();
    expect(validatePrice(round(), null, feed, 1_000)).toBeNull();
    expect(validatePrice(null, 2, feed, 1_000)).toBeNull();
  });

  it("keeps any positive value exactly", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 2n ** 255n - 1n }),
        fc.integer({ min: 0, max: 255 }),
        (answer, decimals) => {
          expect(validatePrice(round({ answer }), decimals, feed, 1_000)).toEqual({
            units: answer,
            scale: decimals,
          });
        },
      ),
    );
  });

  it("reports a running sequencer after an hour", () => {
    const isUp = (now: number) => isSequencerUp(round({ answer: 0n }), now);
    expect([4_599, 4_600].map(isUp)).toEqual([false, true]);
    expect(isSequencerUp(null, 9_999)).toBe(false);
  });
});

describe("Chainlink on a real EVM", () => {
  const TOKEN = "0x1111111111111111111111111111111111111111";
  let evm: Evm;
  let feed: Contract<typeof priceFeedAbi>;
  let owner: Hex;
  let chainAccess: PortfolioChain;

  beforeAll(async () => {
    evm = await startEvm();
    owner = evm.chain.accounts.owner.address;
    const { chain } = openFailingChain({ ...record, chain: { ...record.chain, chainId: evm.chain.chainId } });
    chainAccess = createChainAccess(createTestRpc([evm.chain.rpcUrl]).rpc, chain);
    feed = await evm.deploy(priceFeedAbi, priceFeedBytecode, ["T / USD", 8, 300_012345678n]);
  });

  async function priceNow(): Promise<string | undefined> {
    const address = feed.address.toLowerCase() as Hex;
    const local: ChainPriceFeeds = {
      native: null,
      sequencer: null,
      tokens: { [TOKEN]: { feed: address, heartbeatSeconds: 3_600 } },
    };
    const at = await chainAccess.pin(signal);
    const source = createChainlinkSource(new Map([[at.chain.chainId, local]]));
    const { prices } = await source.read({ at, assets: [tokenAsset(TOKEN), nativeAsset] }, signal);
    const price = prices.get(TOKEN);
    return price && formatDecimal(price.usd);
  }

  it("reads the contract's price and rejects a stale one", async () => {
    expect(await priceNow()).toBe("3000.12345678");
    await feed.send(owner, "setAnswer", [1n]);
    expect(await priceNow()).toBe("0.00000001");
    await feed.send(owner, "setAnswer", [0n]);
    expect(await priceNow()).toBeUndefined();
    await feed.send(owner, "setAnswerAt", [5n, (await evm.now()) - 4_000n]);
    expect(await priceNow()).toBeUndefined();
    await feed.send(owner, "setAnswerAt", [5n, (await evm.now()) + 4_000n]);
    expect(await priceNow()).toBeUndefined();
  });
});
