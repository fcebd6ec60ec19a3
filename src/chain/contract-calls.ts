// Contract calls, read in batches at the block they belong to.
import type { Hex } from "../lib/hex.ts";
import { readData, toQuantity } from "./rpc/hex-values.ts";
import type { Rpc, RpcCall, RpcCallOptions } from "./rpc/types.ts";

type ContractCall = {
  readonly to: Hex;
  readonly data: Hex;
  /** By hash where a reorg could put another block under the number (EIP-1898). */
  readonly block: number | { readonly blockHash: Hex };
  /** For contracts that anyone may have deployed: without a limit one of them can keep a node busy for seconds. */
  readonly gasMax?: number;
  /** Code at the address for this call only (a state override, which not every node supports). */
  readonly codeOverride?: Hex;
};

/** The call to one contract; for callers that put it into a batch of their own. */
export function contractCall({ to, data, block, gasMax, codeOverride }: ContractCall): RpcCall<Hex> {
  return {
    method: "eth_call",
    params: [
      gasMax === undefined ? { to, data } : { to, data, gas: toQuantity(gasMax) },
      typeof block === "number" ? toQuantity(block) : block,
      ...(codeOverride === undefined ? [] : [{ [to]: { code: codeOverride } }]),
    ],
    parse: (result) => readData(result, "the result of a call"),
  };
}

/** A revert is a result of the contract, not a failure of the node; the data is null where the node drops it. */
export type ContractCallResult = { readonly ok: Hex } | { readonly reverted: Hex | null };

/** Results in the order of the calls; throws any failure but a revert. */
export async function callContracts(
  rpc: Rpc,
  calls: readonly ContractCall[],
  options: RpcCallOptions = {},
): Promise<ContractCallResult[]> {
  const results = await rpc.batch(calls.map(contractCall), options);
  return results.map((result) => {
    if ("ok" in result) return result;
    if (result.error.kind === "reverted") return { reverted: result.error.revertData };
    throw result.error;
  });
}
