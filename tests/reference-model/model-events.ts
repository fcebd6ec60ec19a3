// Input of the reference model: every event, the time of its block, and contract views after it.

import type { ProtocolContract, ProtocolDeployment } from "@sextant/contracts/deploy/deployment";
import type { RpcRequestFunction } from "@sextant/contracts/deploy/rpc-request";
import { PROTOCOL_ABIS } from "@sextant/contracts/interface/protocol-abis";
import { type DecodedProtocolEvent, readEvents } from "@sextant/simulator/read-events";
import { type Abi, createPublicClient, custom, type Hex } from "viem";

export type ModelEvent = DecodedProtocolEvent & {
  /** Unix seconds of the block. */
  readonly timestamp: bigint;
  /** The result of a contract view at the end of the block, if the event leaves something out. */
  readonly view: Readonly<Record<string, unknown>>;
};

type EventView = { readonly view: string; readonly args: readonly string[] };

/** The views that complete an event, and the event arguments they take. */
const EVENT_VIEWS: Readonly<Record<string, EventView>> = {
  "AgentRegistry.AgentRegistered": { view: "getAgent", args: ["agentId"] },
  "IntentBook.IntentSubmitted": { view: "getIntent", args: ["intentId"] },
  "AttestationRegistry.AttestationSubmitted": { view: "getAttestation", args: ["id"] },
  "PolicyModule.SpendRecorded": { view: "getSpendLimit", args: ["account", "token"] },
  "PolicyModule.SignedPaymentRecorded": {
    view: "getPaymentPolicy",
    args: ["account", "merchant", "token", "facilitator"],
  },
};

/** Reads events from a block on, by default from the first one of the deployment. */
export async function readModelEvents(
  request: RpcRequestFunction,
  deployment: ProtocolDeployment,
  fromBlock = deployment.startBlock,
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
    const view = EVENT_VIEWS[`${event.contract}.${event.event}`];
    if (!view) return {};
    return (await client.readContract({
      address: deployment.contracts[event.contract as ProtocolContract],
      abi: PROTOCOL_ABIS[event.contract] as Abi,
      functionName: view.view,
      args: view.args.map((name) => event.args[name]),
      blockNumber: BigInt(event.block),
    })) as Readonly<Record<string, unknown>>;
  };
  const events: ModelEvent[] = [];
  for (const event of await readEvents(request, deployment, fromBlock)) {
    events.push({ ...event, timestamp: await timeOf(event.block), view: await viewOf(event) });
  }
  return events;
}
