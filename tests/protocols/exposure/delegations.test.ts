// Who may act on positions inside protocols, on the protocols' own code: Aave, Morpho, Uniswap v3 and v4.
import { readFileSync } from "node:fs";
import { encodeAbiParameters, type Hex, keccak256, numberToHex, parseAbiParameters } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { readExposure } from "../../../src/portfolio/exposure/read-exposure.ts";
import { createSpenderList } from "../../../src/portfolio/exposure/spenders.ts";
import { createAaveV3Reader } from "../../../src/portfolio/positions/aave-v3/reader.ts";
import { createMorphoBlueReader } from "../../../src/portfolio/positions/morpho-blue/reader.ts";
import { createUniswapV3Reader } from "../../../src/portfolio/positions/uniswap-v3/reader.ts";
import { createUniswapV4Reader } from "../../../src/portfolio/positions/uniswap-v4/reader.ts";
import { rpcHoldingsProvider } from "../../../src/portfolio/providers/rpc/provider.ts";
import {
  getAssetKey,
  type PositionReader,
  type PriceSource,
  quotePrice,
} from "../../../src/portfolio/types.ts";
import type { Exposure, ExposurePermission } from "../../../src/schema/portfolio/exposure.ts";
import { startPortfolioStage } from "../../support/portfolio/portfolio-stage.ts";
import { type AaveV3Market, deployAaveV3Market } from "../lending/aave-v3-market.ts";
import type { LiquidityStage } from "../liquidity/liquidity-stage.ts";
import { UniswapV3Deployment } from "../liquidity/uniswap-v3-deployment.ts";
import { UniswapV4Deployment } from "../liquidity/uniswap-v4-deployment.ts";
import { type Artifact, compileSources, readArtifact } from "../support/artifacts.ts";
import { createDeployer, type DeployedContract } from "../support/deployer.ts";

const MINTABLE = "@aave/core-v3/artifacts/contracts/mocks/tokens/MintableERC20.sol/MintableERC20.json";
const MORPHO_PATH = "@morpho-org/morpho-blue/src/Morpho.sol";
const POOL_CODE_HASH: Hex = "0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54";
const CHAIN_ID = 31337;
const WHOLE = 10n ** 18n;
const MAX = 2n ** 256n - 1n;

const stage = await startPortfolioStage();
const { chain, wallet } = stage;
const { owner, payer } = chain.accounts;
const node = await stage.node();
/** As for an approval that is older than the searched logs. */
const blind = await stage.node((calls) =>
  calls.some(({ method }) => method === "eth_getLogs") ? { kind: "status", status: 500 } : null,
);
const deployer = createDeployer(chain, owner.privateKey);
const asWallet = { key: payer.privateKey };
const { signal } = new AbortController();
/** The thief: no list has it. */
const thief = privateKeyToAccount(`0x${"7e".repeat(32)}`);
const THIEF = thief.address.toLowerCase() as Hex;
const KNOWN = numberToHex(0xa1, { size: 20 });

const spenders = createSpenderList(
  [
    {
      ...{ name: "Router", protocol: "Test", kind: "router", source: "this test" },
      deployments: [[CHAIN_ID, KNOWN]],
    },
  ],
  "1 (2026-01-01)",
);
/** Dollars of a whole unit, by token; without a price for all others. */
const prices = new Map<Hex, bigint>();
const priceSource: PriceSource = {
  name: "test",
  read: async ({ assets }) => ({
    prices: new Map(
      assets.flatMap((asset) => {
        const usd = asset.contract && prices.get(asset.contract);
        return usd ? [[getAssetKey(asset), quotePrice({ units: usd, scale: 0 })] as const] : [];
      }),
    ),
    warnings: [],
  }),
};

type Reading = { readonly of?: Hex; readonly through?: typeof node };

function read(reader: PositionReader, { of = wallet, through = node }: Reading = {}): Promise<Exposure> {
  const access = stage.port(through, [...prices.keys()]);
  const options = {
    ...{ provider: rpcHoldingsProvider, priceSources: [[priceSource]], spenders, clock: systemClock },
    positionReaders: [reader],
  };
  const query = { wallet: of, slugs: [access.chain.slug] };
  return readExposure({ ...options, chains: new Map([[access.chain.slug, access]]) }, query, signal);
}

async function deployToken(symbol: string, decimals: number, usd: bigint): Promise<DeployedContract> {
  const token = await deployer.deploy(readArtifact(MINTABLE), [symbol, symbol, decimals]);
  prices.set(token.address, usd);
  return token;
}

async function fund(token: DeployedContract, spender: Hex, amount: bigint, to = payer): Promise<void> {
  await deployer.send(token, "mint", [to.address, amount]);
  await deployer.send(token, "approve", [spender, amount], { key: to.privateKey });
}

/** The wallet sends what the response says. */
async function revoke({ revoke: call, kind }: ExposurePermission, from: Hex = wallet): Promise<void> {
  if (call?.type !== "call") throw new Error(`${kind} has no call`);
  const transaction = { from, to: call.to, data: call.data, gas: numberToHex(3_000_000) };
  const hash = await chain.request("eth_sendTransaction", [transaction]);
  const receipt = (await chain.request("eth_getTransactionReceipt", [hash])) as { status: Hex };
  expect(receipt.status).toBe("0x1");
}

const ofKind = ({ permissions }: Exposure, kind: string) => permissions.filter((one) => one.kind === kind);

let usdc: DeployedContract;
let weth: DeployedContract;
beforeAll(async () => {
  usdc = await deployToken("USDC", 18, 1n);
  weth = await deployToken("WETH", 18, 3_000n);
  await deployer.send(weth, "mint", [thief.address, 1n]);
  await chain.request("eth_sendTransaction", [
    { from: owner.address, to: thief.address, value: numberToHex(WHOLE) },
  ]);
});

describe("a delegation of debt in Aave", () => {
  let market: AaveV3Market;
  let reader: PositionReader;
  let debtToken: DeployedContract;
  let aToken: DeployedContract;
  beforeAll(async () => {
    market = await deployAaveV3Market(deployer, owner.address.toLowerCase() as Hex, [
      { token: weth, symbol: "WETH", decimals: 18, price: 3_000_00000000n },
      { token: usdc, symbol: "USDC", decimals: 18, price: 1_00000000n },
    ]);
    const described = await market.describe("Aave");
    reader = createAaveV3Reader(new Map([[CHAIN_ID, [described]]]));
    const reserve = described.reserves.find(({ underlying }) => underlying === usdc.address);
    const collateral = described.reserves.find(({ underlying }) => underlying === weth.address);
    const tokenization = "@aave/core-v3/artifacts/contracts/protocol/tokenization";
    const { abi } = readArtifact(`${tokenization}/VariableDebtToken.sol/VariableDebtToken.json`);
    const { abi: ofAToken } = readArtifact(`${tokenization}/AToken.sol/AToken.json`);
    debtToken = { address: reserve?.debtToken as Hex, abi };
    aToken = { address: collateral?.aToken as Hex, abi: ofAToken };
    await fund(usdc, market.pool.address, 1_000_000n * WHOLE, owner);
    await deployer.send(market.pool, "supply", [usdc.address, 1_000_000n * WHOLE, owner.address, 0]);
    await fund(weth, market.pool.address, 100n * WHOLE);
    await deployer.send(market.pool, "supply", [weth.address, 100n * WHOLE, wallet, 0], asWallet);
  });

  it("counts what the delegate can borrow, up to its allowance and to what the collateral permits", async () => {
    expect((await read(reader)).permissions).toEqual([]);
    await deployer.send(debtToken, "approveDelegation", [THIEF, 200_000n * WHOLE], asWallet);
    const exposure = await read(reader);
    expect(exposure.summary.valueAtRiskUsd).toBe("200000");
    expect(ofKind(exposure, "borrow-delegation")).toMatchObject([
      { contract: debtToken.address, spender: THIEF, allowance: "200000", valueAtRiskUsd: "200000" },
    ]);
    // Four fifths of 300,000 dollars can be borrowed.
    await deployer.send(debtToken, "approveDelegation", [THIEF, MAX], asWallet);
    expect((await read(reader)).permissions).toMatchObject([
      { valueAtRiskUsd: "240000", unlimited: true, reasons: ["unlimited", "unknown spender"] },
    ]);
  });

  it("believes a debt token that our data lacks if the pool names it, and no contract that claims to be one", async () => {
    const { Liar } = await compileSources({ "liar.sol": LIAR });
    const liar = await deployer.deploy(Liar as Artifact);
    await deployer.send(liar, "lie", [wallet, THIEF, usdc.address]);
    const older = await market.describe("Aave", [usdc]);
    const { permissions, summary } = await read(createAaveV3Reader(new Map([[CHAIN_ID, [older]]])));
    expect(permissions.map(({ contract }) => contract)).toEqual([debtToken.address]);
    expect(summary.valueAtRiskUsd).toBe("240000");
  });

  it("is what the delegate takes, and is ended by its own call", async () => {
    const args = [usdc.address, 200_000n * WHOLE, 2n, 0, wallet];
    await deployer.send(market.pool, "borrow", args, { key: `0x${"7e".repeat(32)}` });
    expect(await deployer.call(usdc, "balanceOf", [THIEF])).toBe(200_000n * WHOLE);
    const left = await read(reader);
    expect(Number(left.summary.valueAtRiskUsd)).toBeCloseTo(40_000, -1);
    await revoke(left.permissions[0] as ExposurePermission);
    expect((await read(reader)).permissions).toEqual([]);
  });

  it("counts an unlimited allowance of an aToken as its position, and no more than the account is worth", async () => {
    await deployer.send(aToken, "approve", [THIEF, MAX], asWallet);
    const { permissions, summary } = await read(reader);
    expect(permissions).toMatchObject([{ kind: "erc20-allowance", contract: aToken.address }]);
    // 300,000 less the debt of 200,000.
    expect(Number(permissions[0]?.valueAtRiskUsd)).toBeCloseTo(100_000, -1);
    expect(summary.valueAtRiskUsd).toBe(permissions[0]?.valueAtRiskUsd);
    expect(summary.partial).toBe(false);
    await revoke(permissions[0] as ExposurePermission);
  });
});

/** Claims in the name of a wallet that another account may borrow everything. */
const LIAR = `pragma solidity ^0.8.20;
contract Liar {
  event BorrowAllowanceDelegated(address indexed fromUser, address indexed toUser, address indexed asset, uint256 amount);
  function lie(address wallet, address thief, address asset) external {
    emit BorrowAllowanceDelegated(wallet, thief, asset, type(uint256).max);
  }
  function borrowAllowance(address, address) external pure returns (uint256) { return type(uint256).max; }
}`;

describe("an operator of liquidity NFTs", () => {
  const of = owner.address.toLowerCase() as Hex;
  let parts: LiquidityStage;
  beforeAll(async () => {
    const [a, b] = [await deployToken("AAA", 18, 1n), await deployToken("BBB", 18, 1n)];
    const [token0, token1] = a.address < b.address ? [a, b] : [b, a];
    for (const token of [a, b]) await deployer.send(token, "mint", [of, 10n ** 30n]);
    parts = { chain, deployer, wallet: of, token0, token1 } as unknown as LiquidityStage;
  });

  it("counts their positions although its approval is older than the searched logs", async () => {
    const uniswap = await UniswapV3Deployment.deploy(parts);
    const { manager, factory } = uniswap;
    const market = {
      ...{ protocol: "uniswap-v3", name: "Uniswap v3", shape: "uniswap" as const },
      ...{ manager: manager.address, poolDeployer: factory.address, poolCodeHash: POOL_CODE_HASH },
    } as const;
    const reader = createUniswapV3Reader(new Map([[CHAIN_ID, [market]]]));
    const ranges = [
      [-6_000, 6_000],
      [-600, 600],
    ] as const;
    const [first] = await uniswap.mint(ranges, 100_000n * WHOLE);
    await deployer.send(manager, "setApprovalForAll", [KNOWN, true]);
    const exposure = await read(reader, { of, through: blind });
    const [operator] = ofKind(exposure, "nft-operator");
    expect(operator).toMatchObject({ contract: manager.address, spender: KNOWN, protocol: "uniswap-v3" });
    expect(Number(operator?.valueAtRiskUsd)).toBeCloseTo(400_000, -1);
    expect(exposure.summary.valueAtRiskUsd).toBe(operator?.valueAtRiskUsd);
    await revoke(operator as ExposurePermission, of);
    // A single NFT names whom it is approved for, so that not even the holder must be known.
    await deployer.send(manager, "approve", [THIEF, first]);
    const single = await read(reader, { of, through: blind });
    expect(ofKind(single, "nft-approval")).toMatchObject([{ spender: THIEF, tokenId: String(first) }]);
    expect(Number(single.summary.valueAtRiskUsd)).toBeCloseTo(200_000, -1);
    await revoke(ofKind(single, "nft-approval")[0] as ExposurePermission, of);
    expect((await read(reader, { of, through: blind })).permissions).toEqual([]);
  });

  it("counts those of Uniswap v4, and does not say zero if their ids cannot be found", async () => {
    const uniswap = await UniswapV4Deployment.deploy(parts);
    const reader = createUniswapV4Reader(new Map([[CHAIN_ID, [uniswap.market]]]));
    const pool = await uniswap.createPool(parts.token0.address, parts.token1.address);
    await uniswap.mint(pool, [-6_000, 6_000], 1_000n * WHOLE);
    await deployer.send(uniswap.manager, "setApprovalForAll", [KNOWN, true]);
    const found = await read(reader, { of });
    const [operator] = ofKind(found, "nft-operator");
    expect(operator).toMatchObject({
      contract: uniswap.manager.address,
      protocol: "uniswap-v4",
      partial: false,
    });
    expect(Number(operator?.valueAtRiskUsd)).toBeGreaterThan(100);
    // Without logs it is unknown which NFTs the wallet owns.
    const unseen = await read(reader, { of, through: blind });
    expect(ofKind(unseen, "nft-operator")).toMatchObject([{ valueAtRiskUsd: null, partial: true }]);
    expect(unseen.summary).toMatchObject({ valueAtRiskUsd: null, partial: true });
    await revoke(operator as ExposurePermission, of);
    expect(ofKind(await read(reader, { of }), "nft-operator")).toEqual([]);
  });
});

const MORPHO_PARTS = `pragma solidity ^0.8.20;
import {IrmMock} from "@morpho-org/morpho-blue/src/mocks/IrmMock.sol";
import {OracleMock} from "@morpho-org/morpho-blue/src/mocks/OracleMock.sol";
contract RateModel is IrmMock {}
contract Oracle is OracleMock {}`;

describe("an authorization in Morpho Blue", () => {
  it("counts collateral and supply less the debt, also if the wallet only signed it", async () => {
    const source = readFileSync(new URL(`../node_modules/${MORPHO_PATH}`, import.meta.url), "utf8");
    const text = source.replace("pragma solidity 0.8.19", "pragma solidity ^0.8.19");
    const { Morpho } = await compileSources({ [MORPHO_PATH]: text }, { viaIR: true });
    const { RateModel, Oracle } = await compileSources({ "parts.sol": MORPHO_PARTS });
    const morpho = await deployer.deploy(Morpho as Artifact, [owner.address]);
    const [oracle, irm] = [
      await deployer.deploy(Oracle as Artifact),
      await deployer.deploy(RateModel as Artifact),
    ];
    const lltv = 860_000_000_000_000_000n;
    await deployer.send(morpho, "enableIrm", [irm.address]);
    await deployer.send(morpho, "enableLltv", [lltv]);
    // 3,000 USDC for an ether, with 36 decimals.
    await deployer.send(oracle, "setPrice", [3_000n * 10n ** 36n]);
    const params = {
      ...{ loanToken: usdc.address, collateralToken: weth.address },
      ...{ oracle: oracle.address, irm: irm.address, lltv },
    };
    await deployer.send(morpho, "createMarket", [params]);
    const id = keccak256(
      encodeAbiParameters(parseAbiParameters("address, address, address, address, uint256"), [
        ...([usdc.address, weth.address, oracle.address, irm.address, lltv] as const),
      ]),
    );
    const reader = createMorphoBlueReader(new Map([[CHAIN_ID, [{ morpho: morpho.address, ids: [id] }]]]));
    await fund(usdc, morpho.address, 50_000n * WHOLE);
    await fund(weth, morpho.address, 100n * WHOLE);
    await deployer.send(morpho, "supply", [params, 50_000n * WHOLE, 0n, wallet, "0x"], asWallet);
    await deployer.send(morpho, "supplyCollateral", [params, 100n * WHOLE, wallet, "0x"], asWallet);
    await deployer.send(morpho, "borrow", [params, 40_000n * WHOLE, 0n, wallet, wallet], asWallet);
    await deployer.send(morpho, "setAuthorization", [KNOWN, true], asWallet);
    const known = await read(reader, { through: blind });
    expect(Number(known.summary.valueAtRiskUsd)).toBeCloseTo(310_000, -1);
    await revoke(known.permissions[0] as ExposurePermission);
    // The thief sends what the wallet signed: the log's first topic is then the thief.
    const authorization = {
      ...{ authorizer: payer.address, authorized: thief.address, isAuthorized: true },
      ...{ nonce: 0n, deadline: 10n ** 12n },
    };
    const signature = await privateKeyToAccount(payer.privateKey).signTypedData({
      domain: { chainId: chain.chainId, verifyingContract: morpho.address },
      types: {
        Authorization: [
          { name: "authorizer", type: "address" },
          { name: "authorized", type: "address" },
          { name: "isAuthorized", type: "bool" },
          { name: "nonce", type: "uint256" },
          { name: "deadline", type: "uint256" },
        ],
      },
      primaryType: "Authorization",
      message: authorization,
    });
    const parts = {
      v: Number(BigInt(`0x${signature.slice(130)}`)),
      r: signature.slice(0, 66),
      s: `0x${signature.slice(66, 130)}`,
    };
    await deployer.send(morpho, "setAuthorizationWithSig", [authorization, parts], {
      key: `0x${"7e".repeat(32)}`,
    });
    const signed = await read(reader);
    expect(signed.permissions).toMatchObject([
      { kind: "position-operator", contract: morpho.address, spender: THIEF, protocol: "morpho-blue" },
    ]);
    expect(Number(signed.summary.valueAtRiskUsd)).toBeCloseTo(310_000, -1);
    await revoke(signed.permissions[0] as ExposurePermission);
    expect((await read(reader)).permissions).toEqual([]);
  });
});
