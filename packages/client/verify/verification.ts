// Describes what a check of a response found: a row for each value, what it depends on, and whether a program may act on it.
import type { Side } from "./report.ts";

/**
 * `proven`: shown by the state of a block that the reader's nodes have, or that the reader knows. `proven-if`: shown, if
 * the conditions hold. `signed`: only the service's word. `unknown`: no word that counts.
 */
export type RowStatus = "proven" | "proven-if" | "signed" | "unknown" | "wrong";

/**
 * `block`: the block is on the chain. `layout`: the token keeps the value in the slot that the service names, or the
 * contract its records as the published code does. `contract`: it is the one that you mean.
 */
export type Condition = "block" | "layout" | "contract";

export type VerificationRow = {
  /** A JSON pointer into the response, or `signature`, `receipt`, `status` or `file`. */
  readonly path: string;
  /** The subject of the proof: the raw amount, or the kind of account. */
  readonly value: string | null;
  /** The same as the service writes it, with decimals and a symbol that no proof covers, and of an allowance its spender. */
  readonly stated: string | null;
  readonly status: RowStatus;
  readonly conditions: readonly Condition[];
  readonly reason: string;
  /** The time of a signature or of a receipt. */
  readonly signedAt?: string | null;
  /** Seconds since then; negative if your clock is behind. */
  readonly ageSeconds?: number;
};

export type VerifiedBlock = {
  readonly chain: string;
  readonly chainId: string;
  readonly side: Side;
  readonly number: string;
  readonly hash: string;
  /** The time of its header. */
  readonly timestamp: string | null;
  /** Seconds since then; negative if your clock is behind. */
  readonly ageSeconds: number;
  /** How many of the reader's nodes have it. */
  readonly nodes: number;
};

export type Coverage = {
  /** The value of the amounts that are proven without a condition. */
  readonly provenUsd: string;
  /** The value of those that are proven under a condition. */
  readonly conditionalUsd: string;
  readonly totalUsd: string;
  /** provenUsd / totalUsd, rounded down; null if nothing has a value. */
  readonly share: string | null;
};

/** The kind, such as `quote`, and the id: a program compares both with what it asked for. */
export type ProvenRecord = { readonly kind: string; readonly id: string };

export type Verification = {
  /** Nothing is wrong, the status is one of success, and something is proven, or signed with a key of the reader. */
  readonly ok: boolean;
  readonly summary: string;
  readonly kind: "snapshot" | "exposure" | "diff" | "record" | null;
  /** Null for anything but a record of the index with proofs. */
  readonly record: ProvenRecord | null;
  readonly wallet: string | null;
  /** The id of the key that signed the response, if it is one of the reader's. */
  readonly signer: string | null;
  /** When that key signed it; null for a response that it has not signed. */
  readonly signedAt: string | null;
  /** Seconds since then; negative if your clock is behind. */
  readonly signatureAgeSeconds: number | null;
  readonly blocks: readonly VerifiedBlock[];
  readonly rows: readonly VerificationRow[];
  /** Computed from the rows; null for a response without values. */
  readonly coverage: Coverage | null;
};

/**
 * Throws unless the value at the path is proven without a condition, and nothing of the response is wrong. Call it for
 * every value that a payment depends on.
 */
export function requireProven({ ok, rows, summary }: Verification, path: string): void {
  const row = rows.find((each) => each.path === path);
  if (!ok) throw new Error(`The response must not be used: ${summary}`);
  if (row === undefined) throw new Error(`The response has no value at ${path}.`);
  if (row.status !== "proven") {
    throw new Error(`The value at ${path} is not proven: it is ${describeStatus(row)} (${row.reason}).`);
  }
}

/** The status as people read it. */
export function describeStatus({
  status,
  conditions,
}: Pick<VerificationRow, "status" | "conditions">): string {
  if (status === "signed") return "signed only";
  if (status !== "proven-if") return status;
  const names = conditions.map((condition) => CONDITIONS[condition]);
  return `proven if ${names.join(" and ")}`;
}

const CONDITIONS: Readonly<Record<Condition, string>> = {
  block: "the block is real",
  layout: "the layout is right",
  contract: "the contract is yours",
};

export function createRow(
  path: string,
  status: RowStatus,
  reason: string,
  value: string | null = null,
): VerificationRow {
  return { path, value, stated: null, status, conditions: [], reason };
}
