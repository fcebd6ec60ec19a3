// How a protocol's own contracts say on chain that a vault is theirs, and how far that makes the vault believable.

import { decodeAddress, decodeWord } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { createCallEncoder } from "../../multicall.ts";
import type { ContractRead } from "../../types.ts";

/**
 * - `full`: the protocol's governance or curators chose the vault, so what it reports is believed.
 * - `payable`: anyone can create such a vault, and its owner can lend the assets to himself against worthless
 *   collateral. The code is known, so it counts with what it could pay out in this block.
 * - `named`: the code is known, but it reports what its owner's own contracts report. It is a vault, of unknown value.
 * - `listed`: only a token list has it. A list says who a token is, not that its code is honest: it counts with what it
 *   says that it could pay out in this block, and never with more than it holds of a listed asset.
 */
export type Belief = "full" | "payable" | "named" | "listed";

type ProofKind = {
  readonly belief: Belief;
  readonly encode: (registry: Hex, vault: Hex, asset: Hex) => ContractRead;
  readonly accepts: (result: Hex | null | undefined, vault: Hex) => boolean;
};

/** The registry says yes or no. */
function confirms(belief: Belief, name: string): ProofKind {
  const ask = createCallEncoder(`function ${name}(address) view returns (bool)`);
  return {
    belief,
    encode: (registry, vault) => ask(registry, [vault]),
    accepts: (result) => decodeWord(result) === 1n,
  };
}

/** The registry returns its vault of an asset. */
function returnsVault(belief: Belief, signature: string, ...more: readonly string[]): ProofKind {
  const ask = createCallEncoder(`function ${signature} view returns (address)`);
  return {
    belief,
    encode: (registry, _vault, asset) => ask(registry, [asset, ...more]),
    accepts: (result, vault) => decodeAddress(result) === vault,
  };
}

const PROOF_KINDS = {
  aaveStataFactory: returnsVault("full", "getStataToken(address)"),
  /** Anyone can add a vault, but only one that cannot lend. */
  eulerEscrow: confirms("full", "isVerified"),
  eulerFactory: confirms("payable", "isProxy"),
  eulerGoverned: confirms("full", "isVerified"),
  /** Fluid's fTokens have one address per asset and type; only allowed accounts create them. */
  fluidLending: returnsVault("full", "computeToken(address,string)", "fToken"),
  fluidLendingNative: returnsVault("full", "computeToken(address,string)", "NativeUnderlying"),
  metaMorphoFactory: confirms("payable", "isMetaMorpho"),
  /** A vault of version 2 adds up what its adapters report, and its owner chooses those. */
  morphoVaultV2Factory: confirms("named", "isVaultV2"),
  yearnRegistry: confirms("full", "isEndorsed"),
} as const satisfies Readonly<Record<string, ProofKind>>;

export type VaultProof = { readonly kind: keyof typeof PROOF_KINDS; readonly registry: Hex };

/** The calls whose results `judgeProofs` judges. */
export function encodeProofs(proofs: readonly VaultProof[], vault: Hex, asset: Hex): readonly ContractRead[] {
  return proofs.map(({ kind, registry }) => PROOF_KINDS[kind].encode(registry, vault, asset));
}

const STRONGEST_FIRST: readonly Belief[] = ["full", "payable", "named"];

/** The strongest belief that any proof gives; null when none knows the vault. */
export function judgeProofs(
  proofs: readonly VaultProof[],
  results: readonly (Hex | null)[],
  vault: Hex,
): Belief | null {
  const given = proofs
    .filter(({ kind }, index) => PROOF_KINDS[kind].accepts(results[index], vault))
    .map(({ kind }) => PROOF_KINDS[kind].belief);
  return STRONGEST_FIRST.find((belief) => given.includes(belief)) ?? null;
}
