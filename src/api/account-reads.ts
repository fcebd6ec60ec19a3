// What a signature check asks of the chain about an account, over the JSON-RPC client.

import { RpcError } from "../chain/rpc/errors.ts";
import { readData } from "../chain/rpc/hex-values.ts";
import type { Rpc } from "../chain/rpc/types.ts";
import { Fault } from "../lib/fault.ts";
import type { AccountReader } from "./writes/verify-signature.ts";

// Several signers and a passkey verified in Solidity stay below it; a contract that burns more is not worth waiting for.
const GAS_MAX = "0x4c4b40";
// A person waits for the answer; nodes that need longer count as unreachable.
const READ_MS_MAX = 10_000;

export function createAccountReads(rpc: Rpc): AccountReader {
  return {
    readCode: (account) =>
      reading(() =>
        rpc.request(
          {
            method: "eth_getCode",
            params: [account, "latest"],
            parse: (code) => readData(code, "the code of an account"),
          },
          { signal: AbortSignal.timeout(READ_MS_MAX) },
        ),
      ),
    call: (to, data) =>
      reading(async () => {
        const call = {
          method: "eth_call",
          params: [{ to, data, gas: GAS_MAX }, "latest"],
          parse: (result: unknown) => readData(result, "the result of an account"),
        };
        const [result] = await rpc.batch([call], { signal: AbortSignal.timeout(READ_MS_MAX) });
        if ("ok" in result) return result.ok;
        if (result.error.kind === "reverted") return null;
        throw result.error;
      }),
  };
}

/** No address of a node is known, so no signature can be checked. */
export const unavailableAccountReads: AccountReader = {
  readCode: async () => {
    throw new Fault("NODE_UNAVAILABLE", "Signatures can not be checked: this server has no node (RPC_URL).");
  },
  call: async () => null,
};

/** Whatever the node's trouble is, the writer can only try again: it says nothing about the signature. */
async function reading<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof RpcError) && !isTimeout(cause)) throw cause;
    throw new Fault("NODE_UNAVAILABLE", "The signature can not be checked now: no node answers.", { cause });
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TimeoutError";
}
