// Liars inside the token list: whatever a listed contract says of itself, a snapshot believes no money that is not there.
// In main, src/portfolio/positions/*.test.ts reject what single vaults claim.
import { deploy, LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { returningCode } from "@sextant/contracts/test/hostile-token-code";
import { startLocalChain } from "@sextant/local-chain/local-chain";
import { concatHex, encodeFunctionData, type Hex, numberToHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createChainAccess } from "../../src/portfolio/chain-access.ts";
import { AAVE_V3_MARKETS } from "../../src/portfolio/positions/aave-v3/markets.ts";
import { erc4626Reader } from "../../src/portfolio/positions/erc4626/reader.ts";
import { POSITION_READERS } from "../../src/portfolio/positions/readers.ts";
import { PAIR_MARKETS } from "../../src/portfolio/positions/uniswap-v2/contracts.ts";
import { createPriceSources } from "../../src/portfolio/prices/sources.ts";
import { rpcHoldingsProvider } from "../../src/portfolio/providers/rpc/provider.ts";
import { readWalletData } from "../../src/portfolio/snapshot.ts";
import type { PinnedChain, PositionReader } from "../../src/portfolio/types.ts";
import { valueSnapshot } from "../../src/portfolio/valuation/value-snapshot.ts";
import { fixedReturnCode } from "../support/chain/fixed-return-contract.ts";
import { createTestRpc } from "../support/nodes/test-rpc.ts";
import { makeChainConfig } from "../support/portfolio/portfolio-parts.ts";

/** Ethereum, so that every reader has its markets. */
const CHAIN_ID = 1;
const YEARS_SECONDS = 10 * 365 * 86_400;
const LIAR: Hex = `0x${"11a0".repeat(10)}`;
/** Vaults over the liar. */
const OUTER_LIARS: readonly Hex[] = [1, 2, 3, 4, 5].map((index): Hex => `0x${"11a1".repeat(9)}000${index}`);
const FORTUNE = 3_900_000_000n * 10n ** 6n;
const { signal } = new AbortController();

let chain: Awaited<ReturnType<typeof startLocalChain>>;
let usdc: Hex;
let wallet: Hex;
let pin: () => Promise<PinnedChain>;
let priceSources: ReturnType<typeof createPriceSources>;

beforeAll(async () => {
  chain = await startLocalChain({ chainId: CHAIN_ID, code: LOCAL_GENESIS_CODE });
  const { request, accounts } = chain;
  wallet = accounts.payer.address.toLowerCase() as Hex;
  const { local } = await deploy({ request, owner: accounts.owner, network: "local" });
  usdc = local.UsdCoin.toLowerCase() as Hex;
  const feed = { feed: local.UsdcUsdFeed.toLowerCase() as Hex, heartbeatSeconds: YEARS_SECONDS };
  priceSources = createPriceSources({
    feeds: new Map([[CHAIN_ID, { native: null, sequencer: null, tokens: { [usdc]: feed } }]]),
    aaveMarkets: new Map(),
    spotMarkets: new Map(),
  });
  // The supply is large enough for the lie to be plausible.
  await mint(accounts.owner.address, 2n * FORTUNE);
  const tokens = [
    { contract: usdc, symbol: "USDC", name: "USD Coin", decimals: 6, logo: null },
    ...[LIAR, ...OUTER_LIARS].map((contract) => ({
      ...{ contract, symbol: "UNI-V2", name: "Listed", decimals: 6, logo: null },
    })),
  ];
  const config = makeChainConfig("ethereum", CHAIN_ID, tokens, { stablecoins: new Set([usdc]) });
  pin = () => createChainAccess(createTestRpc([chain.rpcUrl]).rpc, config).pin(signal);
});
afterAll(() => chain?.stop());

async function mint(to: Hex, amount: bigint): Promise<void> {
  const data = encodeFunctionData({ abi: usdCoinAbi, functionName: "mint", args: [to, amount] });
  await chain.request("eth_sendTransaction", [{ from: chain.accounts.owner.address, to: usdc, data }]);
}

async function readSnapshot(positionReaders: readonly PositionReader[]) {
  const options = { provider: rpcHoldingsProvider, priceSources, positionReaders };
  const data = await readWalletData(options, { at: await pin(), wallet }, signal);
  return valueSnapshot({ wallet, takenAtMs: 0, provider: "rpc", chains: [data] });
}

/** Function signatures, such as `asset()`, with the words that each returns. */
const lyingCode = (lies: Readonly<Record<string, readonly bigint[]>>): Hex =>
  fixedReturnCode(
    Object.fromEntries(
      Object.entries(lies).map(([signature, words]) => [
        signature,
        concatHex(words.map((word) => numberToHex(word, { size: 32 }))),
      ]),
    ),
  );

const VAULT_LIES = {
  "convertToAssets(uint256)": [FORTUNE],
  "maxWithdraw(address)": [FORTUNE],
  "maxRedeem(address)": [FORTUNE],
  "totalAssets()": [FORTUNE],
  "cash()": [FORTUNE],
};

describe("a listed contract that claims to be a vault", () => {
  const placeVault = (lies: Readonly<Record<string, readonly bigint[]>> = {}) =>
    chain.setCode(
      LIAR,
      lyingCode({
        ...{ "balanceOf(address)": [1n], "asset()": [BigInt(usdc)] },
        ...{ ...VAULT_LIES, ...lies },
      }),
    );

  it("is worth nothing if it holds nothing, and makes no stablecoins", async () => {
    await placeVault();
    const { summary, positions, tokens } = await readSnapshot([erc4626Reader]);
    expect({ total: summary.totalValueUsd, stable: summary.stablecoinValueUsd, positions }).toEqual({
      ...{ total: null, stable: "0", positions: [] },
    });
    expect(tokens.find(({ contract }) => contract === LIAR)?.valueUsd).toBeNull();
    expect(summary.warnings).toContain(
      `The vault ${LIAR} on Ethereum could not pay out all that it owes the wallet now; the rest is not counted.`,
    );
  });

  it("counts with the coins that it holds, is marked, and stays out of the stablecoins", async () => {
    await placeVault();
    await mint(LIAR, 1_500_000_000n);
    const { summary, positions } = await readSnapshot([erc4626Reader]);
    expect(summary.totalValueUsd).toBe("1500");
    expect(summary.stablecoinValueUsd).toBe("0");
    expect(positions).toMatchObject([{ contract: LIAR, valueUsd: "1500", selfReported: true }]);
    expect(summary.warnings).toContain(
      `Only a token list vouches for these vaults on Ethereum: they count with what they could pay out now, and not as stablecoins: ${LIAR}.`,
    );
  });

  it("counts with what it would pay the wallet, if that is less", async () => {
    await placeVault({ "maxWithdraw(address)": [40_000_000n] });
    expect((await readSnapshot([erc4626Reader])).summary.totalValueUsd).toBe("40");
    await placeVault({ "maxWithdraw(address)": [], "maxRedeem(address)": [0n] });
    expect((await readSnapshot([erc4626Reader])).positions).toEqual([]);
  });

  it.each([
    [1_500_000_000n, ["1500"], [0, 1, 2, 3, 4]],
    [400_000_000n, ["400", "400", "400", "300"], [2, 3, 4]],
  ])("counts the coins that it holds once, if six vaults over them say %i", async (claim, values, cut) => {
    const lies = {
      ...{ "convertToAssets(uint256)": [claim], "maxWithdraw(address)": [claim] },
      ...{ "balanceOf(address)": [claim], "totalSupply()": [FORTUNE] },
    };
    await placeVault(lies);
    const outer = lyingCode({ ...VAULT_LIES, ...lies, "asset()": [BigInt(LIAR)] });
    for (const address of OUTER_LIARS) await chain.setCode(address, outer);
    const { summary, positions } = await readSnapshot([erc4626Reader]);
    for (const address of OUTER_LIARS) await chain.setCode(address, "0x");
    expect(summary.totalValueUsd).toBe("1500");
    expect(positions.map(({ valueUsd }) => valueUsd)).toEqual(values);
    // The vault's own shares come before those of vaults over it.
    expect(positions[0]).toMatchObject({ contract: LIAR, selfReported: true });
    const reported = summary.warnings.filter((warning) => warning.endsWith("which count once."));
    expect(reported).toEqual(
      cut.map(
        (index) =>
          `The vault ${OUTER_LIARS[index]} on Ethereum rests on assets that other shares of the wallet rest on, which count once.`,
      ),
    );
  });
});

/** Responses of a token by which a reader could take it for a receipt of its protocol. */
const RECEIPTS: Readonly<Record<string, () => Readonly<Record<string, readonly bigint[]>>>> = {
  "Aave aToken": () => ({
    "UNDERLYING_ASSET_ADDRESS()": [BigInt(usdc)],
    "POOL()": [BigInt(AAVE_V3_MARKETS.get(CHAIN_ID)?.[0]?.pool ?? 0)],
    "scaledBalanceOf(address)": [FORTUNE],
    "getScaledUserBalanceAndSupply(address)": [FORTUNE, FORTUNE],
  }),
  "Compound cToken": () => ({
    "underlying()": [BigInt(usdc)],
    "exchangeRateStored()": [10n ** 40n],
    "exchangeRateCurrent()": [10n ** 40n],
    "balanceOfUnderlying(address)": [FORTUNE],
    "getAccountSnapshot(address)": [0n, FORTUNE, 0n, 10n ** 40n],
  }),
  "Compound Comet": () => ({
    "baseToken()": [BigInt(usdc)],
    "userBasic(address)": [FORTUNE, 0n, 0n, 0n, 0n],
    "collateralBalanceOf(address,address)": [FORTUNE],
  }),
  "wrapped staking rate": () => ({
    "stEthPerToken()": [10n ** 40n],
    "getStETHByWstETH(uint256)": [FORTUNE],
    "getExchangeRate()": [10n ** 40n],
    "getRate()": [10n ** 40n],
    "getEthValue(uint256)": [FORTUNE],
    "cooldowns(address)": [FORTUNE, FORTUNE],
  }),
  "pair of Uniswap v2": () => ({
    "factory()": [BigInt(PAIR_MARKETS.get(CHAIN_ID)?.[0]?.factory ?? 0)],
    "token0()": [BigInt(usdc)],
    "token1()": [BigInt(LIAR)],
    "totalSupply()": [1n],
    "getReserves()": [FORTUNE, FORTUNE, 0n],
  }),
  "manager of NFTs": () => ({
    "tokenOfOwnerByIndex(address,uint256)": [1n],
    "ownerOf(uint256)": [BigInt(wallet)],
    "positions(uint256)": Array.from({ length: 12 }, () => FORTUNE),
  }),
  "gauge with a stake": () => ({
    "stakingToken()": [BigInt(usdc)],
    "earned(address)": [FORTUNE],
    "pool()": [BigInt(usdc)],
  }),
  "Morpho market": () => ({ "position(bytes32,address)": [FORTUNE, 0n, FORTUNE] }),
  "price feed or oracle": () => ({
    "latestRoundData()": [1n, 10n ** 20n, 2_000_000_000n, 2_000_000_000n, 1n],
    "latestAnswer()": [10n ** 20n],
    "getAssetPrice(address)": [10n ** 20n],
    "price()": [10n ** 40n],
  }),
};

describe("a listed contract that claims to be another protocol's receipt", () => {
  // The factory exists and knows another pair.
  beforeAll(() => chain.setCode(PAIR_MARKETS.get(CHAIN_ID)?.[0]?.factory ?? "0x", returningCode(0xbadn)));

  it.each(Object.keys(RECEIPTS))("stays a token without a value as a %s", async (kind) => {
    const lies = RECEIPTS[kind]?.() ?? {};
    await chain.setCode(LIAR, lyingCode({ "balanceOf(address)": [FORTUNE], ...lies }));
    const { positions, tokens, summary } = await readSnapshot(POSITION_READERS);
    expect(positions).toEqual([]);
    expect(tokens.filter(({ contract }) => contract === LIAR)).toMatchObject([
      { priceUsd: null, valueUsd: null },
    ]);
    expect(summary.stablecoinValueUsd).toBe("0");
  });

  it("is asked by no reader but those of vaults and pairs, so that no other kind can lie", async () => {
    await chain.setCode(LIAR, lyingCode({ "balanceOf(address)": [1n] }));
    const at = await pin();
    const holdings = [
      { contract: LIAR, symbol: "UNI-V2", name: "Listed", decimals: 6, logo: null, rawBalance: FORTUNE },
    ];
    const asking: string[] = [];
    for (const reader of POSITION_READERS) {
      const watched: PinnedChain = {
        ...at,
        read: (calls, abort) => {
          if (JSON.stringify(calls).includes(LIAR.slice(2))) asking.push(reader.protocol);
          return at.read(calls, abort);
        },
      };
      await reader.read({ at: watched, wallet, holdings, transfers: [] }, signal).catch(() => null);
    }
    expect([...new Set(asking)]).toEqual(["erc-4626", "uniswap-v2 and its forks"]);
  });
});
