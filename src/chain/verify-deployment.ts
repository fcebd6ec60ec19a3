// The check before indexing: every provider serves the right chain and has the contracts.
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import { RpcError } from "./rpc/errors.ts";
import { readData, readQuantity } from "./rpc/hex-values.ts";
import { type PinnedRpc, type Rpc, type RpcCallOptions, unwrapResults } from "./rpc/types.ts";

type ExpectedDeployment = {
  readonly chainId: number;
  readonly contracts: Readonly<Record<string, Hex>>;
};

/**
 * Throws CHAIN_MISMATCH when any provider that responds is on another chain or lacks a contract, and the provider's
 * own failure when none responds.
 */
export async function verifyDeployment(
  rpc: Rpc,
  deployment: ExpectedDeployment,
  options: RpcCallOptions = {},
): Promise<{ readonly verified: readonly string[]; readonly unreachable: readonly string[] }> {
  const hosts = rpc.providers().map(({ host }) => host);
  // A fallback that is down must not delay the start; a single provider may just be starting, too.
  const retries = hosts.length > 1 ? { attemptsMax: 2 } : {};
  const failures = await Promise.all(
    hosts.map(async (_, index): Promise<RpcError | null> => {
      try {
        await rpc.pinned((node) => verifyNode(node, deployment, options), {
          ...options,
          ...retries,
          only: index,
        });
        return null;
      } catch (error) {
        if (!(error instanceof RpcError) || error.kind === "wrong-chain") throw error;
        return error;
      }
    }),
  );
  const [failure] = failures;
  if (failure && !failures.includes(null)) throw failure;
  return {
    verified: hosts.filter((_, i) => failures[i] === null),
    unreachable: hosts.filter((_, i) => failures[i] !== null),
  };
}

async function verifyNode(
  node: PinnedRpc,
  { chainId, contracts }: ExpectedDeployment,
  options: RpcCallOptions,
): Promise<void> {
  const parse = (id: unknown) => readQuantity(id, "the chain id");
  const found = await node.request({ method: "eth_chainId", params: [], parse }, options);
  if (found !== chainId) {
    const message = `The node at ${node.host} serves chain ${found}, but the deployment is on chain ${chainId}.`;
    throw new Fault("CHAIN_MISMATCH", message);
  }
  const calls = Object.entries(contracts).map(([name, address]) => ({
    method: "eth_getCode",
    params: [address, "latest"],
    parse: (code: unknown) => ({ name, address, code: readData(code, "the code of a contract") }),
  }));
  for (const { name, address, code } of unwrapResults(await node.batch(calls, options))) {
    if (code === "0x") {
      const message = `The node at ${node.host} has no code for ${name} at ${address} on chain ${chainId}.`;
      throw new Fault("CHAIN_MISMATCH", message);
    }
  }
}
