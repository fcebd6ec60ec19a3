// Our facilitator for others: verify, settle and supported, within rules that keep strangers from spending its gas.

import type { PaymentRequirements } from "@x402/core/types";
import { BaseError } from "viem";
import type { Caip2Network } from "../../lib/caip2.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { Fault } from "../../lib/fault.ts";
import { type Hex, parseAddress } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import { parseUint } from "../../lib/uint.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import { findTermsViolation, type Payment, parsePayment, toPaymentPayload } from "../paywall/payment.ts";
import { NOT_SERVED } from "../rejection-reasons.ts";
import { FeesTooHighError } from "./broadcast/fee-limits.ts";
import { FacilitatorUnavailableError, type PaymentFacilitator } from "./facilitator.ts";
import type { IdempotentSettle } from "./idempotent-settle.ts";
import {
  FACILITATOR_REQUEST_SCHEMA,
  SETTLE_RESPONSE_SCHEMA,
  SUPPORTED_RESPONSE_SCHEMA,
  VERIFY_RESPONSE_SCHEMA,
} from "./schemas.ts";

// An error as it may be logged: the library quotes the arguments of a call, and a signature among them is money.

/** The same names, short messages and codes down to the first cause, and nothing else of what was called. */
export function redactCallArguments(error: unknown): Error {
  if (!(error instanceof Error)) return new Error("a failure without an error");
  const { cause } = error;
  const message = error instanceof BaseError ? error.shortMessage : error.message;
  const told = new Error(message, cause instanceof Error ? { cause: redactCallArguments(cause) } : {});
  told.name = error.name;
  const { code } = error as { code?: unknown };
  return typeof code === "number" || typeof code === "string" ? Object.assign(told, { code }) : told;
}

/**
 * Whoever is served costs us gas. The token is ours to name, so nobody can hand us a contract of his own to call; a
 * transfer below the minimum is not worth its gas; and where payees are named, every transfer we pay for pays one of them.
 */
export type FacilitatorRules = {
  readonly network: Caip2Network;
  readonly asset: Hex;
  readonly assetName: string;
  readonly assetVersion: string;
  readonly amountMin: bigint;
  /** Null serves every payee. */
  readonly payees: readonly Hex[] | null;
};

export type FacilitatorEndpointOptions = {
  readonly facilitator: PaymentFacilitator & Pick<IdempotentSettle, "findSettled">;
  readonly rules: FacilitatorRules;
  readonly log: Log;
  readonly clock?: Clock;
  readonly count?: (operation: "verify" | "settle", outcome: "ok" | "refused" | "trouble") => void;
};

// The library itself refuses what expires within six seconds.
const SETTLE_MS = 7_000;
// Each waits for a block; more than this at once would wait for one another until their signatures expire.
const SETTLING_MAX = 100;

// Each is a handful of reads of a node. All at once would all be late together; a few at a time are mostly in time.
const VERIFYING_MAX = 24;
const VERIFYING_WAITING_MAX = 500;
// Whoever asked waits for ten seconds; what nobody waits for any more is not begun.
const VERIFY_WAIT_MS = 8_000;

// A signature of the largest size is 8 KiB in hex; the terms come twice, and clients add extensions of their own.
const BODY_BYTES_MAX = 32 * 1024;

type Accepted = { readonly payment: Payment; readonly terms: PaymentRequirements };
type Checked =
  | Accepted
  /** `expired` is a payment that only its time stands against: it may have been settled while there was time. */
  | { readonly objection: string; readonly expired?: Accepted };

export function createFacilitatorEndpoints(options: FacilitatorEndpointOptions): readonly Endpoint[] {
  const { facilitator, rules, log, clock = systemClock, count = () => undefined } = options;
  const settling = createConcurrencyLimit({ runningMax: SETTLING_MAX, waitingMax: SETTLING_MAX });
  const verifying = createConcurrencyLimit({ runningMax: VERIFYING_MAX, waitingMax: VERIFYING_WAITING_MAX });
  // The same payment sent twice at once would be two transactions, of which one can only fail, at our cost.
  const underWay = new Map<string, ReturnType<PaymentFacilitator["settle"]>>();

  const troubled = (operation: "verify" | "settle") => (error: unknown) => {
    count(operation, "trouble");
    const cause = redactCallArguments(error);
    log.warn({ err: cause, operation }, "The facilitator could not tell");
    throw new Fault("FACILITATOR_UNAVAILABLE", sentenceFor(error), { cause });
  };
  const settleOnce = ({ payment, terms }: Accepted) => {
    const running = underWay.get(payment.digest);
    if (running) return running;
    const begun = settling
      .run(() => facilitator.settle(toPaymentPayload(payment, terms), terms))
      .finally(() => underWay.delete(payment.digest));
    underWay.set(payment.digest, begun);
    return begun;
  };

  return [
    {
      ...described("verify", "Tell whether a payment could be carried out now"),
      responses: { 200: VERIFY_RESPONSE_SCHEMA },
      async handle({ body }) {
        const checked = check(body, rules, clock);
        if ("objection" in checked) {
          count("verify", "refused");
          return {
            status: 200,
            body: { isValid: false, invalidReason: NOT_SERVED, invalidMessage: checked.objection },
          };
        }
        const { payment, terms } = checked;
        const askedMs = clock.nowMs();
        const { isValid, invalidReason } = await verifying
          .run(async () => {
            if (clock.nowMs() - askedMs > VERIFY_WAIT_MS)
              throw new FacilitatorUnavailableError("nobody waits any more");
            return facilitator.verify(toPaymentPayload(payment, terms), terms);
          })
          .catch(troubled("verify"));
        count("verify", isValid ? "ok" : "refused");
        // The library's own message is left out: it quotes the node, and with it the node's address.
        return { status: 200, body: { isValid, ...(isValid ? {} : { invalidReason }), payer: payment.from } };
      },
    },
    {
      ...described("settle", "Carry out a payment and tell what became of it"),
      responses: { 200: SETTLE_RESPONSE_SCHEMA },
      async handle({ body }) {
        const checked = check(body, rules, clock);
        const { network } = rules;
        if ("objection" in checked) {
          const settled = checked.expired
            ? await facilitator
                .findSettled(
                  toPaymentPayload(checked.expired.payment, checked.expired.terms),
                  checked.expired.terms,
                )
                .catch(troubled("settle"))
            : null;
          count("settle", settled ? "ok" : "refused");
          if (settled) return { status: 200, body: settled };
          const refused = { success: false, errorReason: NOT_SERVED, errorMessage: checked.objection };
          return { status: 200, body: { ...refused, transaction: "", network } };
        }
        const { success, errorReason, transaction } = await settleOnce(checked).catch(troubled("settle"));
        count("settle", success ? "ok" : "refused");
        const payer = checked.payment.from;
        return {
          status: 200,
          body: { success, ...(success ? {} : { errorReason }), transaction, network, payer },
        };
      },
    },
    {
      method: "GET",
      path: "/supported",
      operationId: "getSupported",
      summary: "What this facilitator carries out",
      tag: "Facilitator",
      parameters: [],
      body: null,
      responses: { 200: SUPPORTED_RESPONSE_SCHEMA },
      handle: async () => ({ status: 200, body: await facilitator.getSupported() }),
    },
  ];
}

function sentenceFor(cause: unknown): string {
  for (let error = cause; error instanceof Error; error = error.cause) {
    if (error instanceof FeesTooHighError)
      return "Transaction fees are above what this facilitator pays; try again later.";
  }
  return "The chain can not be asked at the moment; try again.";
}

function described(operation: "verify" | "settle", summary: string) {
  return {
    method: "POST",
    path: `/${operation}`,
    operationId: `${operation}Payment`,
    summary,
    tag: "Facilitator",
    parameters: [],
    body: FACILITATOR_REQUEST_SCHEMA,
    bodyBytesMax: BODY_BYTES_MAX,
    errorStatuses: [503],
  } as const;
}

/** Throws INPUT_INVALID for what is no payment; answers with a sentence for one that is not served here. */
function check(body: unknown, rules: FacilitatorRules, clock: Clock): Checked {
  const { paymentPayload, paymentRequirements } = body as Record<string, Record<string, unknown>>;
  const payment = parsePayment(paymentPayload, rules, "paymentPayload");
  if ("unsupported" in payment) return { objection: payment.unsupported };
  const payTo = parseAddress(paymentRequirements?.payTo, "paymentRequirements.payTo");
  const amount = parseUint(paymentRequirements?.amount, "paymentRequirements.amount");
  if (paymentRequirements?.network !== rules.network)
    return { objection: "The requirements name another network." };
  if (String(paymentRequirements.asset).toLowerCase() !== rules.asset) {
    return { objection: "The requirements name another token." };
  }
  if (amount < rules.amountMin)
    return { objection: `Payments below ${rules.amountMin} units are not carried out.` };
  if (rules.payees !== null && !rules.payees.includes(payTo))
    return { objection: "This payee is not served." };
  const { network, asset } = rules;
  const times = { nowMs: clock.nowMs(), settleMs: SETTLE_MS };
  const objection = findTermsViolation(payment, { network, asset, payTo, amount }, times);
  const terms: PaymentRequirements = {
    scheme: "exact",
    network,
    asset,
    amount: amount.toString(),
    payTo,
    maxTimeoutSeconds: Number(paymentRequirements.maxTimeoutSeconds),
    extra: { name: rules.assetName, version: rules.assetVersion },
  };
  if (objection === null) return { payment, terms };
  const isExact = payment.to === payTo && payment.value === amount;
  return isExact ? { objection, expired: { payment, terms } } : { objection };
}
