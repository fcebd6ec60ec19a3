// A node that names fees which no transfer is worth.
import type { NodeFault } from "./node-fault.ts";

export type ExcessiveFees = { readonly fault: NodeFault; name(absurd: boolean): void };

// A transfer by signature takes some 90,000 gas: at this price about 90 ETH.
const ABSURD = 10n ** 15n;
const ABSURD_TEXT = `0x${ABSURD.toString(16)}`;

export function createExcessiveFees(options: { readonly onFault: () => void }): ExcessiveFees {
  let on = false;
  return {
    async fault(method, params, next) {
      const honest = await next(method, params);
      if (!on) return honest;
      if (method === "eth_maxPriorityFeePerGas" || method === "eth_gasPrice") {
        options.onFault();
        return ABSURD_TEXT;
      }
      if (method !== "eth_feeHistory" || honest === null) return honest;
      options.onFault();
      const { reward = [] } = honest as { reward?: readonly (readonly string[])[] };
      return { ...honest, reward: reward.map((block) => block.map(() => ABSURD_TEXT)) };
    },
    name: (absurd) => {
      on = absurd;
    },
  };
}
