// Checks a response without believing its service: signatures, receipt, and Merkle proofs down to the header of each block.

import { type ChainProof, checkChainProof } from "./chain-proof.ts";
import { compareRequest } from "./compare-request.ts";
import { conclude, findFinding, rejectedRow, statusWithoutProof, sumUsd } from "./conclude.ts";
import { formatShare, formatUsd } from "./decimals.ts";
import { listKnownContracts } from "./known-contracts.ts";
import { type ReadInput, readInput, type VerifyInput } from "./read-input.ts";
import { openNodes, type ReaderNode } from "./reader-nodes.ts";
import { checkRecordProof, isProvenRecord, type RecordProof } from "./record-proof.ts";
import { Rejection } from "./rejection.ts";
import { type Report, readReport } from "./report.ts";
import { checkSeals } from "./seals.ts";
import { readSigningKeys } from "./signing-keys.ts";
import { type JsonObject, memberOf, requireClosed, requireList } from "./strict-json.ts";
import { createRow, type Verification, type VerificationRow } from "./verification.ts";
import { concludeRecord } from "./verify-record.ts";
import { hearWitness, type Witness } from "./witness.ts";

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
  /** Contracts that you know as the protocol's, for records of the index: addresses, or deployment files. */
  readonly deployments?: readonly unknown[];
  /** The time that counts for signatures and for the age of blocks; now by default. */
  readonly now?: Date;
  readonly fetch?: typeof fetch;
  readonly signal?: AbortSignal;
};

const NODES_MIN = 2;
const CHAINS_MAX = 100;

/**
 * Never throws for what the input says: a malformed or contradictory response has rows that are `wrong`, and `ok` is false.
 * It throws for keys and deployments that are malformed, and for nodes that are not URLs.
 */
export async function verify(input: VerifyInput, options: VerifyOptions = {}): Promise<Verification> {
  const keys = [
    ...(options.keys ?? []).flatMap((source) => readSigningKeys(source)),
    ...(options.hostKeys ?? []).flatMap(({ host, source }) => readSigningKeys(source, host)),
  ];
  const contracts = listKnownContracts(options.deployments ?? []);
  const nowMs = (options.now ?? new Date()).getTime();
  let read: ReadInput;
  let report: Report | null;
  let record: RecordProof | null;
  try {
    read = readInput(input);
    record = isProvenRecord(read.json) ? checkRecordProof(read.json, read.request, contracts) : null;
    report = record === null ? readReport(read.json) : null;
    if (report !== null) compareRequest(read.request, report);
  } catch (error) {
    return conclude({ report: null, rows: [rejectedRow("file", error)], nowMs });
  }
  const seals = checkSeals({ ...read, report, keys, nowMs });
  if (record !== null) {
    const { nodesMin = NODES_MIN, blockHashes = [] } = options;
    const asked = await askNodes(options);
    return concludeRecord({ proof: record, seals, nowMs, nodesMin, blockHashes, ...asked });
  }
  if (report === null) {
    const whole = createRow(
      "",
      statusWithoutProof(seals),
      "nothing in a response of this kind can be proven",
    );
    return conclude({ report, seals, rows: [...seals.rows, whole], nowMs });
  }
  const { nodes, rows: said } = await askNodes(options);
  const { proofs, rows } = readProofs(report);
  const witnesses = await hearWitnesses(proofs, nodes, options);
  return conclude({ report, seals, proofs, witnesses, rows: [...seals.rows, ...said, ...rows], nowMs });
}

/** The reader's nodes, with a row for each that does not respond. */
async function askNodes(options: VerifyOptions) {
  const nodes = await openNodes({
    urls: options.nodes ?? [],
    fetch: options.fetch ?? fetch,
    signal: options.signal,
  });
  const silent = nodes.filter(({ chainId }) => chainId === null);
  const rows = silent.map(({ name }) =>
    createRow(`node ${name}`, "unknown", "it did not say which chain it serves"),
  );
  return { nodes, rows };
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
  const witnesses = await Promise.all(
    proofs.map(async (proof) => [proof, await hearWitness(proof, nodes, { blockHashes, nodesMin })] as const),
  );
  return new Map(witnesses);
}
