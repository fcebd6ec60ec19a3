// The mappings behind the amounts of one response: each a token's balances or allowances, with its layout once that is known.

import type { ProvenState } from "../../chain/proofs/proven-state.ts";
import type { Hex } from "../../lib/hex.ts";
import type { LayoutMemory, UnknownLayout } from "./layout-memory.ts";
import { type Layout, type MappingKeys, readBits, slotOf } from "./layouts.ts";
import type { ProvableField } from "./provable-fields.ts";

/** A field whose word lies in a mapping of the token. */
export type MappingField = Extract<ProvableField, { readonly kind: "erc20" | "allowance" | "owner" }>;

export type TokenMapping = {
  readonly chainId: number;
  readonly wallet: Hex;
  readonly token: Hex;
  readonly of: MappingKeys["of"];
  readonly fields: readonly MappingField[];
  /** Null until it is looked for. */
  layout: Layout | UnknownLayout | null;
  /** The code with which a remembered layout was found. */
  codeHash: Hex | null;
};

function isMappingField(field: ProvableField): field is MappingField {
  return field.kind === "erc20" || field.kind === "allowance" || field.kind === "owner";
}

export function groupMappings(
  fields: readonly ProvableField[],
  {
    chainId,
    wallet,
    memory,
  }: { readonly chainId: number; readonly wallet: Hex; readonly memory: LayoutMemory },
): readonly TokenMapping[] {
  const groups = new Map<string, MappingField[]>();
  for (const field of fields.filter(isMappingField)) {
    const own = groups.get(nameOf(field)) ?? [];
    groups.set(nameOf(field), [...own, field]);
  }
  return [...groups.values()].flatMap((own) => {
    const [field] = own;
    if (field === undefined) return [];
    const { of } = keysOf(wallet, field);
    const name = { chainId, wallet, token: field.token, of };
    const known = memory.findLayout(name);
    const layout = known?.layout ?? memory.findFailure(name);
    return [{ ...name, fields: own, layout, codeHash: known?.codeHash ?? null }];
  });
}

export function nameOf({ token, kind }: MappingField): string {
  return `${token} ${kind}`;
}

/** The layout; null if there is none, or none yet. */
function layoutOf({ layout }: TokenMapping): Layout | null {
  return typeof layout === "string" ? null : layout;
}

/** A field above zero, whose word can show the layout; zero is the word of every slot without a value. */
export function findTeacher({ fields }: TokenMapping): MappingField | undefined {
  return fields.find(({ value }) => value > 0n);
}

export function keysOf(wallet: Hex, field: MappingField): MappingKeys {
  if (field.kind === "owner") return { of: "owner", tokenId: field.tokenId };
  return field.kind === "erc20"
    ? { of: "balance", holder: wallet }
    : { of: "allowance", owner: wallet, spender: field.spender };
}

export function slotsOf(mapping: TokenMapping): readonly Hex[] {
  const layout = layoutOf(mapping);
  return layout === null ? [] : mapping.fields.map((field) => slotOf(layout, keysOf(mapping.wallet, field)));
}

/** A layout that other code was found with, or that does not show this amount, must be found again. */
export function dropStaleLayout(mapping: TokenMapping, memory: LayoutMemory, state: ProvenState): void {
  const layout = layoutOf(mapping);
  if (layout === null) return;
  const account = state.accountOf(mapping.token);
  // No proof of this token could be had: nothing is known about it, and nothing can be proven.
  if (account === null) return;
  const isSame = account.account.codeHash === mapping.codeHash;
  if (isSame && isShown(mapping, layout, state)) return;
  mapping.layout = isSame ? memory.findFailure(mapping) : null;
  mapping.codeHash = null;
}

/** Keeps a layout that a proof has confirmed, or that this wallet shows none. */
export function rememberLayout(mapping: TokenMapping, memory: LayoutMemory, state: ProvenState): void {
  const { layout, codeHash } = mapping;
  if (layout === null || codeHash !== null) return;
  if (typeof layout === "string") {
    memory.keepFailure(mapping, layout);
    return;
  }
  const account = state.accountOf(mapping.token);
  if (account === null || findTeacher(mapping) === undefined || !isShown(mapping, layout, state)) return;
  memory.keepLayout(mapping, { layout, codeHash: account.account.codeHash });
}

function isShown(mapping: TokenMapping, layout: Layout, state: ProvenState): boolean {
  const teacher = findTeacher(mapping);
  if (teacher === undefined) return true;
  const found = state.wordOf(mapping.token, slotOf(layout, keysOf(mapping.wallet, teacher)));
  return found !== null && readBits(found.word, layout.topBit) === teacher.value;
}
