// The gate: a request passes when its payment is valid; it is served once and charged once.
import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { createConcurrencyLimit, createFairLimit } from "../../lib/concurrency-limit.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import type { PaymentFacilitator } from "../facilitator/facilitator.ts";
import { openPaymentLedger } from "../ledger/ledger.ts";
import { createReconciler } from "../ledger/reconcile.ts";
import type { ReconcileCounts } from "../ledger/row-runner.ts";
import type { SettlementLookup } from "../settlement/lookup.ts";
import { runPaymentFlow, startFlow } from "./flow.ts";
import type { FlowServices } from "./flow-states.ts";
import { GATE_LIMITS, type GateLimits } from "./limits.ts";
import { type PaymentOffer, paymentRequiredResponse, validateOffer } from "./offer.ts";
import type { PaidHandler, PaidRequest, PaidResource, PaymentOutcome } from "./paid-request.ts";
import { parsePaymentHeader } from "./payment.ts";
import { createRowWaiters } from "./row-waiters.ts";

export type Gate = {
  readonly offer: PaymentOffer;
  challenge(resource: PaidResource, reason?: string): EndpointResponse;
  /** Throws what the handler throws, and INPUT_INVALID for a header that is no payment. */
  serve(request: PaidRequest, handler: PaidHandler): Promise<EndpointResponse>;
  /** Finishes payments that no client waits for. Call it every few seconds, in any number of processes. */
  reconcile(signal?: AbortSignal): Promise<ReconcileCounts>;
  /** The sum of the settled payments in the token's units; equal to the chain's after reconciliation. */
  totalPaid(): Promise<bigint>;
};

type GateOptions = {
  readonly offer: PaymentOffer;
  readonly store: StatementRunner;
  readonly facilitator: PaymentFacilitator;
  readonly lookup: SettlementLookup;
  readonly log: Log;
  readonly clock?: Clock;
  readonly limits?: Partial<GateLimits>;
  readonly count?: (outcome: PaymentOutcome) => void;
  /** For tests: every transition of every request. */
  readonly onTransition?: FlowServices["onTransition"];
};

export function createGate(options: GateOptions): Gate {
  const services = createServices(options);
  const { offer, count, limits, activeRequests, ledger } = services;
  const challenge = (resource: PaidResource, reason = "Payment required.") => {
    count("challenged");
    return paymentRequiredResponse(offer, resource, reason);
  };
  return {
    offer,
    challenge,
    async serve({ resource, signature }, handler) {
      if (signature === undefined) return challenge(resource);
      const payment = parsePaymentHeader(signature, offer);
      if ("unsupported" in payment) return challenge(resource, payment.unsupported);
      if (activeRequests.running >= limits.activeRequestsMax) {
        throw new Fault(
          "OVERLOADED",
          "Too many paid requests are in progress; send the same signature again in a moment, do not sign a new one.",
        );
      }
      return runPaymentFlow(startFlow(services, { resource, payment, owner: randomUUID(), handler }));
    },
    reconcile: createReconciler({ ...services, store: options.store, scope: offer }),
    totalPaid: () => ledger.totalPaid(offer),
  };
}

function createServices(options: GateOptions): FlowServices {
  const { store, facilitator, lookup, log, onTransition } = options;
  const { clock = systemClock, count = () => undefined } = options;
  const offer = validateOffer(options.offer);
  const limits = { ...GATE_LIMITS, ...options.limits };
  const ledger = openPaymentLedger(store, limits);
  return {
    ...{ offer, ledger, facilitator, lookup, clock, log, limits, count },
    // Requests that waited for another one get their place back in order; new ones find a free place or are rejected.
    activeRequests: createConcurrencyLimit({
      runningMax: limits.activeRequestsMax,
      waitingMax: limits.waitersMax,
    }),
    waiters: createRowWaiters({ ledger, clock, limits }),
    // No process has more active requests than these places.
    payerAdmission: createFairLimit({
      runningMax: limits.activeRequestsMax,
      runningPerKeyMax: 1,
      waitingMax: limits.activeRequestsMax,
      waitingPerKeyMax: limits.activeRequestsMax,
    }),
    ...(onTransition ? { onTransition } : {}),
  };
}

/** For development only: every request passes. The caller must never open it on a chain with real money. */
export function createBypassGate(offer: PaymentOffer): Pick<Gate, "offer" | "challenge" | "serve"> {
  return {
    offer,
    challenge: (resource, reason = "Payment required.") => paymentRequiredResponse(offer, resource, reason),
    serve: (_request, handler) => handler(new AbortController().signal),
  };
}
