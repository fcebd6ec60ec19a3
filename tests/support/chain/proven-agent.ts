// A record of the index with its proofs, as the API sends it: an agent of a registry that is put on a chain of the test.
import { agentRegistryAbi, agentRegistryRuntimeBytecode } from "@sextant/contracts/generated/agent-registry";
import type { LocalChain } from "@sextant/local-chain/local-chain";
import { encodeFunctionData } from "viem";
import { openRecordProver } from "../../../src/api/proofs/record-prover.ts";
import type { Hex } from "../../../src/lib/hex.ts";
import { Secret } from "../../../src/lib/secret.ts";
import type { Deployment } from "../../../src/protocol/deployment.ts";
import { silentLog } from "../quiet-log.ts";

export const AGENT_REGISTRY: Hex = `0x${"a9".repeat(20)}`;

export async function readProvenAgent(chain: LocalChain, chainId: number): Promise<Record<string, unknown>> {
  await chain.setCode(AGENT_REGISTRY, agentRegistryRuntimeBytecode);
  const owner = chain.accounts.owner.address.toLowerCase();
  const args = ["ipfs://agent", "0x1234", `0x${"ab".repeat(32)}`] as const;
  const data = encodeFunctionData({ abi: agentRegistryAbi, functionName: "registerAgent", args });
  const call = { from: owner, to: AGENT_REGISTRY, data, gas: "0x4c4b40" };
  const txHash = (await chain.request("eth_sendTransaction", [call])) as string;
  const newest = (await chain.request("eth_getBlockByNumber", ["latest", false])) as Record<string, Hex>;
  const block = BigInt(newest.number ?? 0);
  const record = {
    ...{ agent_id: "1", owner, metadata_uri: args[0], pubkey: args[1], capabilities_hash: args[2] },
    ...{ revoked: false, block_number: block.toString() },
  };
  const deployment = { chainId, contracts: { AgentRegistry: AGENT_REGISTRY } as Deployment["contracts"] };
  const urls = [new Secret(chain.rpcUrl)];
  const { prove, close } = openRecordProver({ deployment, urls, onCall: null }, silentLog);
  try {
    const head = { number: block, hash: newest.hash ?? "0x" };
    const origin = { block, blockHash: head.hash, txHash };
    const proofs = await prove({ operationId: "getAgent", record, origin, block, head, client: "127.0.0.1" });
    return { ...record, proofs };
  } finally {
    close();
  }
}
