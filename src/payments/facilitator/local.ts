// A facilitator in this process: the library checks, our own queue sends, and trouble is never mistaken for a verdict.
import { privateKeyToAccount } from "viem/accounts";
import { chainIdOf, type Network } from "../../lib/caip2.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import type { Secret } from "../../lib/secret.ts";
import type { Rows } from "../../schema/record-store.ts";
import { type FeeLimits, feesWithin } from "./broadcast/fee-limits.ts";
import { createFeeQuotes } from "./broadcast/fee-quotes.ts";
import { openNodeClient } from "./broadcast/node-client.ts";
import { createPaymentLimits, type PaymentShare } from "./broadcast/payment-fee-limits.ts";
import { createBroadcastQueue } from "./broadcast/queue.ts";
import type { Facilitator } from "./facilitator.ts";
import { createSettleOnce, type SettleOnce } from "./idempotent-settle.ts";
import { createWitness } from "./operation-tracker.ts";
import { createPayerGuard } from "./payer-guard.ts";
import { createSettlementOutcomes } from "./settlement-outcomes.ts";
import { openSettlementRecords } from "./settlement-records.ts";
import { createTransactionLookup } from "./transaction-lookup.ts";
import { createTransferScheme, TRANSFER_GAS, TRANSFER_GAS_MAX } from "./transfer-scheme.ts";

export type LocalFacilitatorOptions = {
  readonly network: Network;
  readonly urls: readonly Secret<string>[];
  readonly privateKey: Secret<Hex>;
  /** Holds what was sent and what reverted; it outlives the process. */
  readonly store: Rows;
  readonly gas: GasLimits;
  readonly log: Log;
  readonly clock?: Clock;
  /** How long a receipt is waited for; below the time a settlement may take. */
  readonly confirmationMs?: number;
  readonly pollMs?: number;
  readonly holeMs?: number;
};

export type GasLimits = FeeLimits & {
  /** What gas may cost in proportion to the payment; null where the native coin has no price. */
  readonly ofPayment: PaymentShare | null;
  /** Gas that reverted transfers of contract accounts may cost within an hour; 0 serves no contract account. */
  readonly revertedGasMax: bigint;
};

export type LocalFacilitator = Facilitator &
  Pick<SettleOnce, "findSettled"> & {
    readonly address: Hex;
    /** What is left to pay gas with, in wei. */
    gasBalance(): Promise<bigint>;
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
  const witness = createWitness();
  const { client, bystander, feeQuotes } = openClients(options, clock, witness.note);
  const limitsFor = createPaymentLimits({ limits: gas, share: gas.ofPayment, client: bystander, clock, log });
  const lookup = createTransactionLookup({ client, confirmationMs });
  const queue = createBroadcastQueue({
    account,
    chainId: chainIdOf(network),
    clock,
    log,
    holeMs: options.holeMs ?? HOLE_MS,
    node: {
      pendingNonce: () => client.getTransactionCount({ address, blockTag: "pending" }),
      fees: feeQuotes,
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
    balanceOf: lookup.balanceOf,
    isStillOpen: outcomes.isStillOpen,
    revertedGasMax: gas.revertedGasMax,
    transferGasMax: TRANSFER_GAS_MAX,
  });
  const { settle, findSettled } = createSettleOnce({
    ...{ records, lookup, outcomes, guard, isContract },
    carryOut: scheme.carryOut,
  });
  return {
    address: address.toLowerCase() as Hex,
    async verify(payload, terms) {
      const { from } = (payload.payload as { authorization: { from: Hex } }).authorization;
      const payer = from.toLowerCase() as Hex;
      const refused = await guard.refusalBeforeWork(payer);
      if (refused !== null) return { isValid: false, invalidReason: refused, payer };
      // Fees that would not be paid are told before work is done for the payment.
      feesWithin(await feeQuotes(), await limitsFor(BigInt(terms.amount), TRANSFER_GAS), 100n);
      return scheme.verify(payload, terms);
    },
    settle,
    findSettled,
    getSupported: scheme.getSupported,
    gasBalance: () => client.getBalance({ address }),
  };
}

function openClients(
  { network, urls, pollMs = POLL_MS }: LocalFacilitatorOptions,
  clock: Clock,
  onUnheard: (error: unknown) => void,
) {
  const chainId = chainIdOf(network);
  const single = urls.slice(0, FEE_NODES_MAX).map((url) => openNodeClient(chainId, [url], { pollMs }));
  return {
    client: openNodeClient(chainId, urls, { pollMs, onUnheard }),
    /** For what may fail without a say in any verdict. */
    bystander: openNodeClient(chainId, urls, { pollMs }),
    feeQuotes: createFeeQuotes(single, clock),
  };
}
