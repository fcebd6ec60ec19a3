// Turns what was checked into the rows of a verification.

import { ageOf, describeTime } from "./age.ts";
import type { ChainProof } from "./chain-proof.ts";
import type { Finding } from "./claim.ts";
import { formatShare, formatUsd } from "./decimals.ts";
import { formatTime } from "./header.ts";
import { Rejection } from "./rejection.ts";
import type { Field, Report } from "./report.ts";
import type { Seals } from "./seals.ts";
import {
  type Condition,
  type Coverage,
  createRow,
  type RowStatus,
  type Verification,
  type VerificationRow,
  type VerifiedBlock,
} from "./verification.ts";
import type { Witness } from "./witness.ts";

type Findings = {
  readonly report: Report | null;
  readonly rows: readonly VerificationRow[];
  readonly seals?: Seals;
  readonly proofs?: readonly ChainProof[];
  readonly witnesses?: ReadonlyMap<ChainProof, Witness>;
  /** The time that ages count to. */
  readonly nowMs: number;
};

export function conclude({
  report,
  rows,
  seals,
  proofs = [],
  witnesses = new Map(),
  nowMs,
}: Findings): Verification {
  const base = seals === undefined ? "unknown" : statusWithoutProof(seals);
  const blocks = proofs.flatMap((proof) => describeBlock(proof, witnesses.get(proof), nowMs));
  const fields = (report?.fields ?? []).map((field) => ({
    field,
    row: describeField(field, base, findProof(proofs, field), witnesses),
  }));
  const all = [...rows, ...blocks.map((block) => block.row), ...fields.map((each) => each.row)];
  const has = (status: RowStatus) => all.some((each) => each.status === status);
  // A block alone says nothing about the wallet.
  const isVouched = has("signed") || fields.some((each) => each.row.status === "proven");
  return {
    ...judge(all, seals, isVouched),
    kind: report?.kind ?? null,
    record: null,
    wallet: report?.wallet ?? null,
    blocks: blocks.map(({ block }) => block),
    rows: all,
    coverage: report === null ? null : computeCoverage(report, fields),
  };
}

type ProvenBlock = Pick<ChainProof, "header" | "chain" | "chainId" | "side" | "path">;

/** The block and its row; nothing without a header. */
export function describeBlock(proof: ProvenBlock, witness: Witness | undefined, nowMs: number) {
  const { header, chain, chainId, side, path } = proof;
  if (header === null || witness === undefined) return [];
  const { opinion, isConfirmed, isKnown } = witness;
  const block: VerifiedBlock = {
    ...{ chain, chainId, side, number: header.number.toString(), hash: header.hash },
    ...{ timestamp: formatTime(header.timestamp), nodes: opinion.agreed.length },
    ageSeconds: ageOf(Number(header.timestamp), nowMs),
  };
  const value = `${chain} ${header.number} ${header.hash}`;
  const at = `${path}/block`;
  const trouble = [...opinion.disputes, ...opinion.problems].join("; ");
  if (opinion.disputes.length > 0) return [{ block, row: createRow(at, "wrong", trouble, value) }];
  const agreed = opinion.agreed.length;
  const count = agreed === 1 ? "1 of your nodes has it" : `${agreed} of your nodes have it`;
  const age = describeTime(block.timestamp, block.ageSeconds);
  const vouched = `${isKnown ? "you know its hash" : count}; ${age}`;
  if (isConfirmed) return [{ block, row: createRow(at, "proven", vouched, value) }];
  const reason = [agreed > 0 ? `only ${count}` : "no node of yours vouches for it", trouble, age];
  const open = createRow(at, "proven-if", reason.filter((each) => each !== "").join("; "), value);
  return [{ block, row: { ...open, conditions: ["block"] as const } }];
}

function describeField(
  field: Field,
  base: RowStatus,
  proof: ChainProof | undefined,
  witnesses: ReadonlyMap<ChainProof, Witness>,
): VerificationRow {
  const { path, kind, stated, account } = field;
  const value = account === null ? (field.value?.toString() ?? null) : account.kind;
  const say = (status: RowStatus, reason: string): VerificationRow => ({
    ...createRow(path, status, reason, value),
    stated,
  });
  if (proof === undefined) return say(base, "the response has no proof of it");
  const problem = proof.problems.get(path);
  if (problem !== undefined) return say("wrong", problem);
  const finding = proof.findings.get(path);
  const witness = witnesses.get(proof);
  if (finding === undefined || witness === undefined) {
    return say(base, kind === null ? "no proof exists for it" : "the response has no claim about it");
  }
  if (finding.result === "none") return say(base, finding.reason);
  if (witness.opinion.disputes.length > 0) return say(base, "its block is not on the chain of your nodes");
  const layout = witness.layouts.get(path);
  if (layout === "wrong") return say("wrong", `the token keeps it elsewhere than in ${finding.reason}`);
  const isOpen = finding.result === "layout" && layout !== "right";
  const conditions: Condition[] = [
    ...(witness.isConfirmed ? [] : (["block"] as const)),
    ...(isOpen ? (["layout"] as const) : []),
  ];
  const reason = layout === "right" ? `${finding.reason}, as your nodes execute it` : finding.reason;
  return { ...say(conditions.length === 0 ? "proven" : "proven-if", reason), conditions };
}

function computeCoverage(
  { otherUsd, fields: all }: Report,
  fields: readonly { readonly field: Field; readonly row: VerificationRow }[],
): Coverage {
  const sumOf = (status: RowStatus) =>
    sumUsd(fields.filter(({ row: { status: each } }) => each === status).map(({ field }) => field));
  const [proven, conditional, total] = [sumOf("proven"), sumOf("proven-if"), sumUsd(all) + otherUsd];
  return {
    provenUsd: formatUsd(proven),
    conditionalUsd: formatUsd(conditional),
    totalUsd: formatUsd(total),
    share: formatShare(proven, total),
  };
}

type Judgement = Pick<Verification, "ok" | "summary" | "signer" | "signedAt" | "signatureAgeSeconds">;

/** A signed response need not be a good one: errors are signed too. */
export function judge(
  rows: readonly VerificationRow[],
  seals: Seals | undefined,
  isVouched: boolean,
): Judgement {
  const { signer = null, signedAt = null, ageSeconds = null, rejection = null } = seals ?? {};
  const isWrong = rows.some(({ status }) => status === "wrong");
  return {
    ok: !isWrong && isVouched && rejection === null,
    summary: summarize(rows, rejection, isVouched),
    ...{ signer, signedAt, signatureAgeSeconds: ageSeconds },
  };
}

function summarize(rows: readonly VerificationRow[], rejection: string | null, isVouched: boolean): string {
  const wrong = rows.filter(({ status }) => status === "wrong").length;
  if (wrong > 0) return `Wrong: ${wrong} of ${rows.length} checks failed. Do not use this response.`;
  if (rejection !== null) return `${rejection.charAt(0).toUpperCase()}${rejection.slice(1)}.`;
  if (isVouched) return "Nothing is wrong. Only what is proven does not depend on the service's word.";
  const isOpen = rows.some(({ status }) => status === "proven-if");
  return isOpen
    ? "The proofs fit, but nothing vouches for the blocks: name two nodes, or the hashes of the blocks."
    : "Nothing vouches for this response: it has no proofs, and no signature by a key that you gave.";
}

/** The status of what only the service vouches for. */
export function statusWithoutProof({ signer }: Seals): "signed" | "unknown" {
  return signer === null ? "unknown" : "signed";
}

export function rejectedRow(path: string, error: unknown): VerificationRow {
  // The engine's own limits, of its stack and of the length of a text.
  if (error instanceof RangeError) return createRow(path, "wrong", "It is too large to be checked.");
  if (!(error instanceof Rejection)) throw error;
  return createRow(path, "wrong", error.message);
}

export function sumUsd(fields: readonly Field[]): bigint {
  return fields.reduce((sum, { usd }) => sum + (usd ?? 0n), 0n);
}

function findProof(proofs: readonly ChainProof[], { chain, side }: Field): ChainProof | undefined {
  return proofs.find((proof) => proof.chain === chain && proof.side === side);
}

export function findFinding(proofs: readonly ChainProof[], field: Field): Finding | undefined {
  return findProof(proofs, field)?.findings.get(field.path);
}
