// Collects who vouches for the block of a proof, and what the reader's nodes say about the layouts that it depends on.
import type { ChainProof } from "./chain-proof.ts";
import type { BlockOpinion, LayoutOpinion, ReaderNode } from "./reader-nodes.ts";
import { compareBlock, countHosts, probeLayouts } from "./reader-nodes.ts";

/** Everything that stands behind the block of one entry. */
export type Witness = {
  readonly opinion: BlockOpinion;
  readonly isKnown: boolean;
  readonly isConfirmed: boolean;
  readonly layouts: ReadonlyMap<string, LayoutOpinion>;
};

/** A block with the findings that depend on it. */
export type WitnessedBlock = Pick<ChainProof, "chainId" | "header" | "findings">;

type WitnessOptions = {
  /** Hashes of blocks that the reader knows. */
  readonly blockHashes: readonly string[];
  readonly nodesMin: number;
};

const NO_OPINION: BlockOpinion = { agreed: [], disputes: [], problems: [] };

export async function hearWitness(
  { chainId, header, findings }: WitnessedBlock,
  all: readonly ReaderNode[],
  { blockHashes, nodesMin: given }: WitnessOptions,
): Promise<Witness> {
  if (header === null) {
    return { opinion: NO_OPINION, isKnown: false, isConfirmed: false, layouts: new Map() };
  }
  const nodesMin = Math.max(1, given);
  const nodes = all.filter((node) => node.chainId === chainId);
  const opinion = await compareBlock(nodes, header);
  const isKnown = blockHashes.some((hash) => hash.toLowerCase() === header.hash);
  const isConfirmed = opinion.disputes.length === 0 && (isKnown || countHosts(opinion.agreed) >= nodesMin);
  const probed = [...findings].flatMap(([path, { probe }]) => (probe === null ? [] : [{ path, probe }]));
  const isExecuted = opinion.agreed.length > 0 && opinion.disputes.length === 0;
  const probes = isExecuted ? probed.map(({ probe }) => probe) : [];
  const opinions = await probeLayouts({ nodes: opinion.agreed, nodesMin, header }, probes);
  return {
    opinion,
    isKnown,
    isConfirmed,
    layouts: new Map(opinions.map((each, index) => [probed[index]?.path ?? "", each])),
  };
}
