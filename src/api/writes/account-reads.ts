// Account reads for signature verification, over JSON-RPC.
import { RpcError } from "../../chain/rpc/errors.ts";
import { readData } from "../../chain/rpc/hex-values.ts";
import type { Rpc } from "../../chain/rpc/types.ts";
import { Fault } from "../../lib/fault.ts";
import type { AccountReader } from "./verify-signature.ts";

// Enough for several signers and a passkey verified in Solidity.
const GAS_MAX = "0x4c4b40";
// A person waits for the response; a slower node counts as unreachable.
const READ_MS_MAX = 10_000;

export function createAccountReads(rpc: Rpc): AccountReader {
  return {
    readCode: (account) =>
      mapNodeErrors(() =>
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
      mapNodeErrors(async () => {
        const call = {
          method: "eth_call",
          params: [{ to, data, gas: GAS_MAX }, "latest"],
          parse: (result: unknown) => readData(result, "the return data of an account"),
        };
        const [result] = await rpc.batch([call], { signal: AbortSignal.timeout(READ_MS_MAX) });
        if ("ok" in result) return result.ok;
        if (result.error.kind === "reverted") return null;
        throw result.error;
      }),
  };
}

/** For a server without a node: no signature can be verified. */
export const unavailableAccountReads: AccountReader = {
  readCode: async () => {
    throw new Fault("NODE_UNAVAILABLE", "Signatures cannot be verified: this server has no node (RPC_URL).");
  },
  call: async () => null,
};

/** Any node failure is retryable for the author: it proves nothing about the signature. */
async function mapNodeErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof RpcError) && !isTimeout(cause)) throw cause;
    throw new Fault("NODE_UNAVAILABLE", "The signature cannot be verified now: no node responds.", { cause });
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TimeoutError";
}
