// The x402 library over our nodes: it verifies payments and decides what to send; our own queue sends it.

import { AsyncLocalStorage } from "node:async_hooks";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { x402Facilitator } from "@x402/core/facilitator";
import type { PaymentPayload, PaymentRequirements, SettleResponse, VerifyResponse } from "@x402/core/types";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { type Abi, isAddressEqual, type PublicClient } from "viem";
import { encodeForeignCall } from "../../lib/abi/codec.ts";
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
import { isContractRevert } from "./broadcast/viem-client.ts";
import type { PaymentFacilitator } from "./facilitator.ts";
import { FacilitatorUnavailableError } from "./facilitator.ts";
import {
  authorizationOf,
  findContractRejection,
  findSignatureRejection,
  findStateRejection,
  readPayerState,
} from "./payer-checks.ts";

type PayerCheck =
  | { readonly rejected: string }
  | { readonly rejected: null; readonly hasCode: boolean | null };

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
// The arguments of transferWithAuthorization(from, to, value, …).
const VALUE_ARGUMENT = 2;

type Write = Parameters<Parameters<typeof toFacilitatorEvmSigner>[0]["writeContract"]>[0];

export type TransferScheme = ReturnType<typeof createTransferScheme>;

export function createTransferScheme(options: TransferSchemeOptions) {
  const { tracker } = options;
  const library = (payload: PaymentPayload, hasCode: boolean | null) =>
    createLibrary(options, hasCode === null ? null : { payer: authorizationOf(payload).from, hasCode });
  return {
    /** Decides what one call to a node can decide; costs a second one only if a contract account must be called. */
    checkPayer: (payload: PaymentPayload, terms: PaymentRequirements) =>
      tracker.run({ accepts: ({ rejected }) => rejected === null, hooks: null }, () =>
        checkPayer(options, payload, terms),
      ),
    /** Uses the payer's code as it was read just before; null if it was not. */
    verify: (payload: PaymentPayload, terms: PaymentRequirements, hasCode: boolean | null) =>
      tracker.run({ accepts: ({ isValid }) => isValid, hooks: null }, async () => {
        const verdict: VerifyResponse = await library(payload, hasCode).verify(payload, terms);
        if (verdict.isValid || verdict.invalidReason !== SIMULATION_FAILED) return verdict;
        return { ...verdict, invalidReason: await nameSimulationFailure(options, payload) };
      }),
    /** Verifies, sends and waits for a block. */
    broadcast: (
      payload: PaymentPayload,
      terms: PaymentRequirements,
      hooks: SendHooks,
      hasCode: boolean,
    ): Promise<SettleResponse> =>
      tracker.run(
        { accepts: ({ success, transaction }) => success || transaction !== "", hooks },
        async () => {
          const result = await library(payload, hasCode).settle(payload, terms);
          // The library has one code for a revert on chain and one in simulation; only we know which it was.
          const isUnsent = result.errorReason === TRANSACTION_FAILED && !tracker.hasSent();
          const isSimulated = isUnsent || result.errorReason === SIMULATION_FAILED;
          if (!isSimulated) return result;
          return { ...result, errorReason: await nameSimulationFailure(options, payload) };
        },
      ),
    getSupported: async () =>
      createLibrary(options, null).getSupported() as Awaited<ReturnType<PaymentFacilitator["getSupported"]>>,
  };
}

/** The library for one payment: creating it costs microseconds, and it then reads no code that is known. */
function createLibrary(options: TransferSchemeOptions, known: KnownCode | null): x402Facilitator {
  const scheme = new ExactEvmScheme(signerOf(options, known), {
    eip6492AllowedFactories: [],
    // Disabled: it is keyed by signature alone, and a contract account may sign two payments alike.
    pendingSettlementStore: {
      get: async () => undefined,
      set: async () => undefined,
      delete: async () => undefined,
    },
  });
  return new x402Facilitator().register(options.network, scheme);
}

async function checkPayer(
  options: TransferSchemeOptions,
  payload: PaymentPayload,
  terms: PaymentRequirements,
): Promise<PayerCheck> {
  const { client, network, tracker } = options;
  const authorization = authorizationOf(payload);
  const { from: payer, nonce } = authorization;
  const key = { network, asset: terms.asset.toLowerCase() as Hex, payer, nonce };
  const state = await tracker.track(readPayerState(client, key));
  if (state === null) return { rejected: null, hasCode: null };
  const { hasCode } = state;
  const rejected = findStateRejection(state, authorization);
  if (rejected === null) return { rejected: null, hasCode };
  // The signature first: what the chain knows of a payment concerns only those who can sign for its payer.
  const unsigned = await (hasCode
    ? findContractRejection(signerOf(options, { payer, hasCode }), payload, terms)
    : findSignatureRejection(payload, terms));
  return { rejected: unsigned ?? rejected };
}

/**
 * Why a simulation failed whose signature, balance and nonce the library found in order. It compares the times of the
 * payment with our clock; the token compares them with the chain's, which may be behind or ahead.
 */
async function nameSimulationFailure(
  { client, tracker }: TransferSchemeOptions,
  payload: PaymentPayload,
): Promise<string> {
  const { timestamp } = await tracker.track(client.getBlock({ blockTag: "latest" }));
  const { validAfter, validBefore } = authorizationOf(payload);
  if (timestamp <= BigInt(validAfter)) return NOT_VALID_YET_ON_CHAIN;
  if (timestamp >= BigInt(validBefore)) return EXPIRED_ON_CHAIN;
  return SIMULATION_FAILED;
}

/** Whether an account has code, as it was read just before. */
type KnownCode = { readonly payer: Hex; readonly hasCode: boolean };

// The library compares code with nothing only.
const SOME_CODE: Hex = "0xfe";

function signerOf(
  { address, client, queue, tracker, limitsFor, confirmationMs }: TransferSchemeOptions,
  known: KnownCode | null,
) {
  const track = <T>(read: Promise<T>) => tracker.track(read);

  const writeContract = async ({ address: to, abi, functionName, args }: Write) => {
    const call = { abi: [...abi, ...TOKEN_ERRORS] as Abi, functionName, args };
    const estimate = await track(
      client.estimateContractGas({ ...call, account: address, address: to, gas: TRANSFER_GAS_LIMIT_MAX }),
    );
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
      // Limits the gas to what a transfer may take: the code of a payer must not keep a node busy.
      readContract: (args) => {
        const call = args as Parameters<PublicClient["readContract"]>[0];
        const bounded: object = { ...call, gas: TRANSFER_GAS_LIMIT_MAX };
        return track(client.readContract(bounded as typeof call));
      },
      verifyTypedData: (args) =>
        track(client.verifyTypedData(args as Parameters<PublicClient["verifyTypedData"]>[0])),
      // Never rejects: the library does not await one of its reads, and its failure would go unnoticed.
      getCode: async (args) => {
        if (known !== null && isAddressEqual(known.payer, args.address)) {
          return known.hasCode ? SOME_CODE : undefined;
        }
        return client.getCode(args).catch((error: unknown) => {
          tracker.recordFailure(error);
          return undefined;
        });
      },
      writeContract,
      // The library uses it only to deploy a payer's account from a factory, which payers do themselves.
      sendTransaction: () => Promise.reject(new Error("the facilitator sends transfers only")),
      // Another transaction of ours with the same account nonce carries out another payment: it is not a replacement.
      waitForTransactionReceipt: (args) =>
        client.waitForTransactionReceipt({ ...args, checkReplacement: false }),
    },
    { confirmationTimeoutMs: confirmationMs },
  );
}

/** Called around the broadcast of a transaction. */
export type SendHooks = {
  readonly beforeSend: (transaction: Hex, gas: bigint) => Promise<void>;
  readonly onRejected: (transaction: Hex) => Promise<void>;
};

type Operation = {
  readonly tracker: OperationTracker;
  failure: unknown;
  hasSent: boolean;
  readonly hooks: SendHooks | null;
};

// The library mistakes a failed read for a contract that reverted, so a tracker records what failed meanwhile. One
// storage for all trackers: every promise of the process costs time for each storage that was ever used.
const operations = new AsyncLocalStorage<Operation>();

export class OperationTracker {
  #current(): Operation | null {
    const operation = operations.getStore();
    return operation?.tracker === this ? operation : null;
  }

  /** Records a failure of the current operation. */
  recordFailure(failure: unknown): void {
    const current = this.#current();
    if (current) current.failure ??= failure;
  }

  /** Records a failure that is not a revert of a contract. */
  async track<T>(read: Promise<T>): Promise<T> {
    try {
      return await read;
    } catch (error) {
      if (!isContractRevert(error)) this.recordFailure(error);
      throw error;
    }
  }

  /** The current operation sends now; returns the hooks it was started with. */
  markSending(): SendHooks | null {
    const current = this.#current();
    if (current) current.hasSent = true;
    return current?.hooks ?? null;
  }

  /** Whether the current operation has sent anything. */
  hasSent(): boolean {
    return this.#current()?.hasSent ?? false;
  }

  /** Throws FacilitatorUnavailableError if a read failed and the result is not acceptable as it is. */
  run<T>(
    { accepts, hooks }: { readonly accepts: (result: T) => boolean; readonly hooks: SendHooks | null },
    work: () => Promise<T>,
  ): Promise<T> {
    return operations.run({ tracker: this, failure: null, hasSent: false, hooks }, async () => {
      const result = await work();
      const failure = this.#current()?.failure ?? null;
      if (failure === null || accepts(result)) return result;
      throw new FacilitatorUnavailableError("a node did not respond", { cause: failure });
    });
  }
}
