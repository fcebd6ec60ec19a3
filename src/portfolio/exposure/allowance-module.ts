// Reads what the delegates of a Safe's Allowance Module may still take, as the module says at the pinned block.
import { decodeAddressArray, decodeWordArray, wordToAddress } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { readEach, readGroups } from "../contract-reads/read-groups.ts";
import { defineRead, toWords } from "../contract-reads/reads.ts";
import type { WalletQuery } from "../types.ts";
import { revocations } from "./revocations.ts";
import type { LivePermission } from "./types.ts";
import { NATIVE_COIN } from "./value-at-risk.ts";

// Each view takes a few thousand for every entry of its list.
const VIEW_GAS_MAX = 500_000;
// Most delegates of one module, and tokens of one delegate: more is unheard of.
const LIST_MAX = 50;
const views = {
  delegates: defineRead("function getDelegates(address, uint48, uint8)", decodeDelegates, VIEW_GAS_MAX),
  tokens: defineRead("function getTokens(address, address)", decodeTokens, VIEW_GAS_MAX),
  /** Amount and what is spent of it, after a reset that is due; then the times of resets, and a nonce. */
  limit: defineRead("function getTokenAllowance(address, address, address)", toWords(5), VIEW_GAS_MAX),
};

/** Null when the limits could not be read in full. The zero address stands for the native coin. */
export async function readModuleAllowances(
  { at, wallet }: WalletQuery,
  module: Hex,
  signal: AbortSignal,
): Promise<readonly LivePermission[] | null> {
  const delegates = await readGroups(at, signal, views.delegates(module, [wallet, 0, LIST_MAX]));
  if (delegates === null || delegates.length === LIST_MAX) return null;
  const lists = await readEach(at, signal, delegates, (delegate) => views.tokens(module, [wallet, delegate]));
  if (lists.some(([, tokens]) => tokens === null)) return null;
  const pairs = lists.flatMap(([delegate, tokens]) => (tokens ?? []).map((token) => ({ delegate, token })));
  const limits = await readEach(at, signal, pairs, ({ delegate, token }) =>
    views.limit(module, [wallet, delegate, token]),
  );
  if (limits.some(([, words]) => words === null)) return null;
  return limits.flatMap(([{ delegate, token }, words]): readonly LivePermission[] => {
    const [amount = 0n, spent = 0n] = words ?? [];
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
function decodeDelegates(data: Hex | null): readonly Hex[] | null {
  const offset = "20".padStart(64, "0");
  return data && data.length > HEAD_DIGITS
    ? decodeAddressArray(`0x${offset}${data.slice(HEAD_DIGITS)}`, LIST_MAX)
    : null;
}

/** Unlike a list of accounts it may contain the zero address. */
function decodeTokens(data: Hex | null): readonly Hex[] | null {
  const items = decodeWordArray(data, LIST_MAX);
  const tokens = items?.map((item) => (item === 0n ? NATIVE_COIN : wordToAddress(item)));
  const known = tokens?.filter((token) => token !== null) ?? [];
  return known.length === items?.length ? known : null;
}
