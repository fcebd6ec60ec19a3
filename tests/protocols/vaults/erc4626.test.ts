// ERC-4626 vaults of OpenZeppelin, solmate and solady: compared with what they say and what a redemption would pay.
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createErc4626Reader } from "../../../src/portfolio/positions/erc4626/reader.ts";
import type { VaultRegistry } from "../../../src/portfolio/positions/erc4626/registries.ts";
import type { Holding, PositionReader } from "../../../src/portfolio/types.ts";
import { type Artifact, compileSources } from "../support/artifacts.ts";
import type { DeployedContract } from "../support/deployer.ts";
import { CHAIN_ID, startVaultStage, type VaultStage } from "./vault-stage.ts";

const SOURCE = `pragma solidity ^0.8.20;
import {ERC4626 as OzErc4626, ERC20 as OzErc20, IERC20} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {ERC4626 as SolmateErc4626, ERC20 as SolmateErc20} from "solmate/src/tokens/ERC4626.sol";
import {ERC4626 as SoladyErc4626} from "solady/src/tokens/ERC4626.sol";

contract OzVault is OzErc4626 {
  uint8 private immutable offset;
  constructor(IERC20 asset_, string memory name_, uint8 offset_) OzErc20(name_, "ozVault") OzErc4626(asset_) { offset = offset_; }
  function _decimalsOffset() internal view override returns (uint8) { return offset; }
}

/// Keeps one percent of what is withdrawn.
contract FeeVault is OzVault {
  constructor(IERC20 asset_) OzVault(asset_, "Fee vault", 0) {}
  function previewRedeem(uint256 shares) public view override returns (uint256) { return super.previewRedeem(shares) * 99 / 100; }
}

/// Pays nothing while it is paused, and says so.
contract PausableVault is OzVault {
  bool public paused;
  constructor(IERC20 asset_) OzVault(asset_, "Pausable vault", 0) {}
  function setPaused(bool value) external { paused = value; }
  function maxWithdraw(address owner) public view override returns (uint256) { return paused ? 0 : super.maxWithdraw(owner); }
  function previewRedeem(uint256 shares) public view override returns (uint256) { require(!paused, "paused"); return super.previewRedeem(shares); }
}

contract SolmateVault is SolmateErc4626 {
  constructor(SolmateErc20 asset_) SolmateErc4626(asset_, "Solmate vault", "smVault") {}
  function totalAssets() public view override returns (uint256) { return asset.balanceOf(address(this)); }
}

contract SoladyVault is SoladyErc4626 {
  address private immutable underlying;
  constructor(address asset_) { underlying = asset_; }
  function asset() public view override returns (address) { return underlying; }
  function name() public pure override returns (string memory) { return "Solady vault"; }
  function symbol() public pure override returns (string memory) { return "syVault"; }
}

/// Responds as the factories and registries of protocols do, for the vaults that are registered.
contract Registry {
  mapping(address => bool) public isMetaMorpho;
  mapping(address => bool) public isEndorsed;
  mapping(address => bool) public isVaultV2;
  function create(address vault) external { isMetaMorpho[vault] = true; }
  function endorse(address vault) external { isEndorsed[vault] = true; }
  function createV2(address vault) external { isVaultV2[vault] = true; }
}

/// Claims a fortune in any asset.
contract LyingVault is OzErc20 {
  address public immutable asset;
  constructor(address asset_) OzErc20("Lying vault", "lie") { asset = asset_; _mint(msg.sender, 1e24); }
  function convertToAssets(uint256) external pure returns (uint256) { return 1e12; }
  function maxWithdraw(address) external pure returns (uint256) { return 1e12; }
}

/// Burns whatever gas it gets.
contract BurningVault is OzErc20 {
  constructor() OzErc20("Burning vault", "burn") { _mint(msg.sender, 1e24); }
  function asset() external view returns (address) { while (true) {} return address(this); }
}`;

let stage: VaultStage;
let artifacts: Readonly<Record<string, Artifact>>;
let usdc: DeployedContract;
let registry: DeployedContract;
let reader: PositionReader;

beforeAll(async () => {
  stage = await startVaultStage();
  artifacts = await compileSources({ "vaults.sol": SOURCE });
  usdc = await stage.deployToken("USDC", 6);
  registry = await deploy("Registry");
  const known: VaultRegistry = {
    proofs: [
      { kind: "metaMorphoFactory", registry: registry.address },
      { kind: "yearnRegistry", registry: registry.address },
      { kind: "morphoVaultV2Factory", registry: registry.address },
    ],
    vaults: new Set(),
  };
  reader = createErc4626Reader(new Map([[CHAIN_ID, known]]));
}, 120_000);
afterAll(() => stage?.chain.stop());

function deploy(name: string, args: readonly unknown[] = []): Promise<DeployedContract> {
  const artifact = artifacts[name];
  if (!artifact) throw new Error(`${name} is not compiled`);
  return stage.deployer.deploy(artifact, args);
}

async function deposit(vault: DeployedContract, asset: DeployedContract, amount: bigint): Promise<void> {
  await stage.deployer.send(asset, "approve", [vault.address, amount]);
  await stage.deployer.send(vault, "deposit", [amount, stage.wallet]);
}

/** A vault over USDC with a deposit, and a donation that makes its shares worth more. */
async function deployVault(name: string, args: readonly unknown[], donated = 0n): Promise<DeployedContract> {
  const vault = await deploy(name, args);
  await deposit(vault, usdc, 123_456_789_012n);
  if (donated > 0n) await stage.deployer.send(usdc, "transfer", [vault.address, donated]);
  return vault;
}

async function readVault(vault: DeployedContract, listed: readonly DeployedContract[]) {
  const holding = await stage.holdingOf(vault);
  const reading = await stage.read(reader, {
    holdings: [holding],
    listed: await Promise.all(listed.map((token) => stage.holdingOf(token))),
  });
  return { holding, ...reading };
}

const convert = (vault: DeployedContract, shares: bigint) =>
  stage.deployer.call<bigint>(vault, "convertToAssets", [shares]);
const redeem = (vault: DeployedContract, { rawBalance }: Holding) =>
  stage.deployer.call<bigint>(vault, "redeem", [rawBalance, stage.wallet, stage.wallet], {
    from: stage.wallet,
  });

describe("listed vaults", () => {
  it.each([
    ["OpenZeppelin's", "OzVault", () => [usdc.address, "Plain vault", 0]],
    ["OpenZeppelin's with six more decimals", "OzVault", () => [usdc.address, "Offset vault", 6]],
    ["solmate's", "SolmateVault", () => [usdc.address]],
    ["solady's", "SoladyVault", () => [usdc.address]],
  ])("values %s vault, with a donation, as what a redemption pays", async (_name, contract, args) => {
    const vault = await deployVault(contract, args(), 7_777_777_777n);
    const { holding, positions, warnings, rounds } = await readVault(vault, [usdc, vault]);
    expect(warnings).toEqual([]);
    expect(positions[0]?.assets[0]?.contract).toBe(usdc.address);
    expect(positions[0]?.assets[0]?.rawBalance).toBe(await convert(vault, holding.rawBalance));
    expect(positions[0]?.assets[0]?.rawBalance).toBe(await redeem(vault, holding));
    expect(positions[0]?.selfReported).toBe(true);
    expect(rounds).toBe(2);
  });

  it("does not deduct a fee for leaving, which only a redemption costs", async () => {
    const vault = await deployVault("FeeVault", [usdc.address]);
    const { holding, positions } = await readVault(vault, [usdc, vault]);
    const amount = positions[0]?.assets[0]?.rawBalance ?? 0n;
    expect(amount).toBe(123_456_789_012n);
    expect(await redeem(vault, holding)).toBe((amount * 99n) / 100n);
  });

  it("values a paused vault as before if its registry endorses it, and not if only a list has it", async () => {
    const vault = await deployVault("PausableVault", [usdc.address]);
    await stage.deployer.send(vault, "setPaused", [true]);
    const { holding, positions, warnings } = await readVault(vault, [usdc, vault]);
    expect(positions).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining("could not pay out all that it owes the wallet now")]);
    await expect(redeem(vault, holding)).rejects.toThrow("paused");
    await stage.deployer.send(registry, "endorse", [vault.address]);
    const endorsed = await readVault(vault, [usdc, vault]);
    expect(endorsed.positions[0]?.assets[0]?.rawBalance).toBe(123_456_789_012n);
    expect(endorsed.positions[0]?.selfReported).toBeUndefined();
  });

  it("believes a listed liar no more than it holds", async () => {
    const vault = await deploy("LyingVault", [usdc.address]);
    expect((await readVault(vault, [usdc, vault])).positions).toEqual([]);
    await stage.deployer.send(usdc, "transfer", [vault.address, 7_000_000n]);
    const { positions } = await readVault(vault, [usdc, vault]);
    expect(positions[0]?.assets[0]?.rawBalance).toBe(7_000_000n);
  });
});

describe("unlisted vaults", () => {
  it("values one that a registry endorses", async () => {
    const vault = await deployVault("SoladyVault", [usdc.address], 1_000_000n);
    await stage.deployer.send(registry, "endorse", [vault.address]);
    const { holding, positions, provenTokens, rounds } = await readVault(vault, [usdc]);
    expect(positions[0]?.assets[0]?.rawBalance).toBe(await redeem(vault, holding));
    expect(provenTokens).toEqual(new Set([vault.address]));
    expect(rounds).toBe(3);
  });

  it("values one of a factory that anyone can use as what it could pay now", async () => {
    const vault = await deployVault("PausableVault", [usdc.address]);
    await stage.deployer.send(registry, "create", [vault.address]);
    expect((await readVault(vault, [usdc])).positions[0]?.assets[0]?.rawBalance).toBe(123_456_789_012n);

    await stage.deployer.send(vault, "setPaused", [true]);
    const { positions, provenTokens, warnings } = await readVault(vault, [usdc]);
    expect(positions).toEqual([]);
    expect(provenTokens).toEqual(new Set([vault.address]));
    expect(warnings).toEqual([
      `The vault ${vault.address} on Local could not pay out all that it owes the wallet now; the rest is not counted.`,
    ]);
  });

  it("does not value one whose code only repeats what its owner's contracts say", async () => {
    const vault = await deployVault("OzVault", [usdc.address, "Version 2", 0]);
    await stage.deployer.send(registry, "createV2", [vault.address]);
    const { positions, provenTokens } = await readVault(vault, [usdc]);
    expect(positions).toEqual([]);
    expect(provenTokens).toEqual(new Set([vault.address]));
  });

  it("does not value an asset of anyone's making in a vault of anyone's making", async () => {
    const coin = await stage.deployToken("COIN", 18);
    const vault = await deploy("OzVault", [coin.address, "Coin vault", 0]);
    await deposit(vault, coin, 10n ** 24n);
    await stage.deployer.send(registry, "create", [vault.address]);
    const { positions, provenTokens } = await readVault(vault, [usdc]);
    expect(positions).toEqual([]);
    expect(provenTokens).toEqual(new Set([vault.address]));
  });

  it("does not let a factory vouch for a lure in a vault's name", async () => {
    const vault = await deploy("OzVault", [usdc.address, "Claim at usdc-reward.com", 0]);
    await deposit(vault, usdc, 1_000_000n);
    await stage.deployer.send(registry, "create", [vault.address]);
    const { positions, provenTokens } = await readVault(vault, [usdc]);
    expect(positions).toEqual([]);
    expect(provenTokens).toBeUndefined();
  });

  it("neither counts nor calls spam what nothing vouches for", async () => {
    const honest = await deployVault("OzVault", [usdc.address, "Unknown vault", 0]);
    const lying = await deploy("LyingVault", [usdc.address]);
    for (const vault of [honest, lying]) {
      const { positions, provenTokens, unmarketedTokens, rounds } = await readVault(vault, [usdc]);
      expect(positions).toEqual([]);
      expect(provenTokens).toBeUndefined();
      expect(unmarketedTokens).toEqual(new Set([vault.address]));
      expect(rounds).toBe(2);
    }
  });

  it("loses only the contract that burns its gas", async () => {
    const burning = await deploy("BurningVault");
    const vault = await deployVault("SolmateVault", [usdc.address]);
    const { positions } = await stage.read(reader, {
      holdings: [await stage.holdingOf(burning), await stage.holdingOf(vault)],
      listed: [await stage.holdingOf(usdc), await stage.holdingOf(vault), await stage.holdingOf(burning)],
    });
    expect(positions.map(({ contract }) => contract)).toEqual([vault.address]);
  });
});

describe("vaults of vaults", () => {
  /** Each holds the shares of the one before, with a donation of its own. */
  async function deployNested(levels: number): Promise<readonly DeployedContract[]> {
    const vaults: DeployedContract[] = [];
    let asset = usdc;
    for (let level = 1; level <= levels; level += 1) {
      const vault = await deploy("OzVault", [asset.address, `Level ${level}`, 0]);
      const amount = (await stage.holdingOf(asset)).rawBalance / 3n;
      await deposit(vault, asset, level === 1 ? 900_000_000_000n : amount);
      await stage.deployer.send(asset, "transfer", [vault.address, 1_234_567n]);
      vaults.push(vault);
      asset = vault;
    }
    return vaults;
  }

  it.each([2, 3])("resolves %s levels as redemptions one after another would", async (levels) => {
    const vaults = await deployNested(levels);
    const outer = vaults.at(-1) as DeployedContract;
    const { holding, positions, rounds } = await readVault(outer, [usdc, ...vaults]);
    let expected = holding.rawBalance;
    for (const vault of vaults.toReversed()) expected = await convert(vault, expected);
    expect(positions.length).toBe(1);
    expect(positions[0]).toMatchObject({ contract: outer.address, receiptTokens: [outer.address] });
    expect(positions[0]?.assets).toMatchObject([{ contract: usdc.address, rawBalance: expected }]);
    expect(rounds).toBe(levels + 1);
  });

  it("stops at a vault that nothing vouches for", async () => {
    const [inner, outer] = (await deployNested(2)) as [DeployedContract, DeployedContract];
    // A list vouches for the outer one, which is not enough for an asset that nothing vouches for.
    expect((await readVault(outer, [usdc, outer])).positions).toEqual([]);
    await stage.deployer.send(registry, "endorse", [outer.address]);
    const { holding, positions } = await readVault(outer, [usdc, outer]);
    expect(positions[0]?.assets).toMatchObject([
      { contract: inner.address, symbol: "ozVault", rawBalance: await convert(outer, holding.rawBalance) },
    ]);
  });

  it("stops after three levels", async () => {
    const vaults = await deployNested(4);
    const outer = vaults.at(-1) as DeployedContract;
    const { positions } = await readVault(outer, [usdc, ...vaults]);
    expect(positions[0]?.assets[0]?.contract).toBe(vaults[0]?.address as Hex);
  });
});
