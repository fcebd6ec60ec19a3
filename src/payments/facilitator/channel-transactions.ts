// Transactions of payment channels by the facilitator's key: deposits once each, recorded like transfers, and claims.
import { createHash } from "node:crypto";
import { receiveTypedData } from "@sextant/client/payments/token-typed-data";
import {
  hashTypedData,
  keccak256,
  type PublicClient,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
  WaitForTransactionReceiptTimeoutError,
} from "viem";
import type { Caip2Network } from "../../lib/caip2.ts";
import { chainIdOfNetwork } from "../../lib/caip2.ts";
import { type Hex, parseHash } from "../../lib/hex.ts";
import { recoverKeyAddress } from "../../lib/recover-address.ts";
import {
  channelsCall,
  encodeChannelCall,
  encodeDeposit,
  manyCalls,
  receivers,
} from "../channels/channel-calls.ts";
import { CHANNEL_CONTRACT, depositNonceOf, ERC3009_COLLECTOR } from "../channels/channel-config.ts";
import type {
  CallOutcome,
  ChannelSender,
  DepositOutcome,
  DepositRequest,
} from "../channels/channel-sender.ts";
import { DEPOSIT_FAILED, DEPOSIT_SIMULATION_FAILED } from "../channels/channel-terms.ts";
import { DEPOSITS_USED_UP, TRANSACTION_FAILED, WRONG_SIGNATURE } from "../rejection-reasons.ts";
import type { FeeLimits } from "./broadcast/fees.ts";
import type { BroadcastQueue } from "./broadcast/queue.ts";
import { isContractRevert } from "./broadcast/viem-client.ts";
import {
  failed,
  type IdempotentSettle,
  SETTLEMENT_PENDING,
  type Settlement,
  succeeded,
} from "./idempotent-settle.ts";
import type { SettlementTurns } from "./key-claim.ts";
import type { PayerGuard } from "./payer-guard.ts";
import type { SettlementKey, SettlementRecords } from "./settlement-records.ts";
import type { TransactionLookup } from "./transaction-lookup.ts";

type ChannelTransactionsOptions = {
  readonly network: Caip2Network;
  readonly address: Hex;
  readonly client: PublicClient;
  readonly queue: BroadcastQueue;
  readonly lookup: TransactionLookup;
  readonly limitsFor: (amount: bigint, gas: bigint) => Promise<FeeLimits>;
  readonly idempotent: IdempotentSettle;
  readonly guard: PayerGuard;
  readonly records: SettlementRecords;
  readonly turns: SettlementTurns;
  readonly confirmationMs: number;
};

/** A call of the receiver's side, by any client. */
type SharedCall = {
  readonly data: Hex;
  /** The part that tells it from others, if parts of the data change nothing; without it, the data does. */
  readonly identity?: Hex;
  /** Read only before it is sent. */
  readonly value: () => Promise<bigint>;
  /** Under whose name it is recorded. */
  readonly signer: Hex;
  readonly token: Hex;
  /** The same call may be due again, once it was mined. */
  readonly isRepeatable?: boolean;
};

export type ChannelTransactions = ChannelSender & {
  /**
   * Makes a deposit for a payee of another process: so many of an account within an hour. Only what its payer has signed and
   * the chain would take counts, and the same deposit once.
   */
  depositWithin(request: DepositRequest, perHourMax: number): Promise<DepositOutcome>;
  /** Sends a call once: the same one again gets the same transaction. Says why it is not sent otherwise. */
  sendOnce(call: SharedCall): Promise<CallOutcome | { readonly kind: "worthless" | "reverting" }>;
  /** Reads what claims up to these totals would add to what is claimed. */
  readClaimable(totals: ReadonlyMap<Hex, bigint>): Promise<bigint>;
  /** Reads what was claimed for a receiver and not paid out. */
  readPayable(receiver: Hex, token: Hex): Promise<bigint>;
};

// A deposit takes about 112,000; a contract account may use more to check its signature, at our cost.
export const DEPOSIT_GAS_MAX = 350_000n;
// A hundred claims take about 1.9 million.
export const CALL_GAS_MAX = 4_000_000n;
// State may change between estimate and mining; unused gas costs nothing.
const GAS_MARGIN = 50_000n;

export function createChannelTransactions(options: ChannelTransactionsOptions): ChannelTransactions {
  const { client, turns, idempotent, guard } = options;
  const deposit = async (request: DepositRequest, perHourMax: number | null): Promise<DepositOutcome> => {
    try {
      return readOutcome(await idempotent.settleOnce(describeDeposit(options, request, perHourMax)));
    } catch (cause) {
      return { kind: "unknown", cause };
    }
  };
  return {
    async checkDeposit(request) {
      const { config, deposit } = request;
      const blocked = await guard.findRejectionBeforeVerify(config.payer);
      if (blocked !== null) return blocked;
      const gas = await estimateGas(options, encodeDeposit(config, deposit), DEPOSIT_GAS_MAX);
      return gas === null ? DEPOSIT_SIMULATION_FAILED : null;
    },
    deposit: (request) => deposit(request, null),
    depositWithin: (request, perHourMax) => deposit(request, perHourMax),
    wouldSucceed: async (call) =>
      (await estimateGas(options, encodeChannelCall(call), CALL_GAS_MAX)) !== null,
    send: (call, hooks) => sendCall(options, { data: encodeChannelCall(call), value: call.value }, hooks),
    sendOnce: (call) => sendOnce(options, call),
    async readPayable(receiver, token) {
      const data = receivers.encodeCall([receiver, token]);
      const result = await client.call({ to: CHANNEL_CONTRACT, data });
      const [claimed, paid] = receivers.decodeResult(result.data ?? "0x");
      return claimed - paid;
    },
    readClaimable: (totals) => readClaimable(client, totals),
    readStatus: (transaction) => readStatus(client, transaction),
    runInTurn: (name, work) => turns.run([name], work),
  };
}

/** Null if the call would revert; throws if a node does not respond. */
async function estimateGas(
  { client, address }: ChannelTransactionsOptions,
  data: Hex,
  gasMax: bigint,
): Promise<bigint | null> {
  try {
    return await client.estimateGas({ account: address, to: CHANNEL_CONTRACT, data, gas: gasMax });
  } catch (error) {
    if (isContractRevert(error)) return null;
    throw error;
  }
}

/** Without a limit for a payee in this process, which has its own. */
function describeDeposit(
  options: ChannelTransactionsOptions,
  request: DepositRequest,
  perHourMax: number | null,
): Settlement {
  const { network, records } = options;
  const { channelId, config, deposit } = request;
  const nonce = depositNonceOf(channelId, deposit.salt);
  const data = encodeDeposit(config, deposit);
  const digest = createHash("sha256").update(data).digest("hex");
  const key = { network, asset: config.token, payer: config.payer, nonce, digest, amount: deposit.amount };
  return {
    key,
    async findUnsigned(isContract) {
      if (!isContract) return (await isSignedByPayer(network, request, nonce)) ? null : WRONG_SIGNATURE;
      return (await estimateGas(options, data, DEPOSIT_GAS_MAX)) === null ? DEPOSIT_SIMULATION_FAILED : null;
    },
    async broadcast({ beforeSend, onRejected }) {
      const { queue, limitsFor, lookup } = options;
      const estimate = await estimateGas(options, data, DEPOSIT_GAS_MAX);
      if (estimate === null) return failed(key, DEPOSIT_SIMULATION_FAILED, "");
      const gas = estimate + GAS_MARGIN;
      const limits = await limitsFor(deposit.amount, gas);
      const quota = perHourMax === null ? null : await openQuota(records, key, perHourMax);
      const send = { to: CHANNEL_CONTRACT, data, gas, limits, onRejected };
      const sending = queue.send({
        ...send,
        async beforeSend(sent) {
          await quota?.take();
          await beforeSend(sent, gas);
        },
      });
      // The queue throws only if nothing was sent.
      const hash = await sending.catch(async (error: unknown) => {
        await quota?.giveBack();
        if (quota?.isUsedUp) return null;
        throw error;
      });
      if (hash === null) return failed(key, DEPOSITS_USED_UP, "");
      const { kind } = await lookup.waitUntilMined(hash, key);
      if (kind === "succeeded") return succeeded(key, hash);
      return failed(key, kind === "reverted" ? TRANSACTION_FAILED : SETTLEMENT_PENDING, hash);
    },
  };
}

/** Counts a deposit once, when it is about to be sent: in dear gas, attempts that send nothing must not use up its account. */
async function openQuota(records: SettlementRecords, key: SettlementKey, perHourMax: number) {
  const sent = (await records.find(key)).find(({ digest }) => digest === key.digest);
  const isCountedBefore = sent !== undefined && sent.transactions.length > 0;
  let isCounted = false;
  let isUsedUp = false;
  return {
    get isUsedUp() {
      return isUsedUp;
    },
    async take() {
      if (isCountedBefore || isCounted) return;
      isUsedUp = !(await records.takeDeposit(key, perHourMax));
      if (isUsedUp) throw new Error("the account has used up its deposits");
      isCounted = true;
    },
    async giveBack() {
      if (isCounted) await records.giveBackDeposit(key);
    },
  };
}

async function isSignedByPayer(
  network: Caip2Network,
  { config, deposit, tokenName, tokenVersion }: DepositRequest,
  nonce: Hex,
): Promise<boolean> {
  const { amount: value, validAfter, validBefore, signature } = deposit;
  const chainId = chainIdOfNetwork(network);
  const token = { name: tokenName, version: tokenVersion, chainId, address: config.token };
  const message = { from: config.payer, to: ERC3009_COLLECTOR, value, validAfter, validBefore, nonce };
  const hash = hashTypedData(receiveTypedData(token, message));
  return (await recoverKeyAddress(hash, signature)) === config.payer;
}

function readOutcome(response: Awaited<ReturnType<IdempotentSettle["settleOnce"]>>): DepositOutcome {
  const { success, transaction, errorReason = "unknown" } = response;
  if (success) return { kind: "deposited", transaction: parseHash(transaction, "The deposit's transaction") };
  if (errorReason === SETTLEMENT_PENDING) {
    return { kind: "unknown", cause: new Error(`the deposit ${transaction} is not mined yet`) };
  }
  return { kind: "rejected", reason: errorReason === TRANSACTION_FAILED ? DEPOSIT_FAILED : errorReason };
}

async function sendCall(
  options: ChannelTransactionsOptions,
  { data, value }: { readonly data: Hex; readonly value: bigint },
  hooks: {
    readonly beforeSend: (transaction: Hex, gas: bigint) => Promise<void>;
    readonly onRejected: (transaction: Hex) => Promise<void>;
  },
): Promise<CallOutcome> {
  const { queue, limitsFor } = options;
  const estimate = await estimateGas(options, data, CALL_GAS_MAX);
  if (estimate === null) throw new Error("a call of channels would revert");
  const gas = estimate + GAS_MARGIN;
  const limits = await limitsFor(value, gas);
  const { beforeSend, onRejected } = hooks;
  const send = { to: CHANNEL_CONTRACT, data, gas, limits, onRejected };
  return waitForCall(
    options,
    await queue.send({ ...send, beforeSend: (transaction) => beforeSend(transaction, gas) }),
  );
}

async function waitForCall(
  { client, confirmationMs: timeout }: ChannelTransactionsOptions,
  transaction: Hex,
): Promise<CallOutcome> {
  try {
    const receipt = await client.waitForTransactionReceipt({
      ...{ hash: transaction, timeout, checkReplacement: false },
    });
    return { kind: receipt.status === "success" ? "mined" : "reverted", transaction };
  } catch (error) {
    if (!(error instanceof WaitForTransactionReceiptTimeoutError)) throw error;
    return { kind: "pending", transaction };
  }
}

async function sendOnce(
  options: ChannelTransactionsOptions,
  {
    data,
    identity = keccak256(data),
    signer: payer,
    token: asset,
    isRepeatable = false,
    ...call
  }: SharedCall,
): ReturnType<ChannelTransactions["sendOnce"]> {
  const { network, client, turns, records } = options;
  const digest = createHash("sha256").update(identity).digest("hex");
  const key = { network, asset, payer, nonce: identity, digest };
  return turns.run([`${network} channel call ${digest}`], async (turn) => {
    const [record] = await records.find(key);
    const [newest] = record?.transactions ?? [];
    if (newest !== undefined) {
      const status = await readStatus(client, newest);
      if (status === "mined" && !isRepeatable) return { kind: "mined", transaction: newest };
      if (status === "pending") return waitForCall(options, newest);
    }
    const value = await call.value();
    if (value === 0n) return { kind: "worthless" };
    if ((await estimateGas(options, data, CALL_GAS_MAX)) === null) return { kind: "reverting" };
    const sent = { ...key, isContract: false };
    const outcome = await sendCall(
      options,
      { data, value },
      {
        beforeSend: (transaction, gas) => records.addTransaction(sent, { transaction, gas }, turn),
        onRejected: (transaction) => records.removeTransaction(key, transaction),
      },
    );
    if (outcome.kind !== "pending") await records.markSettled(sent);
    return outcome;
  });
}

async function readClaimable(client: PublicClient, totals: ReadonlyMap<Hex, bigint>): Promise<bigint> {
  const data = manyCalls.encodeCall([[...totals.keys()].map((id) => channelsCall.encodeCall([id]))]);
  const result = await client.call({ to: CHANNEL_CONTRACT, data });
  const states = manyCalls.decodeResult(result.data ?? "0x");
  return [...totals.values()].reduce((sum, total, at) => {
    const [, claimed] = channelsCall.decodeResult(states[at] ?? "0x");
    return total > claimed ? sum + total - claimed : sum;
  }, 0n);
}

async function readStatus(client: PublicClient, hash: Hex): ReturnType<ChannelSender["readStatus"]> {
  try {
    return (await client.getTransactionReceipt({ hash })).status === "success" ? "mined" : "reverted";
  } catch (error) {
    if (!(error instanceof TransactionReceiptNotFoundError)) throw error;
  }
  try {
    await client.getTransaction({ hash });
    return "pending";
  } catch (error) {
    if (error instanceof TransactionNotFoundError) return "missing";
    throw error;
  }
}
