// Transactions of payment channels by a facilitator of another process, with the calls of x402 that facilitators share.
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { keccak256, numberToHex } from "viem";
import type { Rpc } from "../../chain/rpc/types.ts";
import type { Hex } from "../../lib/hex.ts";
import type { JsonObject } from "../../lib/json.ts";
import { acquireLock } from "../../store/postgres/advisory-lock.ts";
import type { Database } from "../../store/postgres/database.ts";
import { encodeChannelCall, encodeDeposit } from "../channels/channel-calls.ts";
import type { CallOutcome, ChannelCall, ChannelSender, DepositRequest } from "../channels/channel-sender.ts";
import { readTransactionStatus, wouldCallSucceed } from "../channels/channel-simulation.ts";
import {
  CHANNEL_SCHEME,
  CLAIM_SIMULATION_FAILED,
  DEPOSIT_SIMULATION_FAILED,
} from "../channels/channel-terms.ts";
import type { PaymentToken } from "../payment-token.ts";
import { describeClaims, describeConfig } from "./channel-payloads.ts";
import { CALL_GAS_MAX, DEPOSIT_GAS_MAX } from "./channel-transactions.ts";
import { FacilitatorUnavailableError, type PaymentFacilitator, requestSettle } from "./facilitator.ts";

type RemoteChannelsOptions = {
  readonly facilitator: PaymentFacilitator;
  readonly database: Database;
  /** Our own nodes. */
  readonly rpc: Rpc;
  readonly token: Pick<PaymentToken, "network" | "asset" | "name" | "version">;
};

// A claim of another process waits for a block or two.
const TURN_MS_MAX = 15_000;

export function createRemoteChannelSender(options: RemoteChannelsOptions): ChannelSender {
  const { facilitator, database, rpc, token } = options;
  const settle = (payload: JsonObject, amount: bigint, party: Parties) => {
    const terms = termsOf(token, amount, party);
    return requestSettle(facilitator, { x402Version: 2, accepted: terms, payload } as PaymentPayload, terms);
  };
  return {
    async checkDeposit({ config, deposit }) {
      const data = encodeDeposit(config, deposit);
      return (await wouldCallSucceed(rpc, data, Number(DEPOSIT_GAS_MAX))) ? null : DEPOSIT_SIMULATION_FAILED;
    },
    async deposit(request) {
      const outcome = await settle(describeDepositPayload(request), request.deposit.amount, request.config);
      if (outcome.kind === "settled") return { kind: "deposited", transaction: outcome.transaction };
      if (outcome.kind === "rejected") return { kind: "rejected", reason: outcome.reason };
      return { kind: "unknown", cause: outcome.cause };
    },
    wouldSucceed: (call) => wouldCallSucceed(rpc, encodeChannelCall(call), Number(CALL_GAS_MAX)),
    async send(call, { beforeSend, onRejected }) {
      // The facilitator chooses the transaction. Until it says which, the call stands for it: no node has that, so that
      // it soon counts as dropped, and what it claims is looked up and sent again.
      const provisional = keccak256(encodeChannelCall(call));
      await beforeSend(provisional);
      const outcome = await settle(describeCall(call), call.value, partiesOf(call));
      if (outcome.kind === "unknown" && outcome.transaction === null) throw outcome.cause;
      // One claim may be the reason: as after a transaction of them that has reverted.
      const isRevert =
        outcome.kind === "rejected" && outcome.reason === CLAIM_SIMULATION_FAILED && call.refund === null;
      if (isRevert) return { kind: "reverted", transaction: outcome.transaction ?? provisional };
      await onRejected(provisional);
      if (outcome.transaction === null) {
        const reason = outcome.kind === "rejected" ? outcome.reason : "unknown";
        throw new FacilitatorUnavailableError(`it does not claim: ${reason}`);
      }
      await beforeSend(outcome.transaction);
      return describeOutcome(outcome.kind, outcome.transaction);
    },
    readStatus: (transaction) => readTransactionStatus(rpc, transaction),
    async runInTurn(name, work) {
      const lock = await acquireLock(database, name, { waitMs: TURN_MS_MAX });
      if (lock === null) throw new FacilitatorUnavailableError("another process has the turn");
      try {
        return await work();
      } finally {
        await lock.release();
      }
    },
  };
}

function describeOutcome(kind: "settled" | "rejected" | "unknown", transaction: Hex): CallOutcome {
  if (kind === "settled") return { kind: "mined", transaction };
  return { kind: kind === "rejected" ? "reverted" : "pending", transaction };
}

type Parties = Pick<DepositRequest["config"], "receiver" | "receiverAuthorizer" | "withdrawDelay">;

function partiesOf({ claims, refund }: ChannelCall): Parties {
  const config = refund?.config ?? claims?.claims[0]?.config;
  if (config === undefined) throw new Error("a call of channels without a channel");
  return config;
}

function termsOf(
  { network, asset, name, version }: RemoteChannelsOptions["token"],
  amount: bigint,
  { receiver, receiverAuthorizer, withdrawDelay }: Parties,
): PaymentRequirements {
  return {
    scheme: CHANNEL_SCHEME,
    network,
    asset,
    amount: amount.toString(),
    payTo: receiver,
    maxTimeoutSeconds: 60,
    extra: { name, version, receiverAuthorizer, withdrawDelay },
  };
}

function describeDepositPayload({ channelId, config, deposit, voucher }: DepositRequest): JsonObject {
  const { amount, validAfter, validBefore, salt, signature } = deposit;
  return {
    type: "deposit",
    channelConfig: describeConfig(config),
    voucher: {
      channelId,
      maxClaimableAmount: String(voucher?.maxClaimable ?? 0n),
      signature: voucher?.signature ?? "0x",
    },
    deposit: {
      amount: amount.toString(),
      authorization: {
        erc3009Authorization: {
          validAfter: validAfter.toString(),
          validBefore: validBefore.toString(),
          salt: numberToHex(salt, { size: 32 }),
          signature,
        },
      },
    },
  };
}

/** One authorizer's claims, or a refund with the claims before it. */
function describeCall({ claims, refund }: ChannelCall): JsonObject {
  const rows = describeClaims(claims?.claims ?? []);
  const signature = claims === null ? {} : { claimAuthorizerSignature: claims.signature };
  if (refund === null) return { type: "claim", claims: rows, ...signature };
  return {
    type: "refund",
    channelConfig: describeConfig(refund.config),
    voucher: { channelId: refund.channelId, maxClaimableAmount: "0", signature: "0x" },
    amount: refund.amount.toString(),
    refundNonce: refund.nonce.toString(),
    claims: rows,
    refundAuthorizerSignature: refund.signature,
    ...signature,
  };
}
