// ERC-4626 vaults: shares valued as the assets they represent, only when both the vault and its asset are listed.

import { decodeAddress, decodeTokenAmount } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { createCallEncoder } from "../../multicall.ts";
import { erc20 } from "../../tokens/erc20.ts";
import type { Holding, ListedToken, PinnedChain, PositionReader, ProtocolPosition } from "../../types.ts";

const PROTOCOL = "erc-4626";
/** A storage read behind a proxy or two. */
const ASSET_GAS_MAX = 100_000;
/** Vaults over dozens of markets accrue interest in each of them first. */
const CONVERT_GAS_MAX = 3_000_000;
/** More listed tokens than real wallets hold; a warning states how many were left out. */
const PROBES_MAX = 1_000;

const vaultAsset = createCallEncoder("function asset() view returns (address)");
// Not previewRedeem: it deducts fees and may revert while a vault is paused. The wallet holds a share of the assets.
const convertToAssets = createCallEncoder("function convertToAssets(uint256) view returns (uint256)");

type Shares = Holding & { readonly contract: Hex };
type Vault = { readonly shares: Shares; readonly asset: ListedToken };

/**
 * Any contract can return USDC from `asset()` and a fortune from `convertToAssets()`, and nothing on chain
 * distinguishes it from a vault that has invested its assets elsewhere. So a vault counts only when a list contains
 * both the vault and its asset, and only up to the asset's total supply; any other share stays a plain token. A vault
 * of a vault is resolved one level deep.
 */
export const erc4626Reader: PositionReader = {
  protocol: PROTOCOL,
  async read({ at, holdings }, signal) {
    const listed = holdings.filter(
      (holding): holding is Shares => holding.contract !== null && at.chain.tokens.has(holding.contract),
    );
    const probed = listed.slice(0, PROBES_MAX);
    if (probed.length === 0) return { positions: [], warnings: [] };

    const warnings: string[] = [];
    if (listed.length > PROBES_MAX) {
      warnings.push(
        `Only ${PROBES_MAX} of ${listed.length} listed tokens on ${at.chain.name} were checked for being vaults.`,
      );
    }
    const vaults = await findVaults(at, probed, warnings, signal);
    if (vaults.length === 0) return { positions: [], warnings };
    return { positions: await readVaultPositions(at, vaults, warnings, signal), warnings };
  },
};

async function findVaults(
  at: PinnedChain,
  candidates: readonly Shares[],
  warnings: string[],
  signal: AbortSignal,
): Promise<readonly Vault[]> {
  const calls = candidates.map(({ contract }) => vaultAsset(contract, [], ASSET_GAS_MAX));
  const results = await at.read(calls, signal);
  return candidates.flatMap((shares, index): Vault[] => {
    const result = results[index] ?? null;
    // A revert, or the empty result of a fallback function: not a vault.
    if (result === null || result === "0x") return [];
    const address = decodeAddress(result);
    if (address === null) warnings.push(describeImplausibleVault(shares, at.chain.name));
    const asset = address === null || address === shares.contract ? undefined : at.chain.tokens.get(address);
    return asset ? [{ shares, asset }] : [];
  });
}

async function readVaultPositions(
  at: PinnedChain,
  vaults: readonly Vault[],
  warnings: string[],
  signal: AbortSignal,
): Promise<readonly ProtocolPosition[]> {
  const calls = vaults.flatMap(({ shares, asset }) => [
    convertToAssets(shares.contract, [shares.rawBalance], CONVERT_GAS_MAX),
    erc20.totalSupply(asset.contract, [], ASSET_GAS_MAX),
  ]);
  const results = await at.read(calls, signal);
  return vaults.flatMap((vault, index): ProtocolPosition[] => {
    const amount = decodeTokenAmount(results[index * 2]);
    const supply = decodeTokenAmount(results[index * 2 + 1]);
    if (amount === null || supply === null || amount > supply) {
      warnings.push(describeImplausibleVault(vault.shares, at.chain.name));
      return [];
    }
    return amount === 0n ? [] : [createPosition(vault, amount)];
  });
}

function createPosition({ shares, asset }: Vault, rawBalance: bigint): ProtocolPosition {
  return {
    protocol: PROTOCOL,
    kind: "vault",
    name: shares.name ?? shares.symbol ?? "Vault",
    contract: shares.contract,
    assets: [{ ...asset, rawBalance }],
    receiptTokens: [shares.contract],
  };
}

function describeImplausibleVault({ contract }: Shares, chain: string): string {
  return `The vault ${contract} on ${chain} returned an implausible result; its shares are shown as a token.`;
}
