// Checks a response without believing its service: signatures, receipt, and Merkle proofs down to the header of each block.

import { type ChainProof, checkChainProof } from "./chain-proof.ts";
import { compareRequest } from "./compare-request.ts";
import { conclude, findFinding, rejectedRow, statusWithoutProof, sumUsd, type Witness } from "./conclude.ts";
import { formatShare, formatUsd } from "./decimals.ts";
import { type ReadInput, readInput, type VerifyInput } from "./read-input.ts";
import { compareBlock, countHosts, openNodes, probeLayouts, type ReaderNode } from "./reader-nodes.ts";
import { Rejection } from "./rejection.ts";
import { type Report, readReport } from "./report.ts";
import { checkSeals } from "./seals.ts";
import { readSigningKeys } from "./signing-keys.ts";
import { type JsonObject, memberOf, requireClosed, requireList } from "./strict-json.ts";
import { createRow, type Verification, type VerificationRow } from "./verification.ts";

export type { ResponseParts, VerifyInput } from "./read-input.ts";
export type { Condition, Coverage, RowStatus, VerificationRow, VerifiedBlock } from "./verification.ts";
export { describeStatus, requireProven, type Verification } from "./verification.ts";

/** `host`: with its port, if it is not that of the scheme. */
export type HostKeys = { readonly host: string; readonly source: unknown };

export type VerifyOptions = {
  /** Nodes that you choose, for the hash of each block and the layout of tokens. Nothing else is called. */
  readonly nodes?: readonly string[];
  /** How many of them must have a block; 2 by default. 1 for a node of your own. */
  readonly nodesMin?: number;
  /** Hashes of blocks that you know to be on the chain, such as from a light client. */
  readonly blockHashes?: readonly string[];
  /** The service's keys as you know them: public keys, key directories or DID documents. Never fetched from here. */
  readonly keys?: readonly unknown[];
  /** Keys that you fetched from a host over HTTPS: they count for what is signed for that host only. */
  readonly hostKeys?: readonly HostKeys[];
  /** The time that counts for signatures and for the age of blocks; now by default. */
  readonly now?: Date;
  readonly fetch?: typeof fetch;
  readonly signal?: AbortSignal;
};

const NODES_MIN = 2;
const CHAINS_MAX = 100;

/**
 * Never throws for what the input says: a malformed or contradictory response has rows that are `wrong`, and `ok` is false.
 * It throws for keys that are malformed, and for nodes that are not URLs.
 */
export async function verify(input: VerifyInput, options: VerifyOptions = {}): Promise<Verification> {
  const keys = [
    ...(options.keys ?? []).flatMap((source) => readSigningKeys(source)),
    ...(options.hostKeys ?? []).flatMap(({ host, source }) => readSigningKeys(source, host)),
  ];
  const nowMs = (options.now ?? new Date()).getTime();
  let read: ReadInput;
  let report: Report | null;
  try {
    read = readInput(input);
    report = readReport(read.json);
    if (report !== null) compareRequest(read.request, report);
  } catch (error) {
    return conclude({ report: null, rows: [rejectedRow("file", error)], nowMs });
  }
  const seals = checkSeals({ ...read, report, keys, nowMs });
  if (report === null) {
    const whole = createRow(
      "",
      statusWithoutProof(seals),
      "nothing in a response of this kind can be proven",
    );
    return conclude({ report, seals, rows: [...seals.rows, whole], nowMs });
  }
  const { proofs, rows } = readProofs(report);
  const nodes = await openNodes({
    urls: options.nodes ?? [],
    fetch: options.fetch ?? fetch,
    signal: options.signal,
  });
  const silent = nodes.filter(({ chainId }) => chainId === null);
  const witnesses = await hearWitnesses(proofs, nodes, options);
  const said = silent.map(({ name }) =>
    createRow(`node ${name}`, "unknown", "it did not say which chain it serves"),
  );
  return conclude({ report, seals, proofs, witnesses, rows: [...seals.rows, ...said, ...rows], nowMs });
}

type ReadProofs = { readonly proofs: readonly ChainProof[]; readonly rows: readonly VerificationRow[] };

function readProofs(report: Report): ReadProofs {
  if (report.proofs === undefined) return { proofs: [], rows: [] };
  const rows: VerificationRow[] = [];
  const proofs: ChainProof[] = [];
  try {
    const bundle = requireClosed(report.proofs, "/proofs", ["version", "chains", "coverage"]);
    if (memberOf(bundle, "version") !== 1)
      throw new Rejection("The proofs have a version that this program does not know.");
    const entries = requireList(memberOf(bundle, "chains"), "/proofs/chains", CHAINS_MAX);
    for (const [index, entry] of entries.entries()) {
      const path = `/proofs/chains/${index}`;
      try {
        const proof = checkChainProof(entry, path, report);
        const isRepeated = proofs.some(
          ({ chain, chainId, side }) =>
            (chain === proof.chain || chainId === proof.chainId) && side === proof.side,
        );
        if (isRepeated) throw new Rejection("A chain has two entries.");
        proofs.push(proof);
      } catch (error) {
        rows.push(rejectedRow(path, error));
      }
    }
    const isWhole = rows.length === 0 && proofs.every(({ problems }) => problems.size === 0);
    if (isWhole) compareCoverage(bundle, report, proofs);
  } catch (error) {
    rows.push(rejectedRow("/proofs", error));
  }
  return { proofs, rows };
}

/** The coverage as the service counts it: every amount with a proof, whatever it depends on. */
function compareCoverage(bundle: JsonObject, report: Report, proofs: readonly ChainProof[]): void {
  const stated = requireClosed(memberOf(bundle, "coverage"), "/proofs/coverage", [
    "provenUsd",
    "totalUsd",
    "share",
  ]);
  const proven = sumUsd(
    report.fields.filter((field) => (findFinding(proofs, field)?.result ?? "none") !== "none"),
  );
  const total = sumUsd(report.fields) + report.otherUsd;
  const isRight =
    memberOf(stated, "provenUsd") === formatUsd(proven) &&
    memberOf(stated, "totalUsd") === formatUsd(total) &&
    memberOf(stated, "share") === formatShare(proven, total);
  if (!isRight) throw new Rejection("The coverage is not that of the claims.");
}

async function hearWitnesses(
  proofs: readonly ChainProof[],
  nodes: readonly ReaderNode[],
  { nodesMin = NODES_MIN, blockHashes = [] }: VerifyOptions,
): Promise<ReadonlyMap<ChainProof, Witness>> {
  const known = new Set(blockHashes.map((hash) => hash.toLowerCase()));
  const witnesses = await Promise.all(
    proofs.map(async (proof) => {
      const serving = nodes.filter(({ chainId }) => chainId === proof.chainId);
      return [proof, await hearWitness(proof, serving, { known, nodesMin: Math.max(1, nodesMin) })] as const;
    }),
  );
  return new Map(witnesses);
}

async function hearWitness(
  { header, findings }: ChainProof,
  nodes: readonly ReaderNode[],
  { known, nodesMin }: { readonly known: ReadonlySet<string>; readonly nodesMin: number },
): Promise<Witness> {
  if (header === null) {
    const opinion = { agreed: [], disputes: [], problems: [] };
    return { opinion, isKnown: false, isConfirmed: false, layouts: new Map() };
  }
  const opinion = await compareBlock(nodes, header);
  const isKnown = known.has(header.hash);
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
