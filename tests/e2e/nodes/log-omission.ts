// A node that leaves some logs out of every response, always the same ones, as if they had never been written.
import { keccak256 } from "viem";
import type { Hex } from "../../../src/lib/hex.ts";
import type { NodeFault } from "./node-fault.ts";

export type LogOmission = { readonly fault: NodeFault; omit(omitting: boolean): void };

type Log = { readonly blockHash: Hex; readonly topics: readonly Hex[] };

// One in so many: often enough for the shortest run, seldom enough that most responses are whole.
const OMITTED_OF = 20n;

/**
 * Decided by the block and the event alone, so that every response about them leaves out the same. All logs of the event
 * in that block go together: a bloom shows that an event is missing, and not that one of two is.
 */
function isOmitted({ blockHash, topics: [event = "0x"] }: Log): boolean {
  return BigInt(keccak256(`${blockHash}${event.slice(2)}`)) % OMITTED_OF === 0n;
}

export function createLogOmission(options: { readonly onFault: () => void }): LogOmission {
  let on = false;
  return {
    async fault(method, params, next) {
      const honest = await next(method, params);
      if (!on || method !== "eth_getLogs" || !Array.isArray(honest)) return honest;
      const remaining = (honest as Log[]).filter((log) => !isOmitted(log));
      if (remaining.length < honest.length) options.onFault();
      return remaining;
    },
    omit: (omitting) => {
      on = omitting;
    },
  };
}
