// The states of a paid request, the transitions between them, and requests that wait for the payment of another.
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Clock } from "../../lib/clock.ts";
import type { ConcurrencyLimit, FairLimit } from "../../lib/concurrency-limit.ts";
import type { Hex } from "../../lib/hex.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import type { PaymentLedger } from "../ledger/ledger.ts";
import { type LedgerRow, type PaymentKey, paymentKeyText, type StoredResponse } from "../ledger/row.ts";
import type { TransferFound } from "../settlement/lookup.ts";
import type { SettlementContext } from "../settlement/settle.ts";
import type { Rejection } from "../settlement/trace.ts";
import type { GateLimits } from "./limits.ts";
import type { PaidHandler, PaidResource, PaymentOffer, PaymentOutcome } from "./offer.ts";
import type { Payment } from "./payment.ts";
import type { PaymentResponses } from "./responses.ts";
import type { SpentPayments, UnpaidShare, UnpaidWork } from "./unpaid-work.ts";

/** Each state with the states that may follow it. A step that returns another one does not compile. */
export const FLOW = {
  opening: ["verifying", "tracing", "deciding", "findingHolder", "waiting", "done"],
  deciding: ["discarding", "reclaiming", "replaying", "waiting", "done"],
  discarding: ["waiting"],
  reclaiming: ["verifying", "tracing", "resuming", "findingHolder", "waiting"],
  verifying: ["admitting", "tracing", "done"],
  tracing: ["admitting", "done"],
  admitting: ["running", "done"],
  running: ["storing", "done"],
  storing: ["settling", "done"],
  settling: ["done"],
  resuming: ["replaying", "done"],
  findingHolder: ["joining", "waiting"],
  joining: ["verifyingPayer", "waiting", "done"],
  verifyingPayer: ["replaying", "finishingHolder", "done"],
  finishingHolder: ["replaying", "opening", "waiting", "done"],
  replaying: ["done"],
  waiting: ["opening", "done"],
} as const;

/** The transfer that someone else made with the signature; null if the facilitator is to make it. */
type Carried = { readonly transfer: TransferFound | null };

/** A row that may be charged under the identifier of the request, and another authorization than the request's. */
type Holder = { readonly holder: LedgerRow };

export type FlowState =
  /** With a holder, the request goes on as that authorization: someone else carried it out. */
  | { readonly at: "opening"; readonly holder?: LedgerRow }
  | { readonly at: "deciding"; readonly row: LedgerRow; readonly payerFailures: number }
  | { readonly at: "discarding"; readonly row: LedgerRow }
  /** `rejection` is why the payment cannot be charged now; null if it can. */
  | { readonly at: "reclaiming"; readonly row: LedgerRow; readonly rejection: Rejection | null }
  | { readonly at: "verifying" }
  | { readonly at: "tracing"; readonly rejection: Rejection }
  | ({ readonly at: "admitting" } & Carried)
  | ({ readonly at: "running" } & Carried)
  | ({ readonly at: "storing"; readonly response: StoredResponse } & Carried)
  | ({ readonly at: "settling"; readonly row: LedgerRow; readonly response: StoredResponse } & Carried)
  | { readonly at: "resuming"; readonly row: LedgerRow }
  | { readonly at: "findingHolder"; readonly row: LedgerRow | null; readonly paymentId: string }
  | ({ readonly at: "joining" } & Holder)
  | ({ readonly at: "verifyingPayer" } & Holder)
  | ({ readonly at: "finishingHolder" } & Holder)
  | { readonly at: "replaying"; readonly row: LedgerRow; readonly transaction: Hex }
  /** `row` is null if another request has just inserted it: it is there at the next read. */
  | { readonly at: "waiting"; readonly row: LedgerRow | null }
  | { readonly at: "done"; readonly response: EndpointResponse };

export type FlowStateName = FlowState["at"];
export type StateOf<A extends FlowStateName> = Extract<FlowState, { readonly at: A }>;
/** The outcomes that the step of a state may return. */
export type Next<A extends keyof typeof FLOW> = StateOf<(typeof FLOW)[A][number]>;

/** The parts that all requests of a process share. */
export type FlowServices = SettlementContext & {
  readonly count: (outcome: PaymentOutcome) => void;
  /** Requests that act; those that wait are not among them. */
  readonly activeRequests: ConcurrencyLimit;
  readonly waiters: RowWaiters;
  /** Null without a limit. */
  readonly unpaidWork: UnpaidWork | null;
  readonly spentPayments: SpentPayments;
  /** One payment of a payer at a time: those admitted at the same moment would count one another, and all be rejected. */
  readonly payerAdmission: FairLimit;
  /** For tests. */
  readonly onTransition?: (from: FlowStateName, to: FlowStateName) => void;
};

/** One request. Only `firstSeen` and `unpaid` change. */
export type Flow = {
  readonly services: FlowServices;
  readonly offer: PaymentOffer;
  readonly resource: PaidResource;
  readonly payment: Payment;
  /** The owner of every lease that the request takes. */
  readonly owner: string;
  readonly key: PaymentKey;
  readonly payload: PaymentPayload;
  readonly terms: PaymentRequirements;
  /** Why the payment may be served only if it has a row; null for any other. */
  readonly problem: string | null;
  readonly fingerprint: string;
  readonly respond: PaymentResponses;
  readonly handler: PaidHandler;
  /** The cost of the request for us if it is not paid. */
  readonly unpaid: UnpaidShare;
  /** When the request stops waiting for others. */
  readonly deadlineMs: number;
  /** The rows as the request found them first: requests that waited together share the outcome of one attempt. */
  readonly firstSeen: { row: LedgerRow | null; holder: LedgerRow | null };
};

export function done(response: EndpointResponse): StateOf<"done"> {
  return { at: "done", response };
}

type RowWaitOptions = {
  readonly key: PaymentKey;
  readonly isReady: (row: LedgerRow | null) => boolean;
  readonly deadlineMs: number;
};

type Waiter = RowWaitOptions & {
  readonly resolve: (outcome: "ready" | "timed-out") => void;
  readonly reject: (reason: unknown) => void;
};

const POLL_MS_MIN = 20;
const POLL_MS_MAX = 400;

type RowWaiters = ReturnType<typeof createRowWaiters>;

export function createRowWaiters(options: {
  readonly ledger: Pick<PaymentLedger, "find">;
  readonly clock: Clock;
  readonly limits: Pick<GateLimits, "waitersPerPaymentMax" | "waitersMax">;
}) {
  const { ledger, clock, limits } = options;
  const present = new Map<string, number>();
  const polls = new Map<string, Set<Waiter>>();
  let waiting = 0;

  async function poll(key: PaymentKey, waiters: Set<Waiter>): Promise<void> {
    try {
      for (let pauseMs = POLL_MS_MIN; waiters.size > 0; pauseMs = Math.min(POLL_MS_MAX, pauseMs * 2)) {
        await clock.sleep(pauseMs);
        resolveReady(waiters, await ledger.find(key), clock);
      }
    } catch (error) {
      for (const { reject } of waiters) reject(error);
    } finally {
      polls.delete(paymentKeyText(key));
    }
  }

  return {
    /** Admits a request with this authorization; returns the function to call at its end, or null for too many. */
    enter(key: PaymentKey): (() => void) | null {
      const id = paymentKeyText(key);
      const count = present.get(id) ?? 0;
      // One of them acts; the others wait.
      if (count > limits.waitersPerPaymentMax) return null;
      present.set(id, count + 1);
      return () => {
        const left = (present.get(id) ?? 1) - 1;
        if (left === 0) present.delete(id);
        else present.set(id, left);
      };
    },
    /** Waits until the row lets the request act, at most until the deadline. */
    async wait(options: RowWaitOptions): Promise<"ready" | "timed-out" | "too-many"> {
      const id = paymentKeyText(options.key);
      const running = polls.get(id);
      if (waiting >= limits.waitersMax || (running?.size ?? 0) >= limits.waitersPerPaymentMax)
        return "too-many";
      waiting += 1;
      try {
        return await new Promise((resolve, reject) => {
          const waiter = { ...options, resolve, reject };
          if (running) {
            running.add(waiter);
            return;
          }
          const waiters = new Set([waiter]);
          polls.set(id, waiters);
          void poll(options.key, waiters);
        });
      } finally {
        waiting -= 1;
      }
    },
  };
}

/** Resolves the waiters that are ready or out of time. */
function resolveReady(waiters: Set<Waiter>, row: LedgerRow | null, clock: Clock): void {
  for (const waiter of waiters) {
    const isReady = waiter.isReady(row);
    if (!isReady && clock.nowMs() < waiter.deadlineMs) continue;
    waiters.delete(waiter);
    waiter.resolve(isReady ? "ready" : "timed-out");
  }
}
