// A third party that sees transactions before they are mined and carries out their payments first, from its own account.
import { type Hex, parseTransaction } from "viem";
import { authorizationNonceOf, type SubmittedPayments } from "../chains/submitted-payments.ts";
import type { NodeFault, NodeRequest } from "./node-fault.ts";

export type FrontRunner = {
  readonly fault: NodeFault;
  /** Sets the share of the payments that it carries out from now on. */
  run(share: number): void;
  /** Carries out a payment that he has from elsewhere: false if the token rejects it. */
  carryOut(data: Hex, nonce: Hex): Promise<boolean>;
};

type FrontRunnerOptions = {
  readonly chain: NodeRequest;
  readonly account: Hex;
  readonly asset: Hex;
  readonly random: () => number;
  readonly carried: SubmittedPayments;
  readonly onFault: () => void;
};

// More gas than a transfer by signature takes.
const GAS = "0x493e0";

export function createFrontRunner(options: FrontRunnerOptions): FrontRunner {
  const { chain, account, asset, random, carried, onFault } = options;
  let share = 0;
  let carriedOut = 0;

  async function carryOut(data: Hex, nonce: Hex): Promise<boolean> {
    const hash = (await chain("eth_sendTransaction", [{ from: account, to: asset, data, gas: GAS }])) as Hex;
    carried.record(hash, nonce);
    const receipt = (await chain("eth_getTransactionReceipt", [hash])) as { status: string } | null;
    return receipt?.status === "0x1";
  }

  return {
    async fault(method, params, next) {
      if (method !== "eth_sendRawTransaction") return next(method, params);
      const { to, data } = parseTransaction(params[0] as Hex);
      const nonce = to?.toLowerCase() === asset && data ? authorizationNonceOf(data) : null;
      // The first one for certain: a run goes on until there was one.
      const isDue = share > 0 && (carriedOut === 0 || random() < share);
      if (data && nonce !== null && isDue && (await carryOut(data, nonce))) {
        carriedOut += 1;
        onFault();
      }
      return next(method, params);
    },
    carryOut,
    run: (next) => {
      share = next;
    },
  };
}
