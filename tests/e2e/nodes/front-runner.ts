// A stranger who sees transactions before they are mined and carries out the payments in them first, from an account of his own.
import { type Hex, parseTransaction } from "viem";
import type { SubmittedPayments } from "../chains/submitted-payments.ts";
import { authorizationNonceOf } from "../chains/submitted-payments.ts";
import type { NodeFault, NodeRequest } from "./node-fault.ts";

export type FrontRunner = {
  readonly fault: NodeFault;
  /** Which share of the payments he carries out from now on. */
  run(share: number): void;
};

type FrontRunnerOptions = {
  readonly chain: NodeRequest;
  readonly account: Hex;
  readonly asset: Hex;
  readonly random: () => number;
  readonly carried: SubmittedPayments;
  readonly onFault: () => void;
};

// What a transfer by signature takes, and plenty beside it.
const GAS = "0x493e0";

export function createFrontRunner(options: FrontRunnerOptions): FrontRunner {
  const { chain, account, asset, random, carried, onFault } = options;
  let share = 0;

  async function carryOut(data: Hex, nonce: Hex): Promise<void> {
    const hash = (await chain("eth_sendTransaction", [{ from: account, to: asset, data, gas: GAS }])) as Hex;
    carried.record(hash, nonce);
    const receipt = (await chain("eth_getTransactionReceipt", [hash])) as { status: string } | null;
    if (receipt?.status === "0x1") onFault();
  }

  return {
    async fault(method, params, next) {
      if (method !== "eth_sendRawTransaction") return next(method, params);
      const { to, data } = parseTransaction(params[0] as Hex);
      const nonce = to?.toLowerCase() === asset && data ? authorizationNonceOf(data) : null;
      if (data && nonce !== null && random() < share) await carryOut(data, nonce);
      return next(method, params);
    },
    run: (next) => {
      share = next;
    },
  };
}
