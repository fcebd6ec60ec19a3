// Morpho Blue from its own sources: amounts compared with its periphery's views, before and after interest accrues.
import { readFileSync } from "node:fs";
import { encodeAbiParameters, type Hex, keccak256, parseAbiParameters } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatDecimal, parseDecimal } from "../../../src/lib/decimal.ts";
import { describeRatios } from "../../../src/portfolio/health/loan.ts";
import { createMorphoBlueReader } from "../../../src/portfolio/positions/morpho-blue/reader.ts";
import type { PositionReader, ProtocolPosition } from "../../../src/portfolio/types.ts";
import { type Artifact, compileSources } from "../support/artifacts.ts";
import type { DeployedContract } from "../support/deployer.ts";
import { CHAIN_ID, startVaultStage, type VaultStage } from "./vault-stage.ts";

const MORPHO_PATH = "@morpho-org/morpho-blue/src/Morpho.sol";
/** The periphery's own view of an account, and its mocks of a rate model and an oracle. */
const VIEWS = `pragma solidity ^0.8.20;
import {IMorpho, Id, MarketParams} from "@morpho-org/morpho-blue/src/interfaces/IMorpho.sol";
import {MorphoBalancesLib} from "@morpho-org/morpho-blue/src/libraries/periphery/MorphoBalancesLib.sol";
import {IrmMock} from "@morpho-org/morpho-blue/src/mocks/IrmMock.sol";
import {OracleMock} from "@morpho-org/morpho-blue/src/mocks/OracleMock.sol";
contract Views {
  function supplied(IMorpho morpho, MarketParams memory params, address user) external view returns (uint256) {
    return MorphoBalancesLib.expectedSupplyAssets(morpho, params, user);
  }
  function borrowed(IMorpho morpho, MarketParams memory params, address user) external view returns (uint256) {
    return MorphoBalancesLib.expectedBorrowAssets(morpho, params, user);
  }
}
contract RateModel is IrmMock {}
contract Oracle is OracleMock {}
contract BrokenOracle { function price() external pure returns (uint256) { revert("no price"); } }`;

const DAYS_100 = 8_640_000n;
const LLTV = 860_000_000_000_000_000n;
const COLLATERAL = 3_00000000n;
const BORROWED = 61_234_567_891n;
const SUPPLIED = 100_000_000_003n;

type Params = {
  readonly loanToken: Hex;
  readonly collateralToken: Hex;
  readonly oracle: Hex;
  readonly irm: Hex;
  readonly lltv: bigint;
};

let stage: VaultStage;
let morpho: DeployedContract;
let views: DeployedContract;
let oracle: DeployedContract;
let usdc: DeployedContract;
let btc: DeployedContract;
/** A market with an honest oracle, and one whose oracle reverts. */
let priced: Params;
let unpriced: Params;
let reader: PositionReader;

beforeAll(async () => {
  stage = await startVaultStage();
  const { deployer, wallet, chain } = stage;
  // Morpho asks for the compiler of its time by an exact version; the code is otherwise as published.
  const source = readFileSync(new URL(`../node_modules/${MORPHO_PATH}`, import.meta.url), "utf8");
  const text = source.replace("pragma solidity 0.8.19", "pragma solidity ^0.8.19");
  const { Morpho } = await compileSources({ [MORPHO_PATH]: text }, { viaIR: true });
  const { Views, RateModel, Oracle, BrokenOracle } = await compileSources({ "views.sol": VIEWS });
  morpho = await deployer.deploy(Morpho as Artifact, [wallet]);
  views = await deployer.deploy(Views as Artifact);
  oracle = await deployer.deploy(Oracle as Artifact);
  usdc = await stage.deployToken("USDC", 6);
  btc = await stage.deployToken("cbBTC", 8);
  const irm = await deployer.deploy(RateModel as Artifact);
  await deployer.send(morpho, "enableIrm", [irm.address]);
  await deployer.send(morpho, "enableLltv", [LLTV]);
  await deployer.send(morpho, "setFeeRecipient", [chain.accounts.payer.address]);
  // 98,765.43 USDC for a bitcoin: 36 decimals, and those of the loan less those of the collateral.
  await deployer.send(oracle, "setPrice", [9_876_543n * 10n ** 32n]);
  const broken = await deployer.deploy(BrokenOracle as Artifact);
  const assets = { loanToken: usdc.address, collateralToken: btc.address, irm: irm.address, lltv: LLTV };
  priced = { ...assets, oracle: oracle.address };
  unpriced = { ...assets, oracle: broken.address };
  for (const params of [priced, unpriced]) await deployer.send(morpho, "createMarket", [params]);
  await deployer.send(morpho, "setFee", [priced, 10n ** 17n]);
  for (const token of [usdc, btc]) await deployer.send(token, "approve", [morpho.address, 10n ** 26n]);
  reader = createReader([priced, unpriced].map(idOf));
}, 240_000);
afterAll(() => stage?.chain.stop());

function createReader(ids: readonly Hex[]): PositionReader {
  return createMorphoBlueReader(new Map([[CHAIN_ID, [{ morpho: morpho.address, ids }]]]));
}

function idOf({ loanToken, collateralToken, oracle: priceOracle, irm, lltv }: Params): Hex {
  const types = parseAbiParameters("address, address, address, address, uint256");
  return keccak256(encodeAbiParameters(types, [loanToken, collateralToken, priceOracle, irm, lltv]));
}

async function read() {
  return stage.read(reader, { listed: [await stage.holdingOf(usdc), await stage.holdingOf(btc)] });
}

const view = (name: "supplied" | "borrowed", params: Params) =>
  stage.deployer.call<bigint>(views, name, [morpho.address, params, stage.wallet]);

/** Amounts by what they are. */
function amountsOf(positions: readonly ProtocolPosition[]): Readonly<Record<string, bigint | undefined>> {
  return Object.fromEntries(
    positions.map(({ name, assets }) => [name.split(": ").at(-1), assets[0]?.rawBalance]),
  );
}

describe("Morpho Blue", () => {
  it("finds nothing for a wallet that never used it, in one round trip", async () => {
    expect(await read()).toMatchObject({ positions: [], warnings: [], rounds: 1 });
  });

  it("finds collateral, debt and what is supplied, in three round trips", async () => {
    const { deployer, wallet } = stage;
    await deployer.send(morpho, "supply", [priced, SUPPLIED, 0n, wallet, "0x"]);
    await deployer.send(morpho, "supplyCollateral", [priced, COLLATERAL, wallet, "0x"]);
    await deployer.send(morpho, "borrow", [priced, BORROWED, 0n, wallet, wallet]);
    const { positions, warnings, rounds } = await read();
    expect(warnings).toEqual([]);
    expect(rounds).toBe(3);
    expect(amountsOf(positions)).toEqual({
      collateral: COLLATERAL,
      supply: await view("supplied", priced),
      debt: await view("borrowed", priced),
    });
    expect(positions.map(({ kind, name }) => [kind, name])).toEqual([
      ["supplied", "Morpho Blue cbBTC/USDC 86 %: collateral"],
      ["supplied", "Morpho Blue cbBTC/USDC 86 %: supply"],
      ["borrowed", "Morpho Blue cbBTC/USDC 86 %: debt"],
    ]);
  });

  it("secures the debt by the collateral, not by what is supplied", async () => {
    const [collateral, supply, debt] = (await read()).positions;
    expect(collateral?.market).toBe(`morpho-blue:${idOf(priced)}`);
    expect(debt?.market).toBe(collateral?.market);
    expect(supply?.market).toBeNull();
  });

  it("gives the collateral the rate of the market's own oracle", async () => {
    const [collateral] = (await read()).positions;
    const { per, rate, contract } = collateral?.assets[0]?.marketRate ?? {};
    expect({ loan: per?.contract, contract }).toEqual({ loan: usdc.address, contract: oracle.address });
    expect(rate && formatDecimal(rate)).toBe("98765.43");
  });

  it("adds the interest of a hundred days, and the fee on it, as Morpho itself would", async () => {
    const before = amountsOf((await read()).positions);
    await stage.chain.increaseTime(DAYS_100);
    await stage.chain.mine();
    const amounts = amountsOf((await read()).positions);
    expect(amounts.debt).toBeGreaterThan(before.debt ?? 0n);
    expect(amounts.supply).toBeGreaterThan(before.supply ?? 0n);
    expect(amounts).toEqual({
      collateral: COLLATERAL,
      supply: await view("supplied", priced),
      debt: await view("borrowed", priced),
    });
  });

  it("shows the distance just beyond which Morpho liquidates", async () => {
    const { health } = await read();
    const ratios = health.map(({ loan }) => loan && describeRatios(loan));
    expect(ratios).toMatchObject([{ liquidationThreshold: expect.stringMatching(/^0\.8[56]/) }]);
    const distance = parseDecimal(ratios[0]?.distanceToLiquidation ?? "NaN", "distance");
    const price = 9_876_543n * 10n ** 32n;
    for (const [millionths, isSafe] of [
      [-50n, true],
      [50n, false],
    ] as const) {
      const lost = distance.units * 10n ** BigInt(18 - distance.scale) + millionths * 10n ** 12n;
      await stage.deployer.send(oracle, "setPrice", [(price * (10n ** 18n - lost)) / 10n ** 18n]);
      const liquidate = stage.deployer.call(morpho, "liquidate", [priced, stage.wallet, 1n, 0n, "0x"]);
      if (isSafe) await expect(liquidate).rejects.toThrow("position is healthy");
      else await liquidate.catch((error) => expect(String(error)).not.toContain("position is healthy"));
    }
    await stage.deployer.send(oracle, "setPrice", [price]);
  });

  it("shows the debt that repaying everything would move", async () => {
    const { deployer, wallet } = stage;
    const shares = await deployer.call<readonly bigint[]>(morpho, "position", [idOf(priced), wallet]);
    const [repaid] = await deployer.call<readonly bigint[]>(
      morpho,
      "repay",
      [priced, 0n, shares[1], wallet, "0x"],
      { from: wallet },
    );
    const { debt } = amountsOf((await read()).positions);
    expect(repaid).toBe(debt);
  });

  it("finds the positions of a market whose oracle fails, without its rate", async () => {
    await stage.deployer.send(morpho, "supplyCollateral", [unpriced, COLLATERAL, stage.wallet, "0x"]);
    const { positions, warnings } = await read();
    const collateral = positions.find(({ market }) => market === `morpho-blue:${idOf(unpriced)}`);
    expect(collateral?.assets[0]).toMatchObject({ contract: btc.address, rawBalance: COLLATERAL });
    expect(collateral?.assets[0]?.marketRate).toBeUndefined();
    expect(warnings).toEqual([]);
  });

  it("finds nothing in a market that does not exist", async () => {
    const other = createReader([`0x${"ab".repeat(32)}`]);
    expect(await stage.read(other, {})).toMatchObject({ positions: [], warnings: [], rounds: 1 });
  });
});
