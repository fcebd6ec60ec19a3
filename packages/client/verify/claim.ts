// Checks one claim: what the tries show must be the value that the response has at its path.
import type { Hex } from "viem";
import { keccak256, numberToHex } from "viem/utils";
import { type BlockHeader, formatTime } from "./header.ts";
import { findKnownLayouts } from "./known-layouts.ts";
import {
  computeSlot,
  describeLayout,
  isPlausible,
  LAYOUT_RULES,
  type Layout,
  type LayoutRule,
  maskOf,
  sameLayout,
} from "./layout.ts";
import { Rejection } from "./rejection.ts";
import { type Field, PERMIT2, type Report } from "./report.ts";
import { type AccountState, EMPTY_CODE_HASH, readAccount, readWord } from "./state.ts";
import {
  ADDRESS,
  BYTES,
  type JsonObject,
  memberOf,
  requireClosed,
  requireHex,
  requireMatch,
  WORD,
} from "./strict-json.ts";
import type { TrieNodes } from "./trie.ts";

/** A word that holds a token's number only if its layout is right, and the call by which a node can tell. */
export type LayoutProbe = {
  readonly token: Hex;
  readonly slot: Hex;
  readonly word: bigint;
  readonly mask: bigint;
  readonly selector: Hex;
  readonly arguments: readonly Hex[];
};

/** `none`: the claim proves nothing and says why. */
export type Finding = {
  readonly result: "proven" | "layout" | "none";
  readonly reason: string;
  readonly probe: LayoutProbe | null;
};

type Context = {
  readonly report: Pick<Report, "wallet">;
  readonly header: BlockHeader | null;
  readonly trie: TrieNodes;
  readonly chainId: string;
};

const NONE = ["path", "kind", "reason"];
const STORAGE = ["path", "kind", "account", "layout", "slot"];

/** Throws a Rejection for a claim that does not hold. */
export function checkClaim(claim: JsonObject, field: Field, context: Context): Finding {
  const kind = memberOf(claim, "kind");
  if (kind === "none") {
    const { reason } = requireClosed(claim, "The claim", NONE);
    const why = requireMatch(reason, "The reason of the claim", /^[a-z0-9_]{1,40}$/);
    return { result: "none", reason: `not proven: ${why.replaceAll("_", " ")}`, probe: null };
  }
  const { header, trie } = context;
  if (kind !== field.kind || field.kind === null)
    throw new Rejection("The claim is of another kind than its value.");
  if (header === null) throw new Rejection("The claim has no header to check it by.");
  const address = requireHex(memberOf(claim, "account"), "The account of the claim", ADDRESS);
  if (address !== accountOf(field, context)) throw new Rejection("The claim is about another account.");
  const account = readAccount(trie, header.stateRoot, address);
  if (kind === "native") return checkNumber(claim, field, account.balance, "the balance of the account");
  if (kind === "nonce") return checkNumber(claim, field, account.nonce, "the nonce of the account");
  if (kind === "code") return checkCode(claim, field, account);
  return checkStorage(claim, field, account, context);
}

function accountOf({ kind, contract }: Field, { report }: Context): Hex | null {
  if (kind === "native" || kind === "code" || kind === "nonce") return report.wallet;
  return kind === "permit2" ? PERMIT2 : contract;
}

function checkNumber(claim: JsonObject, { value }: Field, shown: bigint, reason: string): Finding {
  requireClosed(claim, "The claim", ["path", "kind", "account"]);
  requireSame(shown, value);
  return { result: "proven", reason, probe: null };
}

const DELEGATION = /^0xef0100([0-9a-f]{40})$/;

/** Only an absent code and a delegation decide the kind by themselves. */
function checkCode(claim: JsonObject, { account: stated }: Field, { codeHash }: AccountState): Finding {
  requireClosed(claim, "The claim", ["path", "kind", "account", "code"]);
  const given = memberOf(claim, "code");
  const code = given === null ? null : requireHex(given, "The code of the claim", BYTES);
  if (code === "0x" || (code === null ? EMPTY_CODE_HASH : keccak256(code)) !== codeHash) {
    throw new Rejection("The account has other code.");
  }
  const delegate = DELEGATION.exec(code ?? "")?.[1];
  const kind = code === null ? "eoa" : delegate === undefined ? null : "delegated";
  if (kind === null && stated?.kind !== "eoa" && stated?.kind !== "delegated") {
    return {
      result: "none",
      reason: `the code with the hash ${codeHash} is proven, the kind is not`,
      probe: null,
    };
  }
  if (stated?.kind !== kind) throw new Rejection("The code is that of another kind of account.");
  if (delegate !== undefined && stated.delegate !== `0x${delegate}`) {
    throw new Rejection("The account runs the code of another delegate.");
  }
  return {
    result: "proven",
    reason: code === null ? "the account has no code" : "the code of the account",
    probe: null,
  };
}

function checkStorage(claim: JsonObject, field: Field, account: AccountState, context: Context): Finding {
  const { path, kind, contract, value } = field;
  requireClosed(claim, "The claim", STORAGE);
  const layout = readLayout(memberOf(claim, "layout"));
  if (kind === "owner" && layout.rule === "solady") throw new Rejection("The layout has no owners.");
  const given = listKeys(field, context.report.wallet);
  const slot = computeSlot(layout, given);
  if (requireHex(memberOf(claim, "slot"), "The slot of the claim", WORD) !== slot) {
    throw new Rejection("The slot does not follow from its layout.");
  }
  if (context.header === null || contract === null) throw new TypeError(`${path} has no storage.`);
  const word = readWord(context.trie, account.storageRoot, slot);
  const mask = maskOf(layout);
  requireSame(word & mask, value);
  const place = describeLayout(layout);
  if (kind === "permit2") {
    checkPermit2(layout, word, field);
    return { result: "proven", reason: `Permit2, ${place}`, probe: null };
  }
  const known = kind === "owner" ? null : findKnownLayouts(context.chainId, contract);
  const expected = kind === "allowance" ? known?.allowance : known?.balance;
  if (expected !== undefined && !sameLayout(expected, layout)) {
    throw new Rejection("The token is known to keep the value elsewhere.");
  }
  if (expected !== undefined) return { result: "proven", reason: `known layout: ${place}`, probe: null };
  const selector = SELECTORS[kind ?? "erc20"] ?? BALANCE_OF;
  const probe: LayoutProbe = { token: contract, slot, word, mask, selector, arguments: given };
  return { result: "layout", reason: place, probe };
}

/** The keys of the mapping, the outer one first. */
function listKeys({ kind, contract, spender, tokenId }: Field, wallet: Hex): readonly Hex[] {
  if (kind === "owner") return [numberToHex(tokenId ?? 0n, { size: 32 })];
  const keys = [wallet, kind === "permit2" ? contract : null, kind === "erc20" ? null : spender];
  return keys.filter((key) => key !== null);
}

const BALANCE_OF: Hex = "0x70a08231";
const SELECTORS: Readonly<Partial<Record<string, Hex>>> = { allowance: "0xdd62ed3e", owner: "0x6352211e" };

const PERMIT2_ALLOWANCES: Layout = { rule: "solidity", position: "0x1", bits: "0-159" };
const AMOUNT_BITS = 160n;
const EXPIRY_MASK = 2n ** 48n - 1n;

/** One word: amount, expiration, nonce. Of zero nothing can be taken, whenever that ends. */
function checkPermit2(layout: Layout, word: bigint, { value, expiresAt }: Field): void {
  if (!sameLayout(layout, PERMIT2_ALLOWANCES)) throw new Rejection("Permit2 keeps allowances elsewhere.");
  if (value === 0n) return;
  if (formatTime((word >> AMOUNT_BITS) & EXPIRY_MASK) !== expiresAt) {
    throw new Rejection("The allowance expires at another time.");
  }
}

const POSITION = /^0x(?:0|[1-9a-f][0-9a-f]{0,63})$/;
/** All that tokens have. A part with fewer bits could hold any small amount. */
const BITS = /^0-(?:255|254|159|127|95)$/;

function readLayout(value: unknown): Layout {
  const layout = requireClosed(value, "The layout of the claim", ["rule", "position", "bits"]);
  const rule = memberOf(layout, "rule");
  if (!LAYOUT_RULES.includes(rule as LayoutRule)) throw new Rejection("The layout has an unknown rule.");
  const position = requireHex(memberOf(layout, "position"), "The position of the layout", POSITION);
  const bits = requireMatch(memberOf(layout, "bits"), "The bits of the layout", BITS);
  const read: Layout = { rule: rule as LayoutRule, position, bits };
  if (!isPlausible(read)) throw new Rejection("The layout has a position that no token uses.");
  return read;
}

function requireSame(shown: bigint, stated: bigint | null): void {
  if (shown !== stated) throw new Rejection(`The proof shows ${shown}, and the response says ${stated}.`);
}
