// The verification of one record of the index: a row for each of its members, and for each block that they depend on.

import { describeBlock, judge, statusWithoutProof } from "./conclude.ts";
import type { BlockHeader } from "./header.ts";
import { findKnownSlug } from "./known-chains.ts";
import type { ReaderNode } from "./reader-nodes.ts";
import type { RecordFinding, RecordProof } from "./record-proof.ts";
import type { Seals } from "./seals.ts";
import {
  type Condition,
  createRow,
  type RowStatus,
  type Verification,
  type VerificationRow,
} from "./verification.ts";
import { hearWitness, type Witness } from "./witness.ts";

type RecordInput = {
  readonly proof: RecordProof;
  readonly seals: Seals;
  /** Rows about the nodes themselves. */
  readonly rows: readonly VerificationRow[];
  readonly nodes: readonly ReaderNode[];
  readonly blockHashes: readonly string[];
  readonly nodesMin: number;
  readonly nowMs: number;
};

export async function concludeRecord(input: RecordInput): Promise<Verification> {
  const { proof, seals, nodes, nowMs } = input;
  const { chainId, header, logs, findings } = proof;
  const base = statusWithoutProof(seals);
  const headers = header === null ? [] : [{ path: "/proofs", header }, ...logs];
  const blocks = new Map<BlockHeader, Witness>();
  const described = [];
  for (const { path, header: each } of headers) {
    const block = { chainId, header: each, findings: new Map() };
    const witness = await hearWitness(block, nodes, input);
    blocks.set(each, witness);
    const chain = findKnownSlug(chainId) ?? chainId;
    described.push(...describeBlock({ ...block, path, chain, side: null }, witness, nowMs));
  }
  const members = findings.map((finding) => {
    const witness = blocks.get(finding.log?.header ?? header ?? NO_HEADER);
    return describeMember(finding, base, witness);
  });
  const rows = [...seals.rows, ...input.rows, ...described.map(({ row }) => row), ...members];
  const isSigned = rows.some(({ status }) => status === "signed");
  const isVouched = isSigned || members.some(({ status }) => status === "proven");
  return {
    ...judge(rows, seals, isVouched),
    ...{ kind: "record", record: proof.record, wallet: null, rows, coverage: null },
    blocks: described.map(({ block }) => block),
  };
}

const NO_HEADER = {} as BlockHeader;

function describeMember(
  { path, value, result, reason, conditions }: RecordFinding,
  base: RowStatus,
  witness: Witness | undefined,
): VerificationRow {
  if (result === "wrong") return createRow(path, "wrong", reason, value);
  if (result === "none" || witness === undefined) return createRow(path, base, reason, value);
  if (witness.opinion.disputes.length > 0) {
    return createRow(path, base, "its block is not on the chain of your nodes", value);
  }
  const open: Condition[] = [...(witness.isConfirmed ? [] : (["block"] as const)), ...conditions];
  return { ...createRow(path, open.length === 0 ? "proven" : "proven-if", reason, value), conditions: open };
}
