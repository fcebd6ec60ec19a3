// The x402 library over our nodes: it verifies payments and decides what to send; our own queue sends it.
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { x402Facilitator } from "@x402/core/facilitator";
import type { PaymentPayload, PaymentRequirements, SettleResponse, VerifyResponse } from "@x402/core/types";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import type { Abi, PublicClient } from "viem";
import { encodeForeignCall } from "../../lib/abi/foreign-call.ts";
import type { Caip2Network } from "../../lib/caip2.ts";
import type { Hex } from "../../lib/hex.ts";
import {
  EXPIRED_ON_CHAIN,
  NOT_VALID_YET_ON_CHAIN,
  SIMULATION_FAILED,
  TRANSACTION_FAILED,
} from "../rejection-reasons.ts";
import type { FeeLimits } from "./broadcast/fees.ts";
import type { BroadcastQueue } from "./broadcast/queue.ts";
import type { PaymentFacilitator } from "./facilitator.ts";
import type { OperationTracker, SendHooks } from "./operation-tracker.ts";

type TransferScheme = {
  verify(payload: PaymentPayload, terms: PaymentRequirements): Promise<VerifyResponse>;
  /** Verifies, sends and waits for a block. */
  broadcast(payload: PaymentPayload, terms: PaymentRequirements, hooks: SendHooks): Promise<SettleResponse>;
  getSupported: PaymentFacilitator["getSupported"];
};

type TransferSchemeOptions = {
  readonly network: Caip2Network;
  readonly address: Hex;
  readonly client: PublicClient;
  readonly queue: BroadcastQueue;
  readonly tracker: OperationTracker;
  readonly limitsFor: (amount: bigint, gas: bigint) => Promise<FeeLimits>;
  readonly confirmationMs: number;
};

// A transfer by signature takes about 90,000. A contract account may use more to check its signature, at our cost:
// without a limit it could burn the gas of a whole block for a payment of a cent.
const GAS_MAX = 300_000n;
// State may change between estimate and mining: the first transfer to an account costs more than the next, and after a
// reorg the next may be the first again. Unused gas costs nothing.
const GAS_MARGIN = 50_000n;
/** The gas limit of the costliest transfer that is sent. */
export const TRANSFER_GAS_LIMIT_MAX = GAS_MAX + GAS_MARGIN;
/** The gas limit of a transfer from an account with a plain key. */
export const TRANSFER_GAS_LIMIT = 90_000n + GAS_MARGIN;

// The library's ABI has no errors; with these a revert of the token has a name.
const TOKEN_ERRORS = usdCoinAbi.filter(({ type }) => type === "error");
// Of transferWithAuthorization(from, to, value, …).
const VALUE_ARGUMENT = 2;

type Write = Parameters<Parameters<typeof toFacilitatorEvmSigner>[0]["writeContract"]>[0];

export function createTransferScheme(options: TransferSchemeOptions): TransferScheme {
  const { network, tracker } = options;
  const scheme = new ExactEvmScheme(signerOf(options), {
    eip6492AllowedFactories: [],
    // Disabled: it is keyed by signature alone, and a contract account may sign two payments alike.
    pendingSettlementStore: {
      get: async () => undefined,
      set: async () => undefined,
      delete: async () => undefined,
    },
  });
  const facilitator = new x402Facilitator().register(network, scheme);
  return {
    verify: (payload, terms) =>
      tracker.run({ accepts: ({ isValid }) => isValid, hooks: null }, async () => {
        const verdict = await facilitator.verify(payload, terms);
        if (verdict.isValid || verdict.invalidReason !== SIMULATION_FAILED) return verdict;
        return { ...verdict, invalidReason: await nameSimulationFailure(options, payload) };
      }),
    broadcast: (payload, terms, hooks) =>
      tracker.run(
        { accepts: ({ success, transaction }) => success || transaction !== "", hooks },
        async () => {
          const result = await facilitator.settle(payload, terms);
          // The library has one code for a revert on chain and one in simulation; only we know which it was.
          const isUnsent = result.errorReason === TRANSACTION_FAILED && !tracker.hasSent();
          const isSimulated = isUnsent || result.errorReason === SIMULATION_FAILED;
          if (!isSimulated) return result;
          return { ...result, errorReason: await nameSimulationFailure(options, payload) };
        },
      ),
    getSupported: async () =>
      facilitator.getSupported() as Awaited<ReturnType<PaymentFacilitator["getSupported"]>>,
  };
}

/**
 * Why a simulation failed whose signature, balance and nonce the library found in order. It compares the times of the
 * payment with our clock; the token compares them with the chain's, which may be behind or ahead.
 */
async function nameSimulationFailure(
  { client, tracker }: TransferSchemeOptions,
  { payload }: PaymentPayload,
): Promise<string> {
  const { timestamp } = await tracker.track(client.getBlock({ blockTag: "latest" }));
  const { validAfter, validBefore } = payload.authorization as { validAfter: string; validBefore: string };
  if (timestamp <= BigInt(validAfter)) return NOT_VALID_YET_ON_CHAIN;
  if (timestamp >= BigInt(validBefore)) return EXPIRED_ON_CHAIN;
  return SIMULATION_FAILED;
}

function signerOf({ address, client, queue, tracker, limitsFor, confirmationMs }: TransferSchemeOptions) {
  const { track } = tracker;

  const writeContract = async ({ address: to, abi, functionName, args }: Write) => {
    const call = { abi: [...abi, ...TOKEN_ERRORS] as Abi, functionName, args };
    const estimate = await track(client.estimateContractGas({ ...call, account: address, address: to }));
    // The library recognises an invalid signature by this wording.
    if (estimate > GAS_MAX) throw new Error(`invalid signature: checking it would take ${estimate} gas`);
    const gas = estimate + GAS_MARGIN;
    const limits = await track(limitsFor(BigInt(String(args[VALUE_ARGUMENT])), gas));
    const hooks = tracker.markSending();
    if (hooks === null) throw new Error("a transfer is sent only while a payment is settled");
    const { beforeSend, onRejected } = hooks;
    const data = encodeForeignCall(call);
    // The simulation has passed: a node that rejects the transaction says nothing about the payment.
    return track(
      queue.send({ to, data, gas, limits, beforeSend: (hash) => beforeSend(hash, gas), onRejected }),
    );
  };

  return toFacilitatorEvmSigner(
    {
      address,
      readContract: (args) => track(client.readContract(args as Parameters<PublicClient["readContract"]>[0])),
      verifyTypedData: (args) =>
        track(client.verifyTypedData(args as Parameters<PublicClient["verifyTypedData"]>[0])),
      // Never rejects: the library does not await one of its reads, and its failure would go unnoticed.
      getCode: (args) =>
        client.getCode(args).catch((error: unknown) => {
          tracker.recordFailure(error);
          return undefined;
        }),
      writeContract,
      // The library uses it only to deploy a payer's account from a factory, which payers do themselves.
      sendTransaction: () => Promise.reject(new Error("the facilitator sends transfers only")),
      // Another transaction of ours with the same account nonce carries out another payment: it is no replacement.
      waitForTransactionReceipt: (args) =>
        client.waitForTransactionReceipt({ ...args, checkReplacement: false }),
    },
    { confirmationTimeoutMs: confirmationMs },
  );
}
