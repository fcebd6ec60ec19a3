// The gate: a request goes through when its payment is good, is answered once, and is charged once.
import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import type { PaymentFacilitator } from "../facilitator/facilitator.ts";
import { openPaymentLedger } from "../ledger/ledger.ts";
import { createReconciler } from "../ledger/reconcile.ts";
import type { ReconcileCounts } from "../ledger/row-runner.ts";
import type { SettlementLookup } from "../settlement/lookup.ts";
import { createSettlement } from "../settlement/settle.ts";
import { createPaymentFlow } from "./flow.ts";
import { GATE_LIMITS, type GateLimits } from "./limits.ts";
import { type PaymentOffer, paymentRequiredResponse, validateOffer } from "./offer.ts";
import type { PaidHandler, PaidRequest, PaidResource, PaymentOutcome } from "./paid-request.ts";
import { parsePaymentHeader } from "./payment.ts";
import { createRowWaiters } from "./row-waiters.ts";

export type Gate = {
  readonly offer: PaymentOffer;
  challenge(resource: PaidResource, reason?: string): EndpointResponse;
  /** Throws what the work throws, and INPUT_INVALID for a header that is no payment. */
  serve(request: PaidRequest, work: PaidHandler): Promise<EndpointResponse>;
  /** Finishes what no client waits for; to be called every few seconds, by any number of processes. */
  reconcile(signal?: AbortSignal): Promise<ReconcileCounts>;
  /** What the ledger says was paid, in the token's units; the chain says the same once everything is swept. */
  totalPaid(): Promise<bigint>;
};

export type GateOptions = {
  readonly offer: PaymentOffer;
  readonly store: StatementRunner;
  readonly facilitator: PaymentFacilitator;
  readonly lookup: SettlementLookup;
  readonly log: Log;
  readonly clock?: Clock;
  readonly limits?: Partial<GateLimits>;
  readonly count?: (outcome: PaymentOutcome) => void;
};

export function createGate(options: GateOptions): Gate {
  const { store, facilitator, lookup: chain, log, clock = systemClock, count = () => undefined } = options;
  const offer = validateOffer(options.offer);
  const limits = { ...GATE_LIMITS, ...options.limits };
  const ledger = openPaymentLedger(store, limits);
  const settlement = createSettlement({ ledger, facilitator, chain, clock, log, limits });
  // Requests that have waited for another one get their place back in order; new ones find a free place or are rejected.
  const working = createConcurrencyLimit({
    runningMax: limits.activeRequestsMax,
    waitingMax: limits.waitersMax,
  });
  const room = createRowWaiters({ ledger, clock, limits });
  const parts = { ledger, facilitator, settlement, clock, log, limits };
  const purchase = createPaymentFlow({ ...parts, offer, count, activeRequests: working, waiters: room });
  const ask = (resource: PaidResource, reason = "Payment required.") => {
    count("challenged");
    return paymentRequiredResponse(offer, resource, reason);
  };
  return {
    offer,
    challenge: ask,
    async serve({ resource, signature }, work) {
      if (signature === undefined) return ask(resource);
      const payment = parsePaymentHeader(signature, offer);
      if ("unsupported" in payment) return ask(resource, payment.unsupported);
      if (working.running >= limits.activeRequestsMax) {
        throw new Fault(
          "OVERLOADED",
          "Too many paid requests are being worked on; send the same signature again in a moment, do not sign a new one.",
        );
      }
      return purchase({ resource, payment, owner: randomUUID() }, work);
    },
    reconcile: createReconciler({
      store,
      scope: offer,
      ledger,
      settlement,
      chain,
      clock,
      log,
      limits,
    }),
    totalPaid: () => ledger.totalPaid(offer),
  };
}

/** For development only: everybody goes through. Whoever opens it must have refused to on a chain with real money. */
export function createBypassGate(offer: PaymentOffer): Pick<Gate, "offer" | "challenge" | "serve"> {
  return {
    offer,
    challenge: (resource, reason = "Payment required.") => paymentRequiredResponse(offer, resource, reason),
    serve: (_request, work) => work(new AbortController().signal),
  };
}
