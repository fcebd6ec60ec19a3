// The x402 library over our nodes: it checks payments and says what to send, our own queue sends it.
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { x402Facilitator } from "@x402/core/facilitator";
import type { PaymentPayload, PaymentRequirements, SettleResponse, VerifyResponse } from "@x402/core/types";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { type Abi, encodeFunctionData, type PublicClient } from "viem";
import type { Caip2Network } from "../../lib/caip2.ts";
import type { Hex } from "../../lib/hex.ts";
import { SIMULATION_FAILED, TRANSACTION_FAILED } from "../rejection-reasons.ts";
import type { FeeLimits } from "./broadcast/fee-limits.ts";
import type { BroadcastQueue } from "./broadcast/queue.ts";
import type { PaymentFacilitator } from "./facilitator.ts";
import type { OperationTracker, SendHooks } from "./operation-tracker.ts";

export type TransferScheme = {
  verify(payload: PaymentPayload, terms: PaymentRequirements): Promise<VerifyResponse>;
  /** Verifies, sends and waits for a block. */
  broadcast(payload: PaymentPayload, terms: PaymentRequirements, hooks: SendHooks): Promise<SettleResponse>;
  getSupported: PaymentFacilitator["getSupported"];
};

export type TransferSchemeOptions = {
  readonly network: Caip2Network;
  readonly address: Hex;
  readonly client: PublicClient;
  readonly queue: BroadcastQueue;
  readonly witness: OperationTracker;
  readonly limitsFor: (amount: bigint, gas: bigint) => Promise<FeeLimits>;
  readonly confirmationMs: number;
};

// A transfer by signature takes about 90,000. A contract account may spend more on checking its own, but at our cost:
// without a limit it could burn a whole block of gas for a payment of a cent.
const GAS_MAX = 300_000n;
// State may change between estimate and mining: a first transfer to an account costs more than a second one, and after a
// reorg the next one may be the first again. What is not used is not paid for.
const GAS_MARGIN = 50_000n;
/** The gas limit of the costliest transfer that is sent. */
export const TRANSFER_GAS_LIMIT_MAX = GAS_MAX + GAS_MARGIN;
/** The gas limit of a transfer from an account with a plain key. */
export const TRANSFER_GAS_LIMIT = 90_000n + GAS_MARGIN;

// The library's ABI has none: with them a rejection by the token is known by its name.
const TOKEN_ERRORS = usdCoinAbi.filter(({ type }) => type === "error");
// Of transferWithAuthorization(from, to, value, …).
const VALUE_ARGUMENT = 2;

type AnyCall = { abi: Abi; functionName: string; args: readonly unknown[] };
type Write = Parameters<Parameters<typeof toFacilitatorEvmSigner>[0]["writeContract"]>[0];

export function createTransferScheme(options: TransferSchemeOptions): TransferScheme {
  const { network, witness } = options;
  const scheme = new ExactEvmScheme(signerOf(options), {
    eip6492AllowedFactories: [],
    // The library's own memory is keyed by signature alone, and a contract account may sign two payments alike.
    pendingSettlementStore: {
      get: async () => undefined,
      set: async () => undefined,
      delete: async () => undefined,
    },
  });
  const facilitator = new x402Facilitator().register(network, scheme);
  return {
    verify: (payload, terms) =>
      witness.run({ accepts: ({ isValid }) => isValid, hooks: null }, () =>
        facilitator.verify(payload, terms),
      ),
    broadcast: (payload, terms, hooks) =>
      witness.run(
        { accepts: ({ success, transaction }) => success || transaction !== "", hooks },
        async () => {
          const result = await facilitator.settle(payload, terms);
          // The library has one word for what was reverted and for what would have been; only we know which it is.
          const unsent = result.errorReason === TRANSACTION_FAILED && !witness.hasSent();
          return unsent ? { ...result, errorReason: SIMULATION_FAILED } : result;
        },
      ),
    getSupported: async () =>
      facilitator.getSupported() as Awaited<ReturnType<PaymentFacilitator["getSupported"]>>,
  };
}

function signerOf({ address, client, queue, witness, limitsFor, confirmationMs }: TransferSchemeOptions) {
  const { track: watch } = witness;

  const writeContract = async ({ address: to, abi, functionName, args }: Write) => {
    const call = { abi: [...abi, ...TOKEN_ERRORS], functionName, args } as unknown as AnyCall;
    const estimate = await watch(client.estimateContractGas({ ...call, account: address, address: to }));
    // In the words by which the library knows a signature that is not good enough.
    if (estimate > GAS_MAX) throw new Error(`invalid signature: checking it would take ${estimate} gas`);
    const gas = estimate + GAS_MARGIN;
    const limits = await watch(limitsFor(BigInt(String(args[VALUE_ARGUMENT])), gas));
    const hooks = witness.markSending();
    if (hooks === null) throw new Error("a transfer is sent only while a payment is settled");
    const { beforeSend, onRejected: notSent } = hooks;
    const data = encodeFunctionData(call);
    // What the contracts would do is known by now: a node that will not take it says nothing about the payment.
    return watch(
      queue.send({ to, data, gas, limits, beforeSend: (hash) => beforeSend(hash, gas), onRejected: notSent }),
    );
  };

  return toFacilitatorEvmSigner(
    {
      address,
      readContract: (args) => watch(client.readContract(args as Parameters<PublicClient["readContract"]>[0])),
      verifyTypedData: (args) =>
        watch(client.verifyTypedData(args as Parameters<PublicClient["verifyTypedData"]>[0])),
      // Never rejects: the library leaves one of its reads to itself, and its failure would go unnoticed.
      getCode: (args) =>
        client.getCode(args).catch((error: unknown) => {
          witness.recordFailure(error);
          return undefined;
        }),
      writeContract,
      // Only ever used to deploy a payer's account from a factory, which is nobody's business but his.
      sendTransaction: () => Promise.reject(new Error("the facilitator sends transfers only")),
      // A transaction of ours that uses the same account nonce carries out another payment: it is no replacement.
      waitForTransactionReceipt: (args) =>
        client.waitForTransactionReceipt({ ...args, checkReplacement: false }),
    },
    { confirmationTimeoutMs: confirmationMs },
  );
}
