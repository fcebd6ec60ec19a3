// Finds where a token keeps an allowance of zero: executes it while every candidate's slot holds a word of its own.
import { contractCall } from "../../chain/contract-calls.ts";
import type { Rpc, RpcCall } from "../../chain/rpc/types.ts";
import { createSignatureCodec } from "../../lib/abi/codec.ts";
import type { Hex } from "../../lib/hex.ts";
import { type Layout, listCandidates, type MappingKeys, slotOf } from "./layouts.ts";

type EmptySearch = { readonly token: Hex; readonly keys: AllowanceKeys };
type AllowanceKeys = Extract<MappingKeys, { readonly of: "allowance" }>;

const allowance = createSignatureCodec("function allowance(address, address)");
/** An allowance behind two proxies takes 20,000. */
const GAS_MAX = 200_000;
const WORD_LENGTH = 66;
/** "sextant": no token returns it by chance. The candidate's number is in the two bytes behind it. */
const MARK = 0x73657874616e74n << 16n;
const TOP_BIT = 255;

/**
 * In the order of the searches, one call for each. Null if the token returns none of the words, or the node changes no
 * state. Nothing here is proof: a node can name any slot that is empty, so that no layout found here is remembered.
 */
export async function executeLayouts(
  node: Rpc,
  searches: readonly EmptySearch[],
  block: number,
  signal: AbortSignal,
): Promise<readonly (Layout | null)[]> {
  if (searches.length === 0) return [];
  const candidates = listCandidates("allowance");
  const calls = searches.map(({ token, keys }) => {
    const slots = candidates.map((candidate) => slotOf(candidate, keys));
    return markedCall({ token, slots, data: allowance.encodeCall([keys.owner, keys.spender]), block });
  });
  const results = await node.batch(calls, { signal });
  return results.map((result) => {
    const word = "ok" in result && result.ok.length === WORD_LENGTH ? BigInt(result.ok) : 0n;
    const candidate = candidates[Number(word - MARK)];
    return candidate === undefined ? null : { ...candidate, topBit: TOP_BIT };
  });
}

type MarkedCall = {
  readonly token: Hex;
  readonly slots: readonly Hex[];
  readonly data: Hex;
  readonly block: number;
};

function markedCall({ token, slots, data, block }: MarkedCall): RpcCall<Hex> {
  const stateDiff = Object.fromEntries(
    slots.map((slot, index): [Hex, Hex] => [
      slot,
      `0x${(MARK + BigInt(index)).toString(16).padStart(64, "0")}`,
    ]),
  );
  const call = contractCall({ to: token, data, block, gasMax: GAS_MAX });
  return { ...call, params: [...call.params, { [token]: { stateDiff } }] };
}
