// Trust signals: what anybody reports about a merchant, a service, a facilitator or an agent.

import { commerceRegistryAbi } from "@sextant/contracts/generated/commerce-registry";
import { encodeFunctionData, type Hex } from "viem";
import { decodeReceiptEvent } from "../receipt-events.ts";
import type { Actor, World } from "../world.ts";

/** The subjects of a signal, in the order of the protocol's numbers. */
export const SIGNAL_SUBJECTS = ["merchant", "service", "facilitator", "agent"] as const;

/** The statements of a signal, in the order of the protocol's numbers. */
export const SIGNAL_KINDS = ["verification", "risk", "compliance", "fulfillment"] as const;

export async function recordTrustSignal(
  world: World,
  reporter: Actor,
  subject: { readonly type: (typeof SIGNAL_SUBJECTS)[number]; readonly id: bigint },
  kind: (typeof SIGNAL_KINDS)[number],
  signalHash: Hex,
): Promise<bigint> {
  const to = world.contracts.CommerceRegistry;
  const data = encodeFunctionData({
    abi: commerceRegistryAbi,
    functionName: "recordTrustSignal",
    args: [SIGNAL_SUBJECTS.indexOf(subject.type), subject.id, SIGNAL_KINDS.indexOf(kind), signalHash],
  });
  return decodeReceiptEvent(await reporter.send({ to, data }), to, commerceRegistryAbi, "TrustSignalRecorded")
    .signalId;
}
