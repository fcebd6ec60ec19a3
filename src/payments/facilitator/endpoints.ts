// HTTP endpoints of our facilitator: verify, settle and supported, within rules that bound what clients cost us in gas.
import type { PaymentRequirements } from "@x402/core/types";
import { BaseError } from "viem";
import type { Caip2Network } from "../../lib/caip2.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { type ConcurrencyLimit, createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { parseUint } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import { type Hex, parseAddress } from "../../lib/hex.ts";
import { nameFirst } from "../../lib/lists.ts";
import type { Log } from "../../lib/log.ts";
import { defineEndpoint, type Endpoint, type EndpointResponse } from "../../schema/endpoint.ts";
import { CHANNEL_SCHEME } from "../channels/channel-terms.ts";
import { findTermsViolation, type Payment, parsePayment, toPaymentPayload } from "../paywall/payment.ts";
import { NOT_SERVED } from "../rejection-reasons.ts";
import { FeesTooHighError } from "./broadcast/fees.ts";
import { type ChannelOperations, createChannelOperations } from "./channel-endpoints.ts";
import type { ChannelTransactions } from "./channel-transactions.ts";
import { FacilitatorUnavailableError, type PaymentFacilitator } from "./facilitator.ts";
import type { IdempotentSettle } from "./idempotent-settle.ts";
import {
  FACILITATOR_REQUEST_EXAMPLE,
  FACILITATOR_REQUEST_SCHEMA,
  type FacilitatorRequest,
  SETTLE_RESPONSE_SCHEMA,
  SUPPORTED_RESPONSE_SCHEMA,
  VERIFY_RESPONSE_SCHEMA,
} from "./schemas.ts";

/**
 * An error as it may be logged: names, short messages and codes down to the first cause. The library quotes the
 * arguments of a call, and a signature among them is money.
 */
function redactCallArguments(error: unknown): Error {
  if (!(error instanceof Error)) return new Error("a failure without an error");
  const { cause } = error;
  const message = error instanceof BaseError ? error.shortMessage : error.message;
  const redacted = new Error(message, cause instanceof Error ? { cause: redactCallArguments(cause) } : {});
  redacted.name = error.name;
  const code = "code" in error ? error.code : undefined;
  if (typeof code !== "number" && typeof code !== "string") return redacted;
  return Object.assign(redacted, { code });
}

/**
 * Every transfer costs us gas. The token is fixed, so that a client cannot have us call a contract of its own; a
 * transfer below the minimum is not worth its gas; and if payees are listed, every transfer pays one of them.
 */
type FacilitatorRules = {
  readonly network: Caip2Network;
  readonly asset: Hex;
  readonly assetName: string;
  readonly assetVersion: string;
  readonly amountMin: bigint;
  /** Null serves every payee. */
  readonly payees: readonly Hex[] | null;
  /** The accounts that sign for payees by channel; without any, no channels are served. */
  readonly authorizers?: readonly Hex[];
};

type FacilitatorEndpointOptions = {
  readonly facilitator: PaymentFacilitator &
    Pick<IdempotentSettle, "findSettled"> & { readonly channels?: ChannelTransactions };
  readonly rules: FacilitatorRules;
  readonly log: Log;
  readonly clock?: Clock;
  readonly count?: (operation: Operation, outcome: "ok" | "refused" | "trouble") => void;
};

type Operation = "verify" | "settle";

// The library itself rejects what expires within six seconds.
const SETTLE_MS = 7_000;
// Each waits for a block; more of them at once would wait for one another until their signatures expire.
const SETTLING_MAX = 100;

// Each is a handful of reads of a node. All at once would all be late; a few at a time are mostly in time.
const VERIFYING_MAX = 24;
const VERIFYING_WAITING_MAX = 500;
// Clients wait for ten seconds; a verification that no client waits for is not started.
const VERIFY_WAIT_MS = 8_000;

// A signature of the largest size is 8 KiB in hex; the terms come twice, and clients add extensions of their own.
// A claim of a channel takes about 1,100, and a request brings a hundred at most.
const BODY_BYTES_MAX = 128 * 1024;

type AcceptedRequest = { readonly payment: Payment; readonly terms: PaymentRequirements };
type CheckedRequest =
  | AcceptedRequest
  /** `expired` is a payment that is only out of time: it may have been settled before. */
  | { readonly rejection: string; readonly expired?: AcceptedRequest };

type FacilitatorService = Required<FacilitatorEndpointOptions> & {
  readonly verifying: ConcurrencyLimit;
  readonly settling: ConcurrencyLimit;
  readonly channels: ChannelOperations;
  /** Keyed by digest: copies of one payment share one settlement and one slot. */
  readonly inFlight: Map<string, ReturnType<PaymentFacilitator["settle"]>>;
};

export function createFacilitatorEndpoints(options: FacilitatorEndpointOptions): readonly Endpoint[] {
  const { clock = systemClock, count = () => undefined } = options;
  const service: FacilitatorService = {
    ...options,
    clock,
    count,
    verifying: createConcurrencyLimit({ runningMax: VERIFYING_MAX, waitingMax: VERIFYING_WAITING_MAX }),
    settling: createConcurrencyLimit({ runningMax: SETTLING_MAX, waitingMax: SETTLING_MAX }),
    inFlight: new Map(),
    channels: createChannelOperations(options.facilitator.channels, { authorizers: [], ...options.rules }),
  };
  return [
    defineEndpoint({
      ...describeOperation(
        "verify",
        "Verify a payment",
        "Whether the payment is signed by its payer, covers the requirements and could be settled now. Nothing is sent to the chain.",
      ),
      responses: { 200: VERIFY_RESPONSE_SCHEMA },
      handle: ({ body }) => handleVerify(service, body),
    }),
    defineEndpoint({
      ...describeOperation(
        "settle",
        "Settle a payment",
        "Verifies the payment, sends its transfer and waits until it is in a block. The same payment again gets the same transaction.",
      ),
      responses: { 200: SETTLE_RESPONSE_SCHEMA },
      handle: ({ body }) => handleSettle(service, body),
    }),
    {
      method: "GET",
      path: "/supported",
      operationId: "getSupported",
      summary: "List the payment kinds that this facilitator settles",
      description:
        "The x402 versions, schemes and networks, the extensions, and the addresses that send the transfers.",
      tag: "Facilitator",
      parameters: [],
      body: null,
      responses: { 200: SUPPORTED_RESPONSE_SCHEMA },
      handle: async () => ({ status: 200, body: await describeSupported(service) }),
    },
  ];
}

async function describeSupported({ facilitator, rules }: FacilitatorService) {
  const supported = await facilitator.getSupported();
  if ((rules.authorizers ?? []).length === 0) return supported;
  const channels = { x402Version: 2, scheme: CHANNEL_SCHEME, network: rules.network };
  return { ...supported, kinds: [...supported.kinds, channels] };
}

function isOfChannel({ paymentRequirements }: FacilitatorRequest): boolean {
  return paymentRequirements.scheme === CHANNEL_SCHEME;
}

async function handleVerify(
  service: FacilitatorService,
  body: FacilitatorRequest,
): Promise<EndpointResponse> {
  const { facilitator, clock, count, verifying } = service;
  if (isOfChannel(body)) return verifyDeposit(service, body);
  const checked = checkRequest(service, body);
  if ("rejection" in checked) {
    count("verify", "refused");
    const invalidMessage = checked.rejection;
    return { status: 200, body: { isValid: false, invalidReason: NOT_SERVED, invalidMessage } };
  }
  const { payment, terms } = checked;
  const receivedMs = clock.nowMs();
  const { isValid, invalidReason } = await verifying
    .run(async () => {
      if (clock.nowMs() - receivedMs > VERIFY_WAIT_MS) {
        throw new FacilitatorUnavailableError("the client no longer waits");
      }
      return facilitator.verify(toPaymentPayload(payment, terms), terms);
    })
    .catch((error) => throwUnavailable(service, "verify", error));
  count("verify", isValid ? "ok" : "refused");
  // The library's own message is left out: it quotes the node, and with it the node's address.
  return { status: 200, body: { isValid, ...(isValid ? {} : { invalidReason }), payer: payment.from } };
}

async function verifyDeposit(
  service: FacilitatorService,
  body: FacilitatorRequest,
): Promise<EndpointResponse> {
  const { channels, count, verifying } = service;
  const verdict = await verifying
    .run(() => channels.verify(body))
    .catch((error) => throwUnavailable(service, "verify", error));
  const isValid = "payer" in verdict;
  count("verify", isValid ? "ok" : "refused");
  if (isValid) return { status: 200, body: { isValid, payer: verdict.payer } };
  const { reason: invalidReason, rejected: invalidMessage } = verdict;
  return { status: 200, body: { isValid, invalidReason, invalidMessage } };
}

async function settleByChannel(
  service: FacilitatorService,
  body: FacilitatorRequest,
): Promise<EndpointResponse> {
  const { channels, count, settling } = service;
  const result = await settling
    .run(() => channels.settle(body))
    .catch((error) => throwUnavailable(service, "settle", error));
  count("settle", result.success ? "ok" : "refused");
  return { status: 200, body: result };
}

async function handleSettle(
  service: FacilitatorService,
  body: FacilitatorRequest,
): Promise<EndpointResponse> {
  const { count, rules } = service;
  if (isOfChannel(body)) return settleByChannel(service, body);
  const { network } = rules;
  const checked = checkRequest(service, body);
  if ("rejection" in checked) {
    const settled = checked.expired ? await findExpired(service, checked.expired) : null;
    count("settle", settled ? "ok" : "refused");
    if (settled) return { status: 200, body: settled };
    const rejected = { success: false, errorReason: NOT_SERVED, errorMessage: checked.rejection };
    return { status: 200, body: { ...rejected, transaction: "", network } };
  }
  const { success, errorReason, transaction } = await settleShared(service, checked).catch((error) =>
    throwUnavailable(service, "settle", error),
  );
  count("settle", success ? "ok" : "refused");
  const payer = checked.payment.from;
  return { status: 200, body: { success, ...(success ? {} : { errorReason }), transaction, network, payer } };
}

/** The settlement of a payment that has expired since. */
function findExpired(service: FacilitatorService, { payment, terms }: AcceptedRequest) {
  return service.facilitator
    .findSettled(toPaymentPayload(payment, terms), terms)
    .catch((error) => throwUnavailable(service, "settle", error));
}

function settleShared(
  { facilitator, settling, inFlight }: FacilitatorService,
  { payment, terms }: AcceptedRequest,
): ReturnType<PaymentFacilitator["settle"]> {
  const running = inFlight.get(payment.digest);
  if (running) return running;
  const settlement = settling
    .run(() => facilitator.settle(toPaymentPayload(payment, terms), terms))
    .finally(() => inFlight.delete(payment.digest));
  inFlight.set(payment.digest, settlement);
  return settlement;
}

function throwUnavailable({ count, log }: FacilitatorService, operation: Operation, error: unknown): never {
  if (error instanceof Fault && error.code === "INPUT_INVALID") throw error;
  count(operation, "trouble");
  const cause = redactCallArguments(error);
  log.warn(
    { component: "payments", event: "facilitator_unavailable", err: cause, operation },
    "Facilitator unavailable",
  );
  throw new Fault("FACILITATOR_UNAVAILABLE", unavailableMessage(error), { cause });
}

function unavailableMessage(cause: unknown): string {
  for (let error = cause; error instanceof Error; error = error.cause) {
    if (error instanceof FeesTooHighError) {
      return "Transaction fees are above what this facilitator pays; try again later.";
    }
  }
  return "The chain cannot be read at the moment; try again.";
}

function describeOperation(operation: Operation, summary: string, description: string) {
  return {
    method: "POST",
    path: `/${operation}`,
    operationId: `${operation}Payment`,
    summary,
    description,
    tag: "Facilitator",
    parameters: [],
    body: FACILITATOR_REQUEST_SCHEMA,
    bodyExample: FACILITATOR_REQUEST_EXAMPLE,
    bodyBytesMax: BODY_BYTES_MAX,
    errorStatuses: [503],
  } as const;
}

// A sentence stays readable; an operator with more payees knows them.
const NAMED_PAYEES_MAX = 3;

/** Names the payees that are served: most often the developer of a paid server has configured another address. */
function describeOtherPayee(payTo: Hex, payees: readonly Hex[]): string {
  const named = nameFirst(payees, NAMED_PAYEES_MAX);
  return `This facilitator settles payments to ${named} only, not to ${payTo}; its operator can add a payee with FACILITATOR_PAYEES, or with --payee in a local run.`;
}

/** Throws INPUT_INVALID for anything that is not a payment; returns why a payment is not served here. */
function checkRequest({ rules, clock }: FacilitatorService, body: FacilitatorRequest): CheckedRequest {
  const { paymentPayload, paymentRequirements: required } = body;
  const payment = parsePayment(paymentPayload, rules, "paymentPayload");
  if ("unsupported" in payment) return { rejection: payment.unsupported };
  const payTo = parseAddress(required.payTo, "paymentRequirements.payTo");
  const amount = parseUint(required.amount, "paymentRequirements.amount");
  if (required.network !== rules.network) return { rejection: "The requirements name another network." };
  if (required.asset.toLowerCase() !== rules.asset) {
    return { rejection: "The requirements name another token." };
  }
  if (amount < rules.amountMin)
    return { rejection: `Payments below ${rules.amountMin} units are not settled.` };
  if (rules.payees !== null && !rules.payees.includes(payTo)) {
    return { rejection: describeOtherPayee(payTo, rules.payees) };
  }
  const { network, asset } = rules;
  const times = { nowMs: clock.nowMs(), settleMs: SETTLE_MS };
  const violation = findTermsViolation(payment, { network, asset, payTo, amount }, times);
  const terms: PaymentRequirements = {
    scheme: "exact",
    network,
    asset,
    amount: amount.toString(),
    payTo,
    maxTimeoutSeconds: required.maxTimeoutSeconds,
    extra: { name: rules.assetName, version: rules.assetVersion },
  };
  if (violation === null) return { payment, terms };
  const rejection = violation.message;
  const isExact = payment.to === payTo && payment.value === amount;
  return isExact ? { rejection, expired: { payment, terms } } : { rejection };
}
