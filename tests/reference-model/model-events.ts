// The chain's own account for the model: every event, the time of its block, and what contracts say after it.

import type { ProtocolContract, ProtocolDeployment } from "@sextant/contracts/deploy/deployment";
import type { RpcRequestFunction } from "@sextant/contracts/deploy/rpc-request";
import { PROTOCOL_ABIS } from "@sextant/contracts/interface/protocol-abis";
import { type DecodedProtocolEvent, readEvents } from "@sextant/simulator/read-events";
import { type Abi, createPublicClient, custom, type Hex } from "viem";

export type ModelEvent = DecodedProtocolEvent & {
  /** Unix seconds of the block. */
  readonly timestamp: bigint;
  /** What a view of the contract says at the end of the block, where the event does not say enough. */
  readonly view: Readonly<Record<string, unknown>>;
};

type Question = { readonly view: string; readonly args: readonly string[] };

/** The views that complete an event, and which of its arguments they take. */
const QUESTIONS: Readonly<Record<string, Question>> = {
  "AgentRegistry.AgentRegistered": { view: "getAgent", args: ["agentId"] },
  "IntentBook.IntentSubmitted": { view: "getIntent", args: ["intentId"] },
  "AttestationRegistry.AttestationSubmitted": { view: "getAttestation", args: ["id"] },
  "PolicyModule.SpendRecorded": { view: "getSpendLimit", args: ["account", "token"] },
  "PolicyModule.SignedPaymentRecorded": {
    view: "getPaymentPolicy",
    args: ["account", "merchant", "token", "facilitator"],
  },
};

export async function readModelEvents(
  request: RpcRequestFunction,
  deployment: ProtocolDeployment,
): Promise<ModelEvent[]> {
  const client = createPublicClient({
    transport: custom({ request: ({ method, params }) => request(method, params) }, { retryCount: 0 }),
  });
  const times = new Map<number, bigint>();
  const timeOf = async (block: number): Promise<bigint> => {
    const known = times.get(block);
    if (known !== undefined) return known;
    const { timestamp } = (await request("eth_getBlockByNumber", [`0x${block.toString(16)}`, false])) as {
      timestamp: Hex;
    };
    times.set(block, BigInt(timestamp));
    return BigInt(timestamp);
  };
  const viewOf = async (event: DecodedProtocolEvent): Promise<Readonly<Record<string, unknown>>> => {
    const question = QUESTIONS[`${event.contract}.${event.event}`];
    if (!question) return {};
    return (await client.readContract({
      address: deployment.contracts[event.contract as ProtocolContract],
      abi: PROTOCOL_ABIS[event.contract] as Abi,
      functionName: question.view,
      args: question.args.map((name) => event.args[name]),
      blockNumber: BigInt(event.block),
    })) as Readonly<Record<string, unknown>>;
  };
  const told: ModelEvent[] = [];
  for (const event of await readEvents(request, deployment)) {
    told.push({ ...event, timestamp: await timeOf(event.block), view: await viewOf(event) });
  }
  return told;
}
