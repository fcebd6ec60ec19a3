// Makes the proofs of all chains fit into one response: what matters most on each comes first, and each node once.

import type { ProvenState } from "../../chain/proofs/proven-state.ts";
import type { Hex } from "../../lib/hex.ts";
import type { ProofChain, ProofClaim } from "../../schema/portfolio/proofs.ts";
import { type ProvenField, unprovenField } from "./claim-field.ts";

/** A chain with all that is proven of it. */
export type ProvenChain = Omit<ProofChain, "nodes" | "claims"> & {
  /** Null if nothing is proven. */
  readonly state: ProvenState | null;
  readonly claims: readonly ProvenField[];
};

// Half of what the ledger stores of a response, whose other fields take far less than the other half.
export const PROOF_CHARS_MAX = 4 * 1024 * 1024;

/** Claims that no longer fit have the reason `too_many`. */
export function fitProofs(chains: readonly ProvenChain[], charsMax: number): readonly ProofChain[] {
  const fitted = chains.map((chain) => ({
    chain,
    nodes: new Map<Hex, Hex>(),
    claims: [] as ProofClaim[],
  }));
  let left = charsMax - sumLengths(chains.map(({ header }) => header ?? ""));
  const claimsMax = Math.max(0, ...chains.map(({ claims }) => claims.length));
  // In turns, so that a chain with many claims does not push out what matters most on others.
  for (let rank = 0; rank < claimsMax; rank += 1) {
    for (const { chain, nodes, claims } of fitted) {
      const proven = chain.claims[rank];
      if (proven === undefined) continue;
      const added = listNewNodes(chain, proven, nodes);
      const size = lengthOf(proven.claim) + sumLengths([...added.values()]);
      const fits = proven.claim.kind === "none" || size <= left;
      const claim = fits ? proven.claim : unprovenField(proven.claim, "too_many").claim;
      left -= fits ? size : lengthOf(claim);
      claims.push(claim);
      if (fits) for (const [hash, node] of added) nodes.set(hash, node);
    }
  }
  return fitted.map(({ chain: { state: _, ...chain }, nodes, claims }) => ({
    ...chain,
    nodes: [...nodes.values()],
    claims,
  }));
}

/** None that no claim needs. */
function listNewNodes(
  { state }: ProvenChain,
  { path }: ProvenField,
  listed: ReadonlyMap<Hex, Hex>,
): ReadonlyMap<Hex, Hex> {
  const added = new Map<Hex, Hex>();
  for (const hash of path) {
    const node = listed.has(hash) ? undefined : state?.nodeOf(hash);
    if (node !== undefined) added.set(hash, node);
  }
  return added;
}

function lengthOf(claim: ProofClaim): number {
  return JSON.stringify(claim).length;
}

/** In the text of the response, each with its quotes and a comma. */
function sumLengths(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length + 3, 0);
}
