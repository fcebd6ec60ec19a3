// ERC-4626 vaults: shares shown as the assets they stand for, believed only where both are listed tokens.

import { decodeAddress, decodeTokenAmount } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { createCallEncoder } from "../../multicall.ts";
import type { Holding, ListedToken, PositionReader, ProtocolPosition } from "../../types.ts";

/** A storage read behind a proxy or two. */
const ASSET_GAS_MAX = 100_000;
/** Vaults over dozens of markets accrue each of them before they answer. */
const CONVERT_GAS_MAX = 3_000_000;
/** More listed tokens than any list pair has vaults; whoever holds more is told what was left out. */
const PROBES_MAX = 1_000;

const asset = createCallEncoder("function asset() view returns (address)");
// Not previewRedeem: it takes off fees of one moment and may revert while a vault is paused; a share of the assets is
// what is held.
const convertToAssets = createCallEncoder("function convertToAssets(uint256) view returns (uint256)");
const totalSupply = createCallEncoder("function totalSupply() view returns (uint256)");

type Shares = Holding & { readonly contract: Hex };
type Vault = { readonly shares: Shares; readonly asset: ListedToken };

/**
 * Any contract can answer `asset()` with USDC and `convertToAssets()` with a fortune, and no on-chain proof tells it
 * from a vault whose assets work elsewhere. So a vault counts only when a list vouches for it and for its asset, and
 * only up to the asset's whole supply; everything else stays a plain token. The vault of a vault is resolved one step.
 */
export const erc4626Reader: PositionReader = {
  protocol: "erc-4626",
  async read({ at, holdings }, signal) {
    const { tokens, name: chain } = at.chain;
    const listed = holdings.filter(
      (held): held is Shares => held.contract !== null && tokens.has(held.contract),
    );
    const probed = listed.slice(0, PROBES_MAX);
    if (probed.length === 0) return { positions: [], warnings: [] };

    const warnings: string[] = [];
    if (listed.length > PROBES_MAX) {
      warnings.push(
        `Only ${PROBES_MAX} of ${listed.length} listed tokens on ${chain} were checked for being vaults.`,
      );
    }
    const answers = await at.read(
      probed.map(({ contract }) => asset(contract, [], ASSET_GAS_MAX)),
      signal,
    );
    const vaults = probed.flatMap((shares, index): Vault[] => {
      const answer = answers[index] ?? null;
      // A revert, or the silence of a fallback function: not a vault.
      if (answer === null || answer === "0x") return [];
      const address = decodeAddress(answer);
      if (address === null) warnings.push(unbelieved(shares, chain));
      const underlying = address === null || address === shares.contract ? undefined : tokens.get(address);
      return underlying ? [{ shares, asset: underlying }] : [];
    });
    if (vaults.length === 0) return { positions: [], warnings };

    const converted = await at.read(
      vaults.flatMap(({ shares, asset }) => [
        convertToAssets(shares.contract, [shares.rawBalance], CONVERT_GAS_MAX),
        totalSupply(asset.contract, [], ASSET_GAS_MAX),
      ]),
      signal,
    );
    const positions = vaults.flatMap((vault, index): ProtocolPosition[] => {
      const amount = decodeTokenAmount(converted[index * 2]);
      const supply = decodeTokenAmount(converted[index * 2 + 1]);
      if (amount === null || supply === null || amount > supply) {
        warnings.push(unbelieved(vault.shares, chain));
        return [];
      }
      return amount === 0n ? [] : [positionOf(vault, amount)];
    });
    return { positions, warnings };
  },
};

function positionOf({ shares, asset }: Vault, rawBalance: bigint): ProtocolPosition {
  return {
    protocol: "erc-4626",
    kind: "vault",
    name: shares.name ?? shares.symbol ?? "Vault",
    contract: shares.contract,
    assets: [{ ...asset, rawBalance }],
    receiptTokens: [shares.contract],
  };
}

function unbelieved({ contract }: Shares, chain: string): string {
  return `The vault ${contract} on ${chain} gave no believable answer; its shares are shown as a token.`;
}
