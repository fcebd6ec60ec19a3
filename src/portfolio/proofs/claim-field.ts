// Turns a field into a claim, if the proven state has exactly what the field says; otherwise into the reason why not.
import { keccak256 } from "viem";
import type { ProvenState } from "../../chain/proofs/proven-state.ts";
import { EMPTY_CODE_HASH } from "../../chain/proofs/trie.ts";
import type { Hex } from "../../lib/hex.ts";
import type { ProofClaim } from "../../schema/portfolio/proofs.ts";
import { PERMIT2 } from "../exposure/revocations.ts";
import { formatUnixSeconds } from "../valuation/usd.ts";
import { type Layout, PERMIT2_LAYOUT, permit2Slot, readBits, readPermit2Expiry, slotOf } from "./layouts.ts";
import { keysOf, type MappingField, nameOf, type TokenMapping } from "./mappings.ts";
import type { ProvableField } from "./provable-fields.ts";

export type ClaimContext = {
  readonly wallet: Hex;
  readonly state: ProvenState;
  /** Null if it could not be read. */
  readonly walletCode: Hex | null;
  readonly mappings: ReadonlyMap<string, TokenMapping>;
};

/** A claim with the hashes of its nodes. */
export type ProvenField = {
  readonly claim: ProofClaim;
  readonly path: readonly Hex[];
  /** For a claim of one: the response has it from here. */
  readonly nonce?: bigint;
};

export function proveField(context: ClaimContext, field: ProvableField): ProvenField {
  switch (field.kind) {
    case "native":
      return claimBalance(context, field);
    case "nonce":
      return claimNonce(context, field);
    case "code":
      return claimCode(context, field);
    case "permit2":
      return claimPermit2(context, field);
    case "unprovable":
      return unprovenField(field, field.reason);
    default:
      return claimMapping(context, field);
  }
}

export function unprovenField({ path }: Pick<ProvableField, "path">, reason: string): ProvenField {
  return { claim: { path, kind: "none", reason }, path: [] };
}

function claimBalance({ wallet, state }: ClaimContext, field: FieldOf<"native">): ProvenField {
  const found = state.accountOf(wallet);
  if (found === null) return unprovenField(field, "node_refused");
  if (found.account.balance !== field.value) return unprovenField(field, "mismatch");
  return { claim: { path: field.path, kind: "native", account: wallet }, path: found.path };
}

function claimNonce({ wallet, state }: ClaimContext, { path }: FieldOf<"nonce">): ProvenField {
  const found = state.accountOf(wallet);
  if (found === null) return unprovenField({ path }, "node_refused");
  const { nonce } = found.account;
  return { claim: { path, kind: "nonce", account: wallet }, path: found.path, nonce };
}

type FieldOf<Kind> = Extract<ProvableField, { readonly kind: Kind }>;

function claimCode({ wallet, state, walletCode }: ClaimContext, field: FieldOf<"code">): ProvenField {
  if (field.accountKind === null) return unprovenField(field, "unknown");
  const found = state.accountOf(wallet);
  if (found === null || walletCode === null) return unprovenField(field, "node_refused");
  const hash = walletCode === "0x" ? EMPTY_CODE_HASH : keccak256(walletCode);
  if (hash !== found.account.codeHash) return unprovenField(field, "node_refused");
  if (!isKindOf(walletCode, field)) return unprovenField(field, "mismatch");
  const code = walletCode === "0x" ? null : walletCode;
  return { claim: { path: field.path, kind: "code", account: wallet, code }, path: found.path };
}

const DELEGATION = /^0xef0100([0-9a-f]{40})$/;

/** The kinds that the code alone decides. */
function isKindOf(code: Hex, { accountKind, delegate }: FieldOf<"code">): boolean {
  if (code === "0x") return accountKind === "eoa";
  const target = DELEGATION.exec(code)?.[1];
  if (target !== undefined) return accountKind === "delegated" && delegate === `0x${target}`;
  return accountKind !== "eoa" && accountKind !== "delegated";
}

function claimMapping({ wallet, state, mappings }: ClaimContext, field: MappingField): ProvenField {
  const layout = mappings.get(nameOf(field))?.layout ?? "no_layout";
  if (typeof layout === "string") return unprovenField(field, layout);
  const slot = slotOf(layout, keysOf(wallet, field));
  const found = state.wordOf(field.token, slot);
  if (found === null) return unprovenField(field, "node_refused");
  if (readBits(found.word, layout.topBit) !== field.value) return unprovenField(field, "mismatch");
  const { path, kind, token: account } = field;
  return { claim: { path, kind, account, layout: describeLayout(layout), slot }, path: found.path };
}

function claimPermit2({ wallet, state }: ClaimContext, field: FieldOf<"permit2">): ProvenField {
  const slot = permit2Slot({ owner: wallet, token: field.token, spender: field.spender });
  const found = state.wordOf(PERMIT2, slot);
  if (found === null) return unprovenField(field, "node_refused");
  // Nothing can be taken of zero, whenever that ends.
  const isSame =
    readBits(found.word, PERMIT2_LAYOUT.topBit) === field.value &&
    (field.value === 0n || formatUnixSeconds(Number(readPermit2Expiry(found.word))) === field.expiresAt);
  if (!isSame) return unprovenField(field, "mismatch");
  const layout = describeLayout(PERMIT2_LAYOUT);
  return { claim: { path: field.path, kind: "permit2", account: PERMIT2, layout, slot }, path: found.path };
}

function describeLayout({ rule, position, topBit }: Layout): NonNullable<ProofClaim["layout"]> {
  return { rule, position: `0x${position.toString(16)}`, bits: `0-${topBit}` };
}
