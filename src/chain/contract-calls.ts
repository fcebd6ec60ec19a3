// Transactions and contract calls, read in batches at the block they belong to.
import type { Hex } from "../lib/hex.ts";
import { malformedResponse, missingResult } from "./rpc/errors.ts";
import { readAddress, readData, readHash, readObject, readQuantity, toQuantity } from "./rpc/hex-values.ts";
import { type Rpc, type RpcCall, type RpcCallOptions, unwrapResults } from "./rpc/types.ts";

export type Transaction = {
  readonly from: Hex;
  /** Null for a deployment. */
  readonly to: Hex | null;
  readonly input: Hex;
  readonly blockHash: Hex;
  readonly blockNumber: number;
};

/** Mined transactions by hash; throws BLOCK_MISSING, which may be retried, when a node lacks one. */
export async function readTransactions(
  rpc: Rpc,
  hashes: readonly Hex[],
  options: RpcCallOptions = {},
): Promise<Map<Hex, Transaction>> {
  const distinct = [...new Set(hashes.map((hash) => hash.toLowerCase() as Hex))];
  const found = unwrapResults(await rpc.batch(distinct.map(transactionCall), options));
  return new Map(found.map((transaction, i) => [distinct[i] as Hex, transaction]));
}

function transactionCall(hash: Hex): RpcCall<Transaction> {
  return {
    method: "eth_getTransactionByHash",
    params: [hash],
    parse: (answer) => {
      if (answer === null) throw missingResult(`transaction ${hash} is not there`);
      const fields = readObject(answer, "the transaction");
      if (readHash(fields.hash, "the transaction hash") !== hash) {
        throw malformedResponse(`asked for transaction ${hash}, the answer is another one`);
      }
      if (fields.blockHash === null) throw missingResult(`transaction ${hash} is not in a block`);
      return {
        from: readAddress(fields.from, "the sender"),
        to: fields.to === null || fields.to === undefined ? null : readAddress(fields.to, "the receiver"),
        input: readData(fields.input ?? fields.data, "the calldata"),
        blockHash: readHash(fields.blockHash, "the block hash of a transaction"),
        blockNumber: readQuantity(fields.blockNumber, "the block number of a transaction"),
      };
    },
  };
}

export type ContractCall = {
  readonly to: Hex;
  readonly data: Hex;
  /** By hash where a reorg could slip another block under the number (EIP-1898). */
  readonly block: number | { readonly blockHash: Hex };
  /** For contracts that anyone may have deployed: without a limit one of them can keep a node busy for seconds. */
  readonly gasMax?: number;
  /** Code that stands at the address for this call only (a state override, which not every node allows). */
  readonly codeOverride?: Hex;
};

/** The call that asks one contract; for callers who put it into a batch of their own. */
export function contractCall({
  to,
  data,
  block,
  gasMax,
  codeOverride: lentCode,
}: ContractCall): RpcCall<Hex> {
  return {
    method: "eth_call",
    params: [
      gasMax === undefined ? { to, data } : { to, data, gas: toQuantity(gasMax) },
      typeof block === "number" ? toQuantity(block) : block,
      ...(lentCode === undefined ? [] : [{ [to]: { code: lentCode } }]),
    ],
    parse: (answer) => readData(answer, "the result of a call"),
  };
}

/** A revert is an answer of the contract, not a failure of the node; the data is null where the node drops it. */
export type ContractCallResult = { readonly ok: Hex } | { readonly reverted: Hex | null };

/** Results in the order of the calls; anything but a revert that can not be had throws. */
export async function callContracts(
  rpc: Rpc,
  calls: readonly ContractCall[],
  options: RpcCallOptions = {},
): Promise<ContractCallResult[]> {
  const answers = await rpc.batch(calls.map(contractCall), options);
  return answers.map((answer) => {
    if ("ok" in answer) return answer;
    if (answer.error.kind === "reverted") return { reverted: answer.error.revertData };
    throw answer.error;
  });
}
