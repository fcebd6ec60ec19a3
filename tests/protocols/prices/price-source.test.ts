// Prices from pools pass the suite of all price sources, on Uniswap's own bytecode.
import { afterAll } from "vitest";
import { createChainlinkSource } from "../../../src/portfolio/prices/chainlink.ts";
import { createPoolPriceSource } from "../../../src/portfolio/prices/pool-prices.ts";
import type { SpotMarket } from "../../../src/portfolio/prices/spot-markets.ts";
import { openFailingChain } from "../../support/chain/recorded-chain.ts";
import { describePriceSource } from "../../support/portfolio/price-source-suite.ts";
import { ageFeed, assetOf, deployFeed, deployUniswapV2, openPriceLab } from "./price-lab.ts";

const ETHER = 10n ** 18n;
const PRICE = 3_182_45713042n;
const HEARTBEAT_SECONDS = 86_400;

const lab = await openPriceLab();
afterAll(() => lab.stop());
const weth = await lab.deployToken();
const exchange = await deployUniswapV2(lab);
const [known, exact, empty] = [await lab.deployToken(), await lab.deployToken(6), await lab.deployToken()];
await exchange.addLiquidity(known, 40_000n * ETHER, weth, 1_000n * ETHER);
await exchange.addLiquidity(exact, 2n ** 40n, weth, 1_000n * ETHER);
await lab.pass();
const [fresh, stale] = [await deployFeed(lab, PRICE), await deployFeed(lab, PRICE)];
await ageFeed(lab, fresh, PRICE, 0);
await ageFeed(lab, stale, PRICE, 2 * HEARTBEAT_SECONDS);

function createSource(feed: typeof fresh) {
  const native = { feed: feed.proxy, heartbeatSeconds: HEARTBEAT_SECONDS };
  const feeds = { native, wrappedNative: weth.address, sequencer: null, tokens: {} };
  const market: SpotMarket = {
    wrappedNative: weth.address,
    quotes: [{ token: weth.address, decimals: 18 }],
    factories: [exchange.factory],
  };
  const { chainId } = lab.chain;
  return createPoolPriceSource({
    trusted: [createChainlinkSource(new Map([[chainId, feeds]]))],
    markets: new Map([[chainId, market]]),
  });
}

describePriceSource("Pools", {
  open: async (scenario) => {
    const at = await lab.pin([known.address, exact.address, empty.address]);
    let roundTrips = 0;
    const count = <T>(result: T): T => {
      roundTrips += 1;
      return result;
    };
    const counted: typeof at = {
      ...at,
      read: (calls, signal) => count(at.read(calls, signal)),
      callWithOverride: (call, signal) => count(at.callWithOverride(call, signal)),
    };
    return {
      source: createSource(scenario === "stale" ? stale : fresh),
      at: scenario === "failing" ? openFailingChain({ chain: at.chain, calls: [] }) : counted,
      roundTrips: () => roundTrips,
    };
  },
  // A fortieth of a coin.
  known: { asset: { ...assetOf(known.address), contract: known.address }, price: "79.5614282605" },
  // 10^9 / 2^40 of a coin, cut after 24 digits.
  exact: { asset: assetOf(exact.address, 6), price: "2.89442789873646688647568205970238638" },
  zero: { asset: assetOf(empty.address), price: null },
  roundTripsMax: 3,
});
