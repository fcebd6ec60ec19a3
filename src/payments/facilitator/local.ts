// A facilitator in this process: the library checks, our own queue sends, and trouble is never mistaken for a verdict.
import { privateKeyToAccount } from "viem/accounts";
import type { CallObserver } from "../../chain/rpc/types.ts";
import { type Caip2Network, chainIdOfNetwork } from "../../lib/caip2.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import type { Secret } from "../../lib/secret.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import {
  computeFees,
  createFeeLimitReader,
  type FeeLimits,
  type GasPercentOfPayment,
} from "./broadcast/fee-limits.ts";
import { createFeeQuoteReader } from "./broadcast/fee-quotes.ts";
import { createBroadcastQueue } from "./broadcast/queue.ts";
import { createFacilitatorRpc, createViemClient } from "./broadcast/viem-client.ts";
import type { PaymentFacilitator } from "./facilitator.ts";
import { createIdempotentSettle, type IdempotentSettle } from "./idempotent-settle.ts";
import { createOperationTracker } from "./operation-tracker.ts";
import { createPayerGuard } from "./payer-guard.ts";
import { createSettlementOutcomes } from "./settlement-outcomes.ts";
import { openSettlementRecords } from "./settlement-records.ts";
import { createTransactionLookup } from "./transaction-lookup.ts";
import { createTransferScheme, TRANSFER_GAS_LIMIT, TRANSFER_GAS_LIMIT_MAX } from "./transfer-scheme.ts";

export type LocalFacilitatorOptions = {
  readonly network: Caip2Network;
  readonly urls: readonly Secret<string>[];
  readonly privateKey: Secret<Hex>;
  /** Holds what was sent and what reverted; it outlives the process. */
  readonly store: StatementRunner;
  readonly gas: FacilitatorGasLimits;
  readonly log: Log;
  /** For the metrics of the calls to nodes. */
  readonly onCall: CallObserver | null;
  readonly clock?: Clock;
  /** How long a receipt is waited for; below the time a settlement may take. */
  readonly confirmationMs?: number;
  readonly pollMs?: number;
  readonly nonceGapMs?: number;
};

export type FacilitatorGasLimits = FeeLimits & {
  /** What gas may cost in proportion to the payment; null where the native coin has no price. */
  readonly paymentPercent: GasPercentOfPayment | null;
  /** Gas that reverted transfers of contract accounts may cost within an hour; 0 serves no contract account. */
  readonly revertedGasMax: bigint;
};

export type LocalFacilitator = PaymentFacilitator &
  Pick<IdempotentSettle, "findSettled"> & {
    readonly address: Hex;
    /** What is left to pay gas with, in wei. */
    readGasBalance(): Promise<bigint>;
  };

const CONFIRMATION_MS = 15_000;
const POLL_MS = 250;
// Several blocks: by then every node behind a balancer has heard of a transaction that is on its way.
const HOLE_MS = 10_000;
// One more says whether the first exaggerates; each is asked for every block that a payment comes in.
const FEE_NODES_MAX = 2;

export function createLocalFacilitator(options: LocalFacilitatorOptions): LocalFacilitator {
  const { network, gas, log, clock = systemClock, confirmationMs = CONFIRMATION_MS } = options;
  const account = privateKeyToAccount(options.privateKey.reveal());
  const { address } = account;
  const witness = createOperationTracker();
  const { client, bystander, feeQuotes } = openClients(options, clock, witness.recordFailure);
  const limitsFor = createFeeLimitReader({
    limits: gas,
    share: gas.paymentPercent,
    client: bystander,
    clock,
    log,
  });
  const lookup = createTransactionLookup({ client, confirmationMs });
  const queue = createBroadcastQueue({
    account,
    chainId: chainIdOfNetwork(network),
    clock,
    log,
    nonceGapMs: options.nonceGapMs ?? HOLE_MS,
    rpc: {
      readPendingNonce: () => client.getTransactionCount({ address, blockTag: "pending" }),
      readFees: feeQuotes,
      send: (serializedTransaction) => client.sendRawTransaction({ serializedTransaction }),
      hasTransaction: lookup.hasTransaction,
    },
  });
  const scheme = createTransferScheme({
    ...{ network, address, client, queue, witness, limitsFor, confirmationMs },
  });
  const records = openSettlementRecords(options.store, clock);
  const outcomes = createSettlementOutcomes({ records, lookup, clock });
  // Code of any kind, also that of a key which has delegated to a contract (EIP-7702): it decides about signatures.
  const isContract = async (payer: Hex) => ((await client.getCode({ address: payer })) ?? "0x") !== "0x";
  const guard = createPayerGuard({
    ...{ network, records, isContract, log },
    balanceOf: lookup.readBalance,
    isPending: outcomes.isNewestPending,
    revertedGasMax: gas.revertedGasMax,
    transferGasMax: TRANSFER_GAS_LIMIT_MAX,
  });
  const { settle, findSettled } = createIdempotentSettle({
    ...{ records, lookup, outcomes, guard, isContract },
    broadcast: scheme.broadcast,
  });
  return {
    address: address.toLowerCase() as Hex,
    async verify(payload, terms) {
      const { from } = (payload.payload as { authorization: { from: Hex } }).authorization;
      const payer = from.toLowerCase() as Hex;
      const refused = await guard.findRejectionBeforeVerify(payer);
      if (refused !== null) return { isValid: false, invalidReason: refused, payer };
      // Fees that would not be paid are told before work is done for the payment.
      computeFees(await feeQuotes(), await limitsFor(BigInt(terms.amount), TRANSFER_GAS_LIMIT), 100n);
      return scheme.verify(payload, terms);
    },
    settle,
    findSettled,
    getSupported: scheme.getSupported,
    readGasBalance: () => client.getBalance({ address }),
  };
}

function openClients(
  { network, urls, log, onCall, pollMs = POLL_MS }: LocalFacilitatorOptions,
  clock: Clock,
  onNoResponse: (error: unknown) => void,
) {
  const chainId = chainIdOfNetwork(network);
  const rpc = createFacilitatorRpc({ urls, chainId, log, onCall });
  const single = urls
    .slice(0, FEE_NODES_MAX)
    .map((_, only) => createViemClient(chainId, rpc, { pollMs, only }));
  return {
    client: createViemClient(chainId, rpc, { pollMs, onNoResponse }),
    /** For what may fail without a say in any verdict. */
    bystander: createViemClient(chainId, rpc, { pollMs }),
    feeQuotes: createFeeQuoteReader(single, clock),
  };
}
