// The calls that find where a token keeps its amounts: words of storage, read one by one or by code in the contract's place.
import { contractCall } from "../../chain/contract-calls.ts";
import { readBigQuantity, toQuantity } from "../../chain/rpc/hex-values.ts";
import type { RpcCall } from "../../chain/rpc/types.ts";
import type { Hex } from "../../lib/hex.ts";

/**
 * PUSH1 0; JUMPDEST; DUP1 CALLDATASIZE GT PUSH1 13 JUMPI; CALLDATASIZE PUSH1 0 RETURN; JUMPDEST; DUP1 CALLDATALOAD SLOAD
 * DUP2 MSTORE; PUSH1 32 ADD PUSH1 2 JUMP: returns the word of each slot in the calldata.
 */
const WORD_READER: Hex = "0x60005b803611600d57366000f35b8035548152602001600256";
const GAS_PER_WORD = 2_500;
const GAS_BASE = 100_000;
const WORD_LENGTH = 64;

/** Words of a contract's storage in one call, by code in its place, which not every node supports. */
export function wordsByOverrideCall(
  contract: Hex,
  slots: readonly Hex[],
  block: number,
): RpcCall<readonly bigint[]> {
  const data: Hex = `0x${slots.map((slot) => slot.slice(2)).join("")}`;
  const gasMax = GAS_BASE + slots.length * (GAS_PER_WORD + 16 * 32);
  const { parse, ...call } = contractCall({ to: contract, data, block, gasMax, codeOverride: WORD_READER });
  return {
    ...call,
    parse: (result) => {
      const words = parse(result).slice(2);
      // A node that ignores the code has called the contract itself.
      if (words.length !== slots.length * WORD_LENGTH) return [];
      return slots.map((_, index) =>
        BigInt(`0x${words.slice(index * WORD_LENGTH, (index + 1) * WORD_LENGTH)}`),
      );
    },
  };
}

export function wordCall(contract: Hex, slot: Hex, block: number): RpcCall<bigint> {
  return {
    method: "eth_getStorageAt",
    params: [contract, slot, toQuantity(block)],
    parse: (word) => readBigQuantity(word, "the word in storage"),
  };
}
