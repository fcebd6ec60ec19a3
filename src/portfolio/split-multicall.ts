// Reads of many contracts that anyone may have deployed, for nodes without state overrides: groups that fail are split.

import { decodeAggregate3, encodeAggregate3, MULTICALL3 } from "../chain/aggregate3.ts";
import { decodeFirstWord } from "../lib/abi/return-data.ts";
import { splitIntoChunks } from "../lib/chunks.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import type { CallResults } from "./multicall.ts";
import type { ContractRead, PinnedChain } from "./types.ts";

// About 6 million gas with ordinary tokens, a fifth of what every node allows a call.
const GROUP_CALLS_MAX = 500;
const CALL_GAS_MAX = 30_000_000;
// 500, 63, 8, single: the calls of a round share one request, so more parts are faster than more rounds.
const SPLIT_PARTS = 8;
const SINGLE_CALLS_BELOW = 8;
// The cost of a call before the contract gets any gas: 21,000 and its calldata.
const INTRINSIC_GAS = 25_000;

type SplitReads = {
  readonly calls: readonly Pick<ContractRead, "to" | "data">[];
  /** A call that needs more fails. */
  readonly gasPerCall: number;
};

/** In the order of the calls; null for one that failed or returned less than a word. */
export async function readBySplitMulticall(
  at: PinnedChain,
  { calls, gasPerCall }: SplitReads,
  signal: AbortSignal,
): Promise<CallResults> {
  const results: (Hex | null)[] = calls.map(() => null);
  const singles: number[] = [];
  let groups = splitIntoChunks([...calls.keys()], GROUP_CALLS_MAX);
  const callsOf = (group: readonly number[]) => group.flatMap((index) => calls[index] ?? []);
  /** The calls without a result. */
  const store = (group: readonly number[], returned: CallResults) =>
    group.filter((index, i) => {
      const result = returned[i] ?? null;
      if (decodeFirstWord(result) === null) return true;
      results[index] = result;
      return false;
    });
  while (groups.length > 0) {
    const returned = await at.read(
      groups.map((group) => ({
        to: MULTICALL3,
        data: encodeAggregate3(callsOf(group)),
        // The sum of its calls' limits: smaller groups of gas burners then cost the node less in every round.
        gasMax: Math.min(CALL_GAS_MAX, INTRINSIC_GAS + group.length * gasPerCall),
      })),
      signal,
    );
    const failedGroups: (readonly number[])[] = [];
    for (const [i, group] of groups.entries()) {
      const returnData = returned[i] ?? null;
      // A gas burner may leave an honest contract in its group with too little gas, so failed calls are retried alone.
      if (returnData !== null) singles.push(...store(group, decodeOrThrow(at, returnData, group.length)));
      else if (group.length <= SINGLE_CALLS_BELOW) singles.push(...group);
      else failedGroups.push(...splitIntoChunks(group, Math.ceil(group.length / SPLIT_PARTS)));
    }
    groups = failedGroups;
  }
  const gasMax = INTRINSIC_GAS + gasPerCall;
  store(
    singles,
    await at.read(
      callsOf(singles).map((call) => ({ ...call, gasMax })),
      signal,
    ),
  );
  return results;
}

function decodeOrThrow(at: PinnedChain, returnData: Hex, count: number): CallResults {
  // A call to an account without code succeeds with empty return data.
  if (returnData === "0x") {
    const message = `The node of ${at.chain.name} does not support state overrides, and Multicall3 is not deployed there.`;
    throw new Fault("NODE_REFUSED", message);
  }
  const results = decodeAggregate3(returnData, count);
  if (results !== null) return results;
  throw new Fault("NODE_UNAVAILABLE", "A node returned invalid data for Multicall3.");
}
