// The contracts of each chain that know their protocol's vaults, and how far what they say makes a vault believable.

import { readChainData } from "../../../chain/chain-data.ts";
import { decodeAddress, decodeBoolean } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { shape } from "../../../lib/json-shape.ts";
import { defineRead, joinReads, type Reads } from "../../contract-reads/reads.ts";

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
  /** Whether the registry knows the vault. */
  readonly declare: (registry: Hex, vault: Hex, asset: Hex) => Reads<boolean>;
};

/** The registry says yes or no. */
function confirms(belief: Belief, name: string): ProofKind {
  const isKnown = defineRead(`function ${name}(address)`, (data) => decodeBoolean(data) === true);
  return { belief, declare: (registry, vault) => isKnown(registry, [vault]) };
}

/** The registry returns its vault of an asset. */
function returnsVault(belief: Belief, signature: string, ...more: readonly string[]): ProofKind {
  const vaultOf = defineRead(`function ${signature}`, decodeAddress);
  return {
    belief,
    declare: (registry, vault, asset) => vaultOf(registry, [asset, ...more]).map((found) => found === vault),
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

const PROOF_KIND_NAMES = Object.keys(PROOF_KINDS) as (keyof typeof PROOF_KINDS)[];

export type VaultProof = { readonly kind: keyof typeof PROOF_KINDS; readonly registry: Hex };

const STRONGEST_FIRST: readonly Belief[] = ["full", "payable", "named"];

/** The strongest belief that any proof gives; null when none knows the vault. */
export function declareBelief(proofs: readonly VaultProof[], vault: Hex, asset: Hex): Reads<Belief | null> {
  const given = proofs.map(({ kind, registry }) => {
    const { belief, declare } = PROOF_KINDS[kind];
    return declare(registry, vault, asset).map((isKnown) => (isKnown ? belief : null));
  });
  return joinReads(given).map((found) => STRONGEST_FIRST.find((belief) => found.includes(belief)) ?? null);
}

export type VaultRegistry = {
  readonly proofs: readonly VaultProof[];
  /** Believed without a proof; never because a token list has them. */
  readonly vaults: ReadonlySet<Hex>;
  /** Knows who borrows from Euler's vaults; missing if Euler is not on the chain. */
  readonly eulerConnector?: Hex;
};

const vaultRegistry = shape.object({
  eulerConnector: shape.optional(shape.address),
  proofs: shape.list(
    shape.object({ kind: shape.oneOf(...PROOF_KIND_NAMES), registry: shape.address }),
    ({ kind, registry }) => `${kind} ${registry}`,
  ),
  savings: shape.list(shape.object({ symbol: shape.text, vault: shape.address }), ({ vault }) => vault),
  morpho: shape.list(shape.address),
});

export const VAULT_REGISTRIES: ReadonlyMap<number, VaultRegistry> = readChainData(
  "vaults",
  "erc4626",
  shape.mapped(vaultRegistry, ({ savings, morpho, ...registry }) => ({
    ...registry,
    vaults: new Set([...morpho, ...savings.map(({ vault }) => vault)]),
  })),
);
