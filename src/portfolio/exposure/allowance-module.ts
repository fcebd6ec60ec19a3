// What the delegates of a Safe's Allowance Module may still take, as the module says at the pinned block.
import {
  decodeAddressArray,
  decodeWordArray,
  decodeWords,
  wordToAddress,
} from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { createCallEncoder } from "../multicall.ts";
import type { WalletQuery } from "../types.ts";
import { revocations } from "./revocations.ts";
import type { LivePermission } from "./types.ts";
import { NATIVE_COIN } from "./value-at-risk.ts";

// Each view takes a few thousand for every entry of its list.
const VIEW_GAS_MAX = 500_000;
// Of delegates of one module, and of tokens of one delegate: more is unheard of.
const LIST_MAX = 50;
/** Amount and what is spent of it, after a reset that is due; then the times of resets, and a nonce. */
const LIMIT_WORDS = 5;

const views = {
  delegates: createCallEncoder("function getDelegates(address, uint48, uint8)"),
  tokens: createCallEncoder("function getTokens(address, address)"),
  limit: createCallEncoder("function getTokenAllowance(address, address, address)"),
};

/** Null when the limits could not be read in full. The zero address stands for the native coin. */
export async function readModuleAllowances(
  { at, wallet }: WalletQuery,
  module: Hex,
  signal: AbortSignal,
): Promise<readonly LivePermission[] | null> {
  const [page] = await at.read([views.delegates(module, [wallet, 0, LIST_MAX], VIEW_GAS_MAX)], signal);
  const delegates = decodeDelegates(page);
  if (delegates === null || delegates.length === LIST_MAX) return null;
  const lists = await at.read(
    delegates.map((delegate) => views.tokens(module, [wallet, delegate], VIEW_GAS_MAX)),
    signal,
  );
  const tokens = lists.map((list) => decodeTokens(list));
  if (tokens.includes(null)) return null;
  const pairs = delegates.flatMap((delegate, i) => (tokens[i] ?? []).map((token) => ({ delegate, token })));
  const limits = await at.read(
    pairs.map(({ delegate, token }) => views.limit(module, [wallet, delegate, token], VIEW_GAS_MAX)),
    signal,
  );
  const words = limits.map((limit) => decodeWords(limit, LIMIT_WORDS));
  if (words.includes(null)) return null;
  return pairs.flatMap(({ delegate, token }, i): readonly LivePermission[] => {
    const [amount = 0n, spent = 0n] = words[i] ?? [];
    if (amount <= spent) return [];
    return [
      {
        ...{ kind: "module-allowance", contract: token, spender: delegate, via: module },
        ...{ rawAllowance: amount - spent, tokenId: null, expiresAt: null, controlsAll: false },
        revoke: revocations.moduleAllowance(wallet, module, delegate, token),
      },
    ];
  });
}

const HEAD_DIGITS = 2 + 64 * 2;

/** The list begins after its offset and the place of the next page. */
function decodeDelegates(data: Hex | null | undefined): readonly Hex[] | null {
  const offset = "20".padStart(64, "0");
  return data && data.length > HEAD_DIGITS
    ? decodeAddressArray(`0x${offset}${data.slice(HEAD_DIGITS)}`, LIST_MAX)
    : null;
}

/** Unlike a list of accounts it may contain the zero address. */
function decodeTokens(data: Hex | null | undefined): readonly Hex[] | null {
  const items = decodeWordArray(data, LIST_MAX);
  const tokens = items?.map((item) => (item === 0n ? NATIVE_COIN : wordToAddress(item)));
  const known = tokens?.filter((token) => token !== null) ?? [];
  return known.length === items?.length ? known : null;
}
