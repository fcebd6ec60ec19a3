// A facilitator in this process: the library checks, our own queue sends, and trouble is never mistaken for a verdict.
import { AsyncLocalStorage } from "node:async_hooks";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { x402Facilitator } from "@x402/core/facilitator";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import {
  type Abi,
  createPublicClient,
  defineChain,
  encodeFunctionData,
  type PublicClient,
  TransactionNotFoundError,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { chainIdOf, type Network } from "../../kit/caip2.ts";
import { type Clock, systemClock } from "../../kit/clock.ts";
import type { Hex } from "../../kit/hex.ts";
import type { Log } from "../../kit/log.ts";
import type { Secret } from "../../kit/secret.ts";
import { createBroadcastQueue } from "./broadcast-queue.ts";
import { type Facilitator, SIMULATION_FAILED, TRANSACTION_FAILED } from "./facilitator.ts";
import { FacilitatorTrouble } from "./facilitator-trouble.ts";
import { nodeTransport } from "./node-transport.ts";
import { pendingTransactions } from "./pending-transactions.ts";
import { isRefusal } from "./send-failure.ts";

export type LocalFacilitatorOptions = {
  readonly network: Network;
  readonly urls: readonly Secret<string>[];
  readonly privateKey: Secret<Hex>;
  readonly log: Log;
  readonly clock?: Clock;
  /** How long a receipt is waited for; below the time a settlement may take. */
  readonly confirmationMs?: number;
  readonly pollMs?: number;
  readonly holeMs?: number;
};

export type LocalFacilitator = Facilitator & {
  readonly address: Hex;
  /** What is left to pay gas with, in wei. */
  gasBalance(): Promise<bigint>;
};

const CONFIRMATION_MS = 15_000;
const REQUEST_MS = 8_000;
const POLL_MS = 250;
// Several blocks: by then every node behind a balancer has heard of a transaction that is on its way.
const HOLE_MS = 10_000;
// A transfer by signature takes about 90,000. A contract account may spend more on checking its own, but at our cost:
// without a limit it could burn a whole block of gas for a payment of a cent.
const GAS_MAX = 300_000n;
// State may change between estimate and mining: a first transfer to an account costs more than a second one, and after a
// reorg the next one may be the first again. What is not used is not paid for.
const GAS_MARGIN = 50_000n;

export function createLocalFacilitator(options: LocalFacilitatorOptions): LocalFacilitator {
  const { network, urls, log, clock = systemClock, confirmationMs = CONFIRMATION_MS } = options;
  const chainId = chainIdOf(network);
  const account = privateKeyToAccount(options.privateKey.reveal());
  const { address } = account;
  // The library and its client take a read that failed for a contract that refused; what failed is remembered beside.
  const witnessed = new AsyncLocalStorage<{ trouble: unknown; sent: boolean }>();
  const note = (trouble: unknown) => {
    const witness = witnessed.getStore();
    if (witness) witness.trouble ??= trouble;
  };
  const client = openClient(chainId, urls, { pollMs: options.pollMs ?? POLL_MS, onUnheard: note });
  const queue = createBroadcastQueue({
    account,
    chainId,
    clock,
    log,
    holeMs: options.holeMs ?? HOLE_MS,
    node: {
      pendingNonce: () => client.getTransactionCount({ address, blockTag: "pending" }),
      fees: () => client.estimateFeesPerGas(),
      send: (serializedTransaction) => client.sendRawTransaction({ serializedTransaction }),
    },
  });

  const watched = async <T>(read: Promise<T>): Promise<T> => {
    try {
      return await read;
    } catch (error) {
      if (!isRefusal(error)) note(error);
      throw error;
    }
  };
  const withWitness = <T>(accept: (result: T) => boolean, ask: () => Promise<T>): Promise<T> =>
    witnessed.run({ trouble: null, sent: false }, async () => {
      const result = await ask();
      const trouble = witnessed.getStore()?.trouble ?? null;
      if (trouble === null || accept(result)) return result;
      throw new FacilitatorTrouble("a node did not answer", { cause: trouble });
    });

  /** Never rejects: the library leaves one of its reads to itself, and nobody would hear it fail. */
  const codeOf = (args: { address: Hex }) =>
    client.getCode(args).catch((error: unknown) => {
      note(error);
      return undefined;
    });

  type Write = Parameters<Parameters<typeof toFacilitatorEvmSigner>[0]["writeContract"]>[0];
  const writeContract = async ({ address: to, abi, functionName, args }: Write) => {
    const call = { abi: [...abi, ...TOKEN_ERRORS], functionName, args } as unknown as AnyCall;
    const estimate = await watched(client.estimateContractGas({ ...call, account: address, address: to }));
    // In the words by which the library knows a signature that is not good enough.
    if (estimate > GAS_MAX) throw new Error(`invalid signature: checking it would take ${estimate} gas`);
    const gas = estimate + GAS_MARGIN;
    const witness = witnessed.getStore();
    if (witness) witness.sent = true;
    // What the contracts would do is known by now: a node that will not take it says nothing about the payment.
    return watched(queue.send({ to, data: encodeFunctionData(call), gas }));
  };

  const signer = toFacilitatorEvmSigner(
    {
      address,
      readContract: (args) =>
        watched(client.readContract(args as Parameters<PublicClient["readContract"]>[0])),
      verifyTypedData: (args) =>
        watched(client.verifyTypedData(args as Parameters<PublicClient["verifyTypedData"]>[0])),
      getCode: codeOf,
      writeContract,
      // Only ever used to deploy a payer's account from a factory, which is nobody's business but his.
      sendTransaction: () => Promise.reject(new Error("the facilitator sends transfers only")),
      waitForTransactionReceipt: (args) => client.waitForTransactionReceipt({ ...args, retryCount: 2 }),
    },
    { confirmationTimeoutMs: confirmationMs },
  );
  // One that waits behind a hole in our nonces does not count: nothing would fill the hole while all wait for theirs.
  // Sent again, it fills it; the token takes one of the two.
  const isKnown = async (hash: Hex) => {
    try {
      const { blockNumber, nonce } = await client.getTransaction({ hash });
      return (
        blockNumber !== null || nonce < (await client.getTransactionCount({ address, blockTag: "pending" }))
      );
    } catch (error) {
      if (error instanceof TransactionNotFoundError) return false;
      throw error;
    }
  };
  const scheme = new ExactEvmScheme(signer, {
    eip6492AllowedFactories: [],
    pendingSettlementStore: pendingTransactions(isKnown),
  });
  const facilitator = new x402Facilitator().register(network, scheme);
  return {
    address: address.toLowerCase() as Hex,
    verify: (payload, terms) =>
      withWitness(
        ({ isValid }) => isValid,
        () => facilitator.verify(payload, terms),
      ),
    settle: (payload, terms) =>
      withWitness(
        ({ success, transaction }) => success || transaction !== "",
        async () => {
          const result = await facilitator.settle(payload, terms);
          // The library has one word for what was reverted and for what would have been; only we know which it is.
          const unsent = result.errorReason === TRANSACTION_FAILED && !witnessed.getStore()?.sent;
          return unsent ? { ...result, errorReason: SIMULATION_FAILED } : result;
        },
      ),
    getSupported: async () => facilitator.getSupported() as Awaited<ReturnType<Facilitator["getSupported"]>>,
    gasBalance: () => client.getBalance({ address }),
  };
}

// The library's ABI has none: with them a refusal by the token is known by its name.
const TOKEN_ERRORS = usdCoinAbi.filter(({ type }) => type === "error");

type AnyCall = { abi: Abi; functionName: string; args: readonly unknown[] };

function openClient(
  chainId: number,
  urls: readonly Secret<string>[],
  options: { readonly pollMs: number; readonly onUnheard: (error: unknown) => void },
): PublicClient {
  return createPublicClient({
    chain: defineChain({
      id: chainId,
      name: `chain ${chainId}`,
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      rpcUrls: { default: { http: [] } },
    }),
    transport: nodeTransport(urls, { timeoutMs: REQUEST_MS, onUnheard: options.onUnheard }),
    pollingInterval: options.pollMs,
    cacheTime: 0,
  });
}
