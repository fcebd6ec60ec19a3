// Aave v2 by its own bytecode: debt at variable and stable rates, priced in ether, compared with the pool's own account.
import { decodeFunctionData } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { parseDecimal } from "../../../src/lib/decimal.ts";
import type { Hex } from "../../../src/lib/hex.ts";
import { readExposure } from "../../../src/portfolio/exposure/read-exposure.ts";
import { createSpenderList, type Spender } from "../../../src/portfolio/exposure/spenders.ts";
import { createAaveV2Reader } from "../../../src/portfolio/positions/aave-v3/reader.ts";
import { rpcHoldingsProvider } from "../../../src/portfolio/providers/rpc/provider.ts";
import {
  type AssetPrice,
  type PortfolioChain,
  type PositionReader,
  type PriceSource,
  quotePrice,
} from "../../../src/portfolio/types.ts";
import type { Exposure } from "../../../src/schema/portfolio/exposure.ts";
import { readArtifact } from "../support/artifacts.ts";
import type { DeployedContract } from "../support/deployer.ts";
import { deployFeed } from "./chainlink-feed.ts";
import { formatUsd, type LendingStage, startLendingStage } from "./lending-stage.ts";

const RAY = 10n ** 27n;
const ETHER = 10n ** 18n;
const ZERO: Hex = `0x${"00".repeat(20)}`;
const STABLE = 1n;
const VARIABLE = 2n;
/** The price of one ether, in dollars. */
const ETHER_USD = 3_000n;

let stage: LendingStage;
let pool: DeployedContract;
let reader: PositionReader;
let weth: DeployedContract;
let prices: ReadonlyMap<Hex, AssetPrice>;

function artifact(folder: string, name: string, libraries: Readonly<Record<string, Hex>> = {}) {
  return readArtifact(`@aave/protocol-v2/artifacts/contracts/${folder}/${name}.sol/${name}.json`, libraries);
}

async function deployPool(provider: DeployedContract) {
  const { deployer } = stage;
  const logic = "protocol/libraries/logic";
  const libraries: Record<string, Hex> = {};
  for (const name of ["ReserveLogic", "GenericLogic", "ValidationLogic"])
    libraries[name] = (await deployer.deploy(artifact(logic, name, libraries))).address;
  const code = artifact("protocol/lendingpool", "LendingPool", libraries);
  const implementation = await deployer.deploy(code);
  await deployer.send(provider, "setLendingPoolImpl", [implementation.address]);
  const configuratorCode = artifact("protocol/lendingpool", "LendingPoolConfigurator");
  const configurator = await deployer.deploy(configuratorCode);
  await deployer.send(provider, "setLendingPoolConfiguratorImpl", [configurator.address]);
  const at = async (name: string) => (await deployer.call<Hex>(provider, name)).toLowerCase() as Hex;
  return {
    pool: { address: await at("getLendingPool"), abi: code.abi },
    configurator: { address: await at("getLendingPoolConfigurator"), abi: configuratorCode.abi },
  };
}

async function initReserve(
  configurator: DeployedContract,
  token: DeployedContract,
  decimals: number,
  rates: DeployedContract,
): Promise<void> {
  const { deployer, lender } = stage;
  const tokens = "protocol/tokenization";
  const shared = [pool.address, token.address];
  const implementations = [
    await deployer.deploy(artifact(tokens, "AToken"), [...shared, lender, "a", "a", ZERO]),
    await deployer.deploy(artifact(tokens, "StableDebtToken"), [...shared, "s", "s", ZERO]),
    await deployer.deploy(artifact(tokens, "VariableDebtToken"), [...shared, "v", "v", ZERO]),
  ];
  const addresses = implementations.map(({ address }) => address);
  await deployer.send(configurator, "initReserve", [...addresses, decimals, rates.address]);
  const factors = [8_000n, 8_500n, 10_500n];
  await deployer.send(configurator, "configureReserveAsCollateral", [token.address, ...factors]);
  await deployer.send(configurator, "enableBorrowingOnReserve", [token.address, true]);
}

async function deposit(token: DeployedContract, amount: bigint, from: "wallet" | "lender"): Promise<void> {
  await stage.fund(token, pool.address, amount, from);
  const [owner, key] = from === "wallet" ? [stage.wallet, { key: stage.walletKey }] : [stage.lender, {}];
  await stage.deployer.send(pool, "deposit", [token.address, amount, owner, 0], key);
}

beforeAll(async () => {
  stage = await startLendingStage();
  const { deployer, lender } = stage;
  weth = await stage.deployToken("WETH", 18);
  const usdc = await stage.deployToken("USDC", 6);
  const fund = await stage.deployToken("FUND", 18);
  const provider = await deployer.deploy(artifact("protocol/configuration", "LendingPoolAddressesProvider"), [
    "A test",
  ]);
  for (const role of ["setPoolAdmin", "setEmergencyAdmin"]) await deployer.send(provider, role, [lender]);
  const deployed = await deployPool(provider);
  pool = deployed.pool;
  const rateOracle = await deployer.deploy(artifact("mocks/oracle", "LendingRateOracle"));
  await deployer.send(provider, "setLendingRateOracle", [rateOracle.address]);
  const feeds = [
    await deployFeed(deployer, ETHER / ETHER_USD),
    await deployFeed(deployer, (123n * ETHER) / (100n * ETHER_USD)),
  ];
  const oracle = await deployer.deploy(artifact("misc", "AaveOracle"), [
    [usdc.address, fund.address],
    feeds.map(({ address }) => address),
    ...[ZERO, weth.address],
  ]);
  await deployer.send(provider, "setPriceOracle", [oracle.address]);
  const rates = await deployer.deploy(
    artifact("protocol/lendingpool", "DefaultReserveInterestRateStrategy"),
    [
      ...[provider.address, (8n * RAY) / 10n, 0n, (4n * RAY) / 100n, (60n * RAY) / 100n],
      ...[(2n * RAY) / 100n, (60n * RAY) / 100n],
    ],
  );
  for (const [token, decimals] of [
    [weth, 18],
    [usdc, 6],
    [fund, 18],
  ] as const) {
    await deployer.send(rateOracle, "setMarketBorrowRate", [token.address, (3n * RAY) / 100n]);
    await initReserve(deployed.configurator, token, decimals, rates);
  }
  await deposit(usdc, 1_000_000_000000n, "lender");
  await deposit(weth, 500n * ETHER, "lender");
  await deposit(fund, 1_000_000n * ETHER, "wallet");
  const borrow = (token: DeployedContract, amount: bigint, mode: bigint) =>
    deployer.send(pool, "borrow", [token.address, amount, mode, 0, stage.wallet], { key: stage.walletKey });
  await borrow(usdc, 200_000_000000n, STABLE);
  await borrow(weth, 100n * ETHER, VARIABLE);
  await stage.increaseTime(90n * 86_400n);
  for (const [feed, price] of [
    [feeds[0], ETHER / ETHER_USD],
    [feeds[1], (123n * ETHER) / (100n * ETHER_USD)],
  ] as const)
    await deployer.send(feed as DeployedContract, "set", [price, 0n]);
  const reserves = await Promise.all(
    [weth, usdc].map(async ({ address: underlying }) => {
      type Data = { readonly aTokenAddress: Hex; readonly variableDebtTokenAddress: Hex };
      const data = await deployer.call<Data>(pool, "getReserveData", [underlying]);
      const [aToken, debtToken] = [data.aTokenAddress, data.variableDebtTokenAddress].map(
        (token) => token.toLowerCase() as Hex,
      ) as [Hex, Hex];
      return { underlying, aToken, debtToken };
    }),
  );
  // FUND is newer than this data.
  const market = { name: "Test", pool: pool.address, oracle: oracle.address, quote: weth.address, reserves };
  reader = createAaveV2Reader(new Map([[31337, [market]]]));
  prices = new Map([
    [weth.address, { ...quotePrice({ units: ETHER_USD, scale: 0 }), source: "feed" } satisfies AssetPrice],
  ]);
}, 240_000);

/** On the list of spenders. */
const KNOWN_DELEGATE: Hex = `0x${"a1".repeat(20)}`;

function readDelegates(port: PortfolioChain): Promise<Exposure> {
  const { slug, chainId } = port.chain;
  const known: Spender = {
    ...{ name: "Adapter", protocol: "Test", kind: "router", source: "this test", takesPositions: true },
    deployments: [[chainId, KNOWN_DELEGATE]],
  };
  const source: PriceSource = { name: "feed", read: async () => ({ prices, warnings: [] }) };
  return readExposure(
    {
      ...{ provider: rpcHoldingsProvider, priceSources: [[source]], positionReaders: [reader] },
      ...{ spenders: createSpenderList([known], "1 (2026-01-01)"), clock: systemClock },
      chains: new Map([[slug, port]]),
    },
    { wallet: stage.wallet, slugs: [slug] },
    AbortSignal.timeout(60_000),
  );
}

/** As for approvals that are older than the searched logs. */
function hideLogs(port: PortfolioChain): PortfolioChain {
  const pin: PortfolioChain["pin"] = async (...args) => ({
    ...(await port.pin(...args)),
    logs: async () => [],
  });
  return { ...port, pin };
}

describe("Aave v2", () => {
  it("values positions as the pool does, with both debt rates and an unlisted collateral", async () => {
    const { summary, positions } = await stage.snapshot(reader, prices);
    expect(summary.warnings).toEqual([
      expect.stringMatching(/^Local chain was read at block/),
      // A market that is not on the list: what its account counts in is unknown.
      expect.stringMatching(
        /^Collateral and debt of a lending account in aave-v2 on Local chain have no value/,
      ),
    ]);
    expect(positions.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual([
      ...["borrowed Test: USDC (stable rate)", "borrowed Test: WETH", "supplied Test: FUND"],
    ]);
    const account = await stage.deployer.call<bigint[]>(pool, "getUserAccountData", [stage.wallet]);
    const [collateral = 0n, debt = 0n] = account;
    const net = ((collateral - debt) * ETHER_USD * 1_000_000n) / ETHER;
    const { units, scale } = parseDecimal(summary.totalValueUsd ?? "NaN", "value");
    const difference = units * 10n ** BigInt(6 - scale) - net;
    expect(difference >= -5n && difference <= 5n, `${summary.totalValueUsd} ${net}`).toBe(true);
  });

  it("finds the debt at a stable rate, interest included", async () => {
    const { positions } = await stage.snapshot(reader, prices);
    const debt = positions.find(({ name }) => name === "Test: USDC (stable rate)");
    const token = { address: debt?.contract as Hex, abi: weth.abi };
    const balance = await stage.deployer.call<bigint>(token, "balanceOf", [stage.wallet]);
    expect(debt?.assets[0]?.rawBalance).toBe(balance.toString());
    expect(balance).toBeGreaterThan(200_000_000000n);
  });

  it("shows no total while the price of ether is unknown", async () => {
    expect((await stage.snapshot(reader)).summary.totalValueUsd).toBeNull();
  });

  it("lets delegates of debt at either rate borrow what the pool says, in dollars", async () => {
    const { deployer, wallet, walletKey, port } = stage;
    const tokens = "protocol/tokenization";
    const { abi } = artifact(tokens, "StableDebtToken");
    type Data = Record<"stableDebtTokenAddress" | "variableDebtTokenAddress", Hex>;
    const data = await deployer.call<Data>(pool, "getReserveData", [weth.address]);
    const thief: Hex = `0x${"7e".repeat(20)}`;
    const debtTokens = [data.stableDebtTokenAddress, data.variableDebtTokenAddress];
    for (const address of debtTokens) {
      for (const delegate of [thief, KNOWN_DELEGATE]) {
        const args = [delegate, 2n ** 256n - 1n];
        await deployer.send({ address, abi }, "approveDelegation", args, { key: walletKey });
      }
    }
    const ofDebt = ({ permissions }: Exposure, spender: Hex) =>
      permissions.filter((one) => one.kind === "borrow-delegation" && one.spender === spender);
    const tokensOf = (exposure: Exposure, spender: Hex) =>
      ofDebt(exposure, spender)
        .map(({ contract }) => contract)
        .sort();
    const expected = debtTokens.map((address) => address.toLowerCase()).sort();
    const unlogged = await readDelegates(hideLogs(port));
    expect([tokensOf(unlogged, KNOWN_DELEGATE), tokensOf(unlogged, thief)]).toEqual([expected, []]);
    const exposure = await readDelegates(port);
    const delegations = ofDebt(exposure, thief);
    expect(tokensOf(exposure, thief)).toEqual(expected);
    const account = await deployer.call<bigint[]>(pool, "getUserAccountData", [wallet]);
    const most = Number(((account[2] ?? 0n) * ETHER_USD) / ETHER);
    expect(most).toBeGreaterThan(100_000);
    for (const { valueAtRiskUsd } of delegations) expect(Number(valueAtRiskUsd)).toBeCloseTo(most, -1);
    // Both borrow against the same collateral.
    expect(exposure.summary.valueAtRiskUsd).toBe(delegations[0]?.valueAtRiskUsd);
    for (const { revoke } of delegations) {
      if (revoke?.type !== "call") throw new Error("a delegation is ended by a call");
      const to = { address: revoke.to, abi };
      const [delegate, amount] = decodeFunctionData({ abi, data: revoke.data }).args as [Hex, bigint];
      await deployer.send(to, "approveDelegation", [delegate, amount], { key: walletKey });
      expect(await deployer.call(to, "borrowAllowance", [wallet, thief])).toBe(0n);
    }
  });

  it("shows the health of the pool's own account", async () => {
    const { health } = await stage.snapshot(reader, prices);
    const account = await stage.deployer.call<bigint[]>(pool, "getUserAccountData", [stage.wallet]);
    const [, , , threshold = 0n, , factor = 0n] = account;
    expect(factor).toBeGreaterThan(0n);
    expect(health).toMatchObject([
      {
        ...{ protocol: "aave-v2", contract: pool.address, liquidatable: factor < ETHER },
        healthFactor: formatUsd(factor, 18),
        liquidationThreshold: formatUsd(threshold, 4),
      },
    ]);
  });
});
