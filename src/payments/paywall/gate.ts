// The gate: a request goes through when its payment is good, is answered once, and is charged once.
import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { createLimit } from "../../lib/concurrency-limit.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import type { EndpointAnswer } from "../../schema/endpoint.ts";
import type { Rows } from "../../schema/record-store.ts";
import type { Facilitator } from "../facilitator/facilitator.ts";
import { openLedger } from "../ledger/ledger.ts";
import { createSweep } from "../ledger/reconcile.ts";
import type { Swept } from "../ledger/row-runner.ts";
import type { SettlementChain } from "../settlement/lookup.ts";
import { createSettlement } from "../settlement/settle.ts";
import { createPurchase } from "./flow.ts";
import { GATE_LIMITS, type GateLimits } from "./limits.ts";
import { challenge, checkOffer, type Offer } from "./offer.ts";
import type { PaidRequest, PaidWork, PaymentOutcome } from "./paid-request.ts";
import { readPaymentHeader } from "./payment.ts";
import type { Resource } from "./resource.ts";
import { createWaitingRoom } from "./row-waiters.ts";

export type Gate = {
  readonly offer: Offer;
  challenge(resource: Resource, reason?: string): EndpointAnswer;
  /** Throws what the work throws, and INPUT_INVALID for a header that is no payment. */
  serve(request: PaidRequest, work: PaidWork): Promise<EndpointAnswer>;
  /** Finishes what no client waits for; to be called every few seconds, by any number of processes. */
  sweep(signal?: AbortSignal): Promise<Swept>;
  /** What the ledger says was paid, in the token's units; the chain says the same once everything is swept. */
  total(): Promise<bigint>;
};

export type GateOptions = {
  readonly offer: Offer;
  readonly store: Rows;
  readonly facilitator: Facilitator;
  readonly chain: SettlementChain;
  readonly log: Log;
  readonly clock?: Clock;
  readonly limits?: Partial<GateLimits>;
  readonly count?: (outcome: PaymentOutcome) => void;
};

export function createGate(options: GateOptions): Gate {
  const { store, facilitator, chain, log, clock = systemClock, count = () => undefined } = options;
  const offer = checkOffer(options.offer);
  const limits = { ...GATE_LIMITS, ...options.limits };
  const ledger = openLedger(store, limits);
  const settlement = createSettlement({ ledger, facilitator, chain, clock, log, limits });
  // Requests that have waited for another one get their place back in order; new ones find a free place or are rejected.
  const working = createLimit({ runningMax: limits.servingMax, waitingMax: limits.waitersMax });
  const room = createWaitingRoom({ ledger, clock, limits });
  const parts = { ledger, facilitator, settlement, clock, log, limits };
  const purchase = createPurchase({ ...parts, offer, count, working, room });
  const ask = (resource: Resource, reason = "Payment required.") => {
    count("challenged");
    return challenge(offer, resource, reason);
  };
  return {
    offer,
    challenge: ask,
    async serve({ resource, signature }, work) {
      if (signature === undefined) return ask(resource);
      const payment = readPaymentHeader(signature, offer);
      if ("unacceptable" in payment) return ask(resource, payment.unacceptable);
      if (working.running >= limits.servingMax) {
        throw new Fault(
          "OVERLOADED",
          "Too many paid requests are being worked on; send the same signature again in a moment, do not sign a new one.",
        );
      }
      return purchase({ resource, payment, owner: randomUUID() }, work);
    },
    sweep: createSweep({ store, scope: offer, ledger, settlement, chain, clock, log, limits }),
    total: () => ledger.total(offer),
  };
}

/** For development only: everybody goes through. Whoever opens it must have refused to on a chain with real money. */
export function openGate(offer: Offer): Pick<Gate, "offer" | "challenge" | "serve"> {
  return {
    offer,
    challenge: (resource, reason = "Payment required.") => challenge(offer, resource, reason),
    serve: (_request, work) => work(new AbortController().signal),
  };
}
