// For each chain id: the contracts that know their protocol's vaults, and vaults that are known by address.
import { readChainData } from "../../../chain/chain-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { shape } from "../../../lib/json-shape.ts";
import { VAULT_PROOF_KINDS, type VaultProof } from "./proofs.ts";

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
    shape.object({ kind: shape.oneOf(...VAULT_PROOF_KINDS), registry: shape.address }),
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
