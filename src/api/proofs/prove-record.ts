// Proves one record by one node: reads header, code and proofs, and believes none of it unchecked.

import { keccak256 } from "viem";
import { canonicalHeaderCall, readBlockTime, wholeHeaderCall } from "../../chain/headers.ts";
import { encodeCheckedHeader } from "../../chain/proofs/header.ts";
import { codeCall, proofCall } from "../../chain/proofs/proof-calls.ts";
import { ProvenState } from "../../chain/proofs/proven-state.ts";
import type { PinnedRpc } from "../../chain/rpc/types.ts";
import type { Hex } from "../../lib/hex.ts";
import type { RecordProofs } from "../../schema/reads/record-proofs.ts";
import { hasImmutables, hasKnownCode } from "./contract-storage.ts";
import { proveLogs } from "./prove-logs.ts";
import { claimField, listFurtherSlots, type ProvenClaim, withoutProof } from "./prove-storage.ts";
import type { ProvenReceipts, RecordEventOrigin } from "./proven-receipts.ts";
import { type LocatedField, locateFields, type RecordBody, type RecordDeclaration } from "./record-fields.ts";

export type RecordQuery = {
  readonly declaration: RecordDeclaration;
  readonly record: RecordBody;
  readonly contract: Hex;
  readonly chainId: number;
  readonly origin: RecordEventOrigin;
  /** The block that the record was read at; the hash of the head only is known. */
  readonly block: number;
  /** The newest block of the index: the node must have it. */
  readonly head: { readonly number: number; readonly hash: Hex };
};

/** Why nothing could be proven. */
export type ProofFailure = "no_node" | "no_proofs" | "node_refused" | "header" | "block" | "late";

export type ProvenRecord = Pick<RecordProofs, "block" | "header" | "nodes" | "claims" | "logs"> & {
  readonly code: Hex | null;
};

// The length of all nodes together, in characters: four times what a record with long texts takes on a large chain.
const CHARS_MAX = 512 * 1024;

/** A failure if another node may do better. */
export async function proveOnNode(
  node: PinnedRpc,
  query: RecordQuery,
  receipts: ProvenReceipts,
  signal: AbortSignal,
): Promise<ProvenRecord | ProofFailure> {
  const { declaration, record, contract, block } = query;
  const fields = locateFields(declaration, record);
  const slots = new Set(fields.flatMap(({ members }) => members.map(({ slot }) => slot)));
  const opened = await openState(node, query, [...slots], signal);
  if (typeof opened === "string") return opened;
  const { state, timestamp, isKnown, code, header } = opened;
  const further = listFurtherSlots(fields, { state, contract });
  if (further.length > 0) {
    const [proof] = await node.batch([proofCall(contract, further, block)], { signal });
    if ("ok" in proof) state.addNodes(proof.ok);
  }
  const context = { state, contract, timestamp, record };
  const { logs, claims: shown } = await proveLogs(node, query, receipts, signal);
  const claims = orderClaims(query, [...shown, ...proveFields(fields, context, isKnown)]);
  // The account is shown in any case: its code decides about the layout, also if nothing is stored that could be shown.
  const account = state.accountOf(contract)?.path ?? [];
  return { ...header, code, ...collectNodes(claims, state, account), logs };
}

type OpenedState = {
  readonly state: ProvenState;
  readonly timestamp: bigint;
  readonly isKnown: boolean;
  /** Only for code that its hash does not identify. */
  readonly code: Hex | null;
  readonly header: Pick<RecordProofs, "block" | "header">;
};

async function openState(
  node: PinnedRpc,
  { declaration, contract, block, head }: RecordQuery,
  slots: readonly Hex[],
  signal: AbortSignal,
): Promise<OpenedState | ProofFailure> {
  const isHead = block === head.number;
  const [header, canonical, proof, code] = await node.batch(
    [
      wholeHeaderCall(isHead ? head.hash : block),
      // A node on another fork would show another state, which says nothing about the index.
      canonicalHeaderCall(head.number, head.hash),
      proofCall(contract, slots, block),
      codeCall(contract, block),
    ],
    { signal },
  );
  if ("error" in header || "error" in canonical) return "block";
  if ("error" in proof || "error" in code) return "no_proofs";
  const hash = header.ok.hash as Hex;
  const checked = encodeCheckedHeader(header.ok, hash);
  if (checked === null) return "header";
  const state = new ProvenState(checked.stateRoot);
  state.addNodes(proof.ok);
  const found = state.accountOf(contract);
  if (found === null || found.account.codeHash !== keccak256(code.ok)) return "node_refused";
  const timestamp = readBlockTime(header.ok.timestamp);
  const isKnown = hasKnownCode(declaration.contract, code.ok);
  return {
    state,
    timestamp: BigInt(timestamp),
    isKnown,
    code: isKnown && hasImmutables(declaration.contract) ? code.ok : null,
    header: {
      block: { number: String(block), hash, timestamp: new Date(timestamp * 1_000).toISOString() },
      header: checked.rlp,
    },
  };
}

/** Under other code the layout is a guess, which only counts if every word fits. */
function proveFields(
  fields: readonly LocatedField[],
  context: Parameters<typeof claimField>[0],
  isKnown: boolean,
): readonly ProvenClaim[] {
  const claims = fields.map((field) => claimField(context, field));
  // The first is the id: without it, zeros of a record that does not exist would be proven.
  const [{ claim: id } = withoutProof("", "node_refused")] = claims;
  if (id.kind === "none") return claims.map(({ claim }) => withoutProof(claim.path, "node_refused"));
  const isOther = ({ claim }: ProvenClaim) => claim.kind === "mismatch" || claim.reason === "no_layout";
  if (isKnown || !claims.some(isOther)) return claims;
  return claims.map(({ claim }) => withoutProof(claim.path, "no_layout"));
}

/** A claim or a reason for each member of the response, in its order. */
function orderClaims(
  { declaration, record }: Pick<RecordQuery, "declaration" | "record">,
  proven: readonly ProvenClaim[],
): readonly ProvenClaim[] {
  // Claims of storage come last, and so before an event: a fill that is null needs none.
  const byPath = new Map(proven.map((each) => [each.claim.path, each]));
  return listPaths(record).map((path) => {
    const other = declaration.others[path.slice(1)];
    return byPath.get(path) ?? withoutProof(path, other ?? "event");
  });
}

/** Members of the response; of its fill and its requirements each member of theirs. */
export function listPaths(record: RecordBody): readonly string[] {
  return Object.entries(record).flatMap(([name, value]) =>
    NESTED.has(name) && typeof value === "object" && value !== null
      ? Object.keys(value).map((member) => `/${name}/${member}`)
      : [`/${name}`],
  );
}

const NESTED = new Set(["fill", "requirements"]);

/** The nodes that the claims need, each once. Claims that no longer fit lose theirs. */
function collectNodes(
  proven: readonly ProvenClaim[],
  state: ProvenState,
  account: readonly Hex[],
): Pick<RecordProofs, "nodes" | "claims"> {
  const nodes = new Map<Hex, Hex>();
  const listNew = (path: readonly Hex[]) =>
    path.flatMap((hash) => {
      const node = nodes.has(hash) ? undefined : state.nodeOf(hash);
      return node === undefined ? [] : [[hash, node] as const];
    });
  for (const [hash, node] of listNew(account)) nodes.set(hash, node);
  let left = CHARS_MAX;
  const claims = proven.map(({ claim, path }) => {
    const added = listNew(path);
    const size = added.reduce((sum, [, node]) => sum + node.length, 0);
    if (size > left) return withoutProof(claim.path, "too_long").claim;
    left -= size;
    for (const [hash, node] of added) nodes.set(hash, node);
    return claim;
  });
  return { nodes: [...nodes.values()], claims };
}
