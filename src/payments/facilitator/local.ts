// A facilitator in this process: the library verifies, our own queue sends, and a failed read never counts as a verdict.
import { getAddress, keccak256, type PublicClient } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { findChainById } from "../../chain/chains/chains.ts";
import { CHAINLINK_FEEDS } from "../../chain/price-feeds/price-feeds.ts";
import type { CallObserver } from "../../chain/rpc/types.ts";
import type { gasSettings } from "../../config/payment-settings.ts";
import type { Config } from "../../config/read-config.ts";
import { type Caip2Network, chainIdOfNetwork } from "../../lib/caip2.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { parseAmount } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import type { Secret } from "../../lib/secret.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import type { Database } from "../../store/postgres/database.ts";
import { openRecordStore } from "../../store/postgres/record-store.ts";
import type { PaymentAssetConfig, PaymentToken } from "../payment-token.ts";
import { WRONG_SIGNATURE } from "../rejection-reasons.ts";
import {
  computeFees,
  createFeeLimitReader,
  createFeeQuoteReader,
  type FeeLimits,
  type FeeQuote,
  FeesTooHighError,
  type GasPercentOfPayment,
  GWEI_DECIMALS,
} from "./broadcast/fees.ts";
import { BroadcastQueue } from "./broadcast/queue.ts";
import { createFacilitatorRpc, createViemClient } from "./broadcast/viem-client.ts";
import { type ChannelTransactions, createChannelTransactions } from "./channel-transactions.ts";
import type { PaymentFacilitator } from "./facilitator.ts";
import { FacilitatorUnavailableError } from "./facilitator.ts";
import { IdempotentSettle, parseKey } from "./idempotent-settle.ts";
import type { SettlementTurns } from "./key-claim.ts";
import { claimKey, type KeyClaim } from "./key-claim.ts";
import { unwrapSignature } from "./payer-checks.ts";
import { PayerGuard } from "./payer-guard.ts";
import { SettlementOutcomes, SettlementRecords } from "./settlement-records.ts";
import { TransactionLookup } from "./transaction-lookup.ts";
import {
  createTransferScheme,
  OperationTracker,
  TRANSFER_GAS_LIMIT,
  TRANSFER_GAS_LIMIT_MAX,
} from "./transfer-scheme.ts";

type LocalFacilitatorOptions = {
  readonly network: Caip2Network;
  readonly urls: readonly Secret<string>[];
  readonly privateKey: Secret<Hex>;
  /** Records what was sent and what reverted; it outlives the process. */
  readonly store: StatementRunner;
  readonly turns: SettlementTurns;
  readonly gas: FacilitatorGasLimits;
  readonly log: Log;
  /** For the metrics of the calls to nodes. */
  readonly onCall: CallObserver | null;
  readonly clock?: Clock;
  /** How long to wait for a receipt; below the time that a settlement may take. */
  readonly confirmationMs?: number;
  readonly pollMs?: number;
  readonly nonceGapMs?: number;
};

export type FacilitatorGasLimits = FeeLimits & {
  /** The limit of the gas cost in proportion to the payment; null if the native coin has no price. */
  readonly paymentPercent: GasPercentOfPayment | null;
  /** Gas that reverted transfers of contract accounts may cost within an hour; 0 serves no contract account. */
  readonly revertedGasMax: bigint;
};

export type LocalFacilitator = PaymentFacilitator &
  Pick<IdempotentSettle, "findSettled"> & {
    readonly address: Hex;
    /** Transactions of payment channels. */
    readonly channels: ChannelTransactions;
    /** The balance for gas, in wei. */
    readGasBalance(): Promise<bigint>;
    /** Wei that one transfer may take at the fees of now; 0 while they are above our limits. */
    readTransferCost(): Promise<bigint>;
  };

const CONFIRMATION_MS = 15_000;
const POLL_MS = 250;
// Several blocks: by then every node behind a load balancer has a transaction that was sent.
const NONCE_GAP_MS = 10_000;
// A second one shows whether the first exaggerates; each is read once per block in which a payment arrives.
const FEE_NODES_MAX = 2;

export function createLocalFacilitator(options: LocalFacilitatorOptions): LocalFacilitator {
  const { network, gas, log, turns, clock = systemClock, confirmationMs = CONFIRMATION_MS } = options;
  const account = privateKeyToAccount(options.privateKey.reveal());
  const { address } = account;
  const tracker = new OperationTracker();
  const { client, bestEffortClient, feeQuotes } = openClients(options, clock, (error) =>
    tracker.recordFailure(error),
  );
  const limitsFor = createFeeLimitReader({
    limits: gas,
    share: gas.paymentPercent,
    client: bestEffortClient,
    clock,
    log,
  });
  const lookup = new TransactionLookup(client, confirmationMs);
  const queue = new BroadcastQueue({
    account,
    chainId: chainIdOfNetwork(network),
    clock,
    log,
    nonceGapMs: options.nonceGapMs ?? NONCE_GAP_MS,
    rpc: {
      readPendingNonce: () => client.getTransactionCount({ address, blockTag: "pending" }),
      readFees: feeQuotes,
      send: (serializedTransaction) => client.sendRawTransaction({ serializedTransaction }),
      hasTransaction: (hash) => lookup.hasTransaction(hash),
    },
  });
  const parts = { client, queue, tracker, limitsFor, confirmationMs };
  const scheme = createTransferScheme({ network, address, ...parts });
  const records = new SettlementRecords(options.store, clock);
  const outcomes = new SettlementOutcomes({ records, lookup, clock });
  const readCodeHash = (payer: Hex) => hashCode(client, payer);
  const guard = new PayerGuard({
    network,
    records,
    readCodeHash,
    log,
    turns,
    clock,
    balanceOf: (key) => lookup.readBalance(key),
    isPending: (record) => outcomes.isNewestPending(record),
    revertedGasMax: gas.revertedGasMax,
    transferGasMax: TRANSFER_GAS_LIMIT_MAX,
  });
  const verify: PaymentFacilitator["verify"] = async (payload, terms) => {
    const { payer } = parseKey(payload, terms);
    if (unwrapSignature(payload) === null) return { isValid: false, invalidReason: WRONG_SIGNATURE, payer };
    const rejected = await guard.findRejectionBeforeVerify(payer);
    const checked = rejected === null ? await scheme.checkPayer(payload, terms) : { rejected };
    if (checked.rejected !== null) return { isValid: false, invalidReason: checked.rejected, payer };
    // Fees above our limits are reported before the handler runs for the payment.
    computeFees(await feeQuotes(), await limitsFor(BigInt(terms.amount), TRANSFER_GAS_LIMIT), 100n);
    return scheme.verify(payload, terms, checked.hasCode);
  };
  const settling = { records, lookup, outcomes, guard, readCodeHash, turns };
  const idempotent = new IdempotentSettle({ ...settling, verify, broadcast: scheme.broadcast });
  return {
    channels: createChannelTransactions({ ...parts, ...settling, idempotent, network, address }),
    address: address.toLowerCase() as Hex,
    readsOwnNodes: true,
    verify,
    settle: (payload, terms) => idempotent.settle(payload, terms),
    findSettled: (payload, terms) => idempotent.findSettled(payload, terms),
    getSupported: scheme.getSupported,
    readGasBalance: () => client.getBalance({ address }),
    readTransferCost: async () => computeTransferCost(await feeQuotes(), gas),
  };
}

/** Any code counts, also that of a key which delegates to a contract (EIP-7702): it decides about signatures. */
async function hashCode(client: PublicClient, address: Hex): Promise<Hex | null> {
  const code = (await client.getCode({ address })) ?? "0x";
  return code === "0x" ? null : keccak256(code);
}

function computeTransferCost(quote: FeeQuote, limits: FeeLimits): bigint {
  try {
    return TRANSFER_GAS_LIMIT * computeFees(quote, limits, 100n).maxFeePerGas;
  } catch (error) {
    if (error instanceof FeesTooHighError) return 0n;
    throw error;
  }
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
    /** Its failures do not affect any verdict. */
    bestEffortClient: createViemClient(chainId, rpc, { pollMs }),
    feeQuotes: createFeeQuoteReader(single, clock),
  };
}

export type FacilitatorGasConfig = Omit<Config<typeof gasSettings>, "facilitatorPrivateKey">;

// However often anyone requests /ready, nodes are asked once in this time.
const GAS_CHECK_MS = 5_000;

/** A facilitator that shares its database with others, which have keys of their own. */
export type ClaimedFacilitator = LocalFacilitator & {
  /** Why this process cannot settle at the moment; null if it can. Throws if no node responds. */
  findProblem(): Promise<string | null>;
  close(): Promise<void>;
};

/** Throws CONFIG_INVALID if another process keeps the key. */
export async function openLocalFacilitator(
  config: FacilitatorGasConfig,
  token: PaymentToken,
  needs: {
    readonly urls: readonly Secret<string>[];
    readonly privateKey: Secret<Hex>;
    readonly database: Database;
    readonly log: Log;
    readonly onCall: CallObserver | null;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<ClaimedFacilitator> {
  const { urls, privateKey, database, log, onCall, signal } = needs;
  const { network } = token;
  const address = privateKeyToAccount(privateKey.reveal()).address.toLowerCase() as Hex;
  const claim = await claimKey({ database, network, address, log, signal });
  const facilitator = createLocalFacilitator({
    network,
    urls,
    privateKey,
    log,
    onCall,
    turns: claim,
    store: openRecordStore(database),
    gas: createGasLimits(config, token),
  });
  return {
    ...facilitator,
    findProblem: createProblemFinder(facilitator, claim),
    async verify(payload, terms) {
      // Otherwise work would be done for a payment that cannot be sent.
      if (!claim.isHeld) throw new FacilitatorUnavailableError("its key is not claimed at the moment");
      return facilitator.verify(payload, terms);
    },
    getSupported: async () => listSigners(await facilitator.getSupported(), claim),
    close: () => claim.release(),
  };
}

function createProblemFinder(facilitator: LocalFacilitator, claim: KeyClaim): () => Promise<string | null> {
  const { address } = facilitator;
  let checked: { readonly problem: Promise<string | null>; readonly atMs: number } | null = null;
  const findGasProblem = async () => {
    const [balance, cost] = await Promise.all([facilitator.readGasBalance(), facilitator.readTransferCost()]);
    if (balance > 0n && balance >= cost) return null;
    return `The account ${address} cannot pay the gas of a transfer: it has ${balance} wei and needs ${cost}.`;
  };
  return async () => {
    if (!claim.isHeld) return `The key of ${address} is not claimed by this process.`;
    const nowMs = systemClock.nowMs();
    if (checked === null || nowMs - checked.atMs >= GAS_CHECK_MS) {
      checked = { problem: findGasProblem(), atMs: nowMs };
    }
    return checked.problem;
  };
}

/** Any of the processes behind one address may send a transfer. */
async function listSigners(
  supported: Awaited<ReturnType<LocalFacilitator["getSupported"]>>,
  claim: KeyClaim,
): Promise<typeof supported> {
  const accounts = (await claim.findClaimedAccounts()).map((account) => getAddress(account));
  const signers = Object.entries(supported.signers).map(
    ([family, own]) => [family, [...new Set([...own, ...accounts])].sort()] as const,
  );
  return { ...supported, signers: Object.fromEntries(signers) };
}

/** Throws CONFIG_INVALID if nothing says what gas may cost. */
export function checkGasSettings(config: FacilitatorGasConfig, asset: PaymentAssetConfig): void {
  feePerGasMaxOf(config, asset);
}

function feePerGasMaxOf(config: FacilitatorGasConfig, { chainId, network }: PaymentAssetConfig): bigint {
  const given = config.facilitatorGasPriceMax;
  const configured = given === null ? null : parseAmount(given, GWEI_DECIMALS, "FACILITATOR_GAS_PRICE_MAX");
  const feePerGasMax = configured ?? findChainById(chainId)?.gas?.feePerGasMax;
  if (feePerGasMax !== undefined) return feePerGasMax;
  throw new Fault(
    "CONFIG_INVALID",
    `FACILITATOR_GAS_PRICE_MAX must set the most paid per gas on ${network}, a chain without a known cap.`,
  );
}

export function createGasLimits(config: FacilitatorGasConfig, token: PaymentToken): FacilitatorGasLimits {
  const { chainId, decimals } = token;
  const feePerGasMax = feePerGasMaxOf(config, token);
  const tipMax = findChainById(chainId)?.gas?.priorityFeePerGasMax ?? feePerGasMax;
  const feed = CHAINLINK_FEEDS.get(chainId)?.native ?? null;
  const percentMax = BigInt(config.facilitatorGasPercentMax);
  return {
    feePerGasMax,
    priorityFeePerGasMax: tipMax < feePerGasMax ? tipMax : feePerGasMax,
    revertedGasMax: BigInt(config.facilitatorRevertedGasMax),
    paymentPercent: feed && { percentMax, decimals, feed },
  };
}
