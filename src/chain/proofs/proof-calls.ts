// The calls that proofs are made of. Nodes may send anything: whatever does not lead to the state root is dropped later.
import type { Hex } from "../../lib/hex.ts";
import { isJsonObject } from "../../lib/json.ts";
import { readData, toQuantity } from "../rpc/hex-values.ts";
import type { RpcCall } from "../rpc/types.ts";
import { isNodeText } from "./trie.ts";

// Tries of real chains are nine levels deep; keys have 64 digits, so that no proof has more nodes.
const DEPTH_MAX = 65;

/** All nodes of a response, of whichever trie; a malformed one has none, and says nothing against the node's other calls. */
export function proofCall(account: Hex, slots: readonly Hex[], block: number): RpcCall<readonly Hex[]> {
  return {
    method: "eth_getProof",
    params: [account, slots, toQuantity(block)],
    parse: (result) => {
      if (!isJsonObject(result)) return [];
      const { accountProof, storageProof } = result;
      const words = Array.isArray(storageProof) ? storageProof.slice(0, slots.length) : [];
      const proofs = [accountProof, ...words.map((word) => (isJsonObject(word) ? word.proof : []))];
      return proofs.flatMap((proof) =>
        Array.isArray(proof) ? proof.slice(0, DEPTH_MAX).map(toLowerCase).filter(isNodeText) : [],
      );
    },
  };
}

function toLowerCase(text: unknown): unknown {
  return typeof text === "string" ? text.toLowerCase() : text;
}

export function codeCall(account: Hex, block: number): RpcCall<Hex> {
  return {
    method: "eth_getCode",
    params: [account, toQuantity(block)],
    parse: (code) => readData(code, "the code"),
  };
}
