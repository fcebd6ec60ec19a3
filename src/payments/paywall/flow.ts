// The payment flow: runs one paid request from state to state until it has a response.
import type { EndpointResponse } from "../../schema/endpoint.ts";
import type { LeaseRenewal } from "../ledger/ledger.ts";
import type { LedgerRow, PaymentKey } from "../ledger/row.ts";
import { decideByRow, discardUnverified, openPayment, reclaimPayment } from "./flow-open.ts";
import {
  admitPayment,
  decideByHolder,
  findHolder,
  finishHolder,
  paymentIn,
  replayResponse,
  resumePayment,
  runHandler,
  settlePayment,
  storeResponse,
  tracePayment,
  verifyPayment,
  verifySamePayer,
} from "./flow-run.ts";
import {
  done,
  type Flow,
  type FlowServices,
  type FlowState,
  type Next,
  type StateOf,
} from "./flow-states.ts";
import { paymentRequirementsFor, resourceFingerprint } from "./offer.ts";
import { toPaymentPayload } from "./payment.ts";
import type { TransferRequest } from "./payment-scheme.ts";
import { createPaymentResponses } from "./responses.ts";
import { UnpaidShare } from "./unpaid-work.ts";

/** States in which a request holds one of the slots for requests that act. */
type ActingState = Exclude<FlowState, { readonly at: "waiting" | "done" }>;

export function startFlow(
  services: FlowServices,
  owner: string,
  { offer, resource, payment, handler, client, problem = null, receiptFor }: TransferRequest,
): Flow {
  const { clock, limits } = services;
  const terms = paymentRequirementsFor(offer);
  return {
    services,
    offer,
    resource,
    payment,
    owner,
    handler,
    terms,
    problem,
    key: { network: offer.network, asset: offer.asset, payer: payment.from, nonce: payment.nonce },
    payload: toPaymentPayload(payment, terms, offer.resourceOrigin + resource.path),
    fingerprint: resourceFingerprint(resource),
    respond: createPaymentResponses({ ...services, offer, receiptFor }, resource),
    unpaid: new UnpaidShare(services.unpaidWork, client),
    deadlineMs: clock.nowMs() + limits.waitMs,
    firstSeen: { row: null, holder: null },
  };
}

/** The same request, with another authorization of its purchase. */
function continueAs(flow: Flow, row: LedgerRow): Flow {
  const { network, asset, payer, nonce, payload, terms } = row;
  const payment = paymentIn(row, flow.offer);
  const firstSeen = { row: null, holder: null };
  return { ...flow, key: { network, asset, payer, nonce }, payment, payload, terms, firstSeen };
}

export async function runPaymentFlow(request: Flow): Promise<EndpointResponse> {
  const { activeRequests, waiters } = request.services;
  let flow = request;
  const leave = waiters.enter(flow.key);
  if (leave === null) return flow.respond.tooManyWaiting();
  try {
    for (;;) {
      const stopped = await activeRequests.run(() => act(flow));
      flow = stopped.flow;
      const next = stopped.state.at === "done" ? stopped.state : await waitForRow(flow, stopped.state);
      if (next.at === "done") return next.response;
    }
  } finally {
    leave();
    flow.unpaid.end();
  }
}

/** Runs steps until the request has to wait or has its response, and renews the lease that the current state needs. */
async function act(
  request: Flow,
): Promise<{ readonly flow: Flow; readonly state: StateOf<"waiting"> | StateOf<"done"> }> {
  let flow = request;
  const lease = new HeldLease(flow);
  let state: FlowState = { at: "opening" };
  try {
    while (state.at !== "waiting" && state.at !== "done") {
      if (state.at === "opening" && state.holder) flow = continueAs(flow, state.holder);
      await lease.hold(leaseKeyOf(flow, state));
      const next: FlowState = await advance(flow, state.at, state);
      flow.services.onTransition?.(state.at, next.at);
      state = next;
    }
    return { flow, state };
  } finally {
    // A step that throws ends the flow as a crash does: the row keeps its lease until that runs out.
    await lease.hold(null);
  }
}

type ActingName = ActingState["at"];

/** The step of each state. */
const STEPS: {
  readonly [Name in ActingName]: (flow: Flow, state: StateOf<Name>) => Next<Name> | Promise<Next<Name>>;
} = {
  opening: openPayment,
  deciding: decideByRow,
  discarding: discardUnverified,
  reclaiming: reclaimPayment,
  verifying: verifyPayment,
  tracing: tracePayment,
  admitting: admitPayment,
  running: runHandler,
  storing: storeResponse,
  settling: settlePayment,
  resuming: resumePayment,
  findingHolder: findHolder,
  joining: decideByHolder,
  verifyingPayer: verifySamePayer,
  finishingHolder: finishHolder,
  replaying: replayResponse,
};

function advance<Name extends ActingName>(flow: Flow, at: Name, state: StateOf<Name>) {
  return STEPS[at](flow, state);
}

const OWNING: ReadonlySet<ActingName> = new Set([
  "verifying",
  "tracing",
  "admitting",
  "running",
  "storing",
  "settling",
  "resuming",
]);

/** The row whose lease a state needs: its own while the request owns it, the holder's while it finishes that. */
function leaseKeyOf(flow: Flow, state: ActingState): PaymentKey | null {
  if (state.at === "finishingHolder") return state.holder;
  return OWNING.has(state.at) ? flow.key : null;
}

/** Renews the lease of at most one row at a time. */
class HeldLease {
  readonly #flow: Flow;
  #key: PaymentKey | null = null;
  #renewal: LeaseRenewal | null = null;

  constructor(flow: Flow) {
    this.#flow = flow;
  }

  /** Keeps a renewal that runs for the same row; otherwise stops it, waits for the one in progress, and starts another. */
  async hold(key: PaymentKey | null): Promise<void> {
    if (key?.nonce === this.#key?.nonce) return;
    await this.#renewal?.stop();
    this.#key = key;
    const { services, owner } = this.#flow;
    const { ledger, log } = services;
    this.#renewal = key && ledger.startRenewal(key, owner, log);
  }
}

/** Waits, without holding a slot, until the row lets this one act again. */
async function waitForRow(flow: Flow, { row }: StateOf<"waiting">): Promise<Next<"waiting">> {
  const { services, key, deadlineMs, respond } = flow;
  const outcome = await services.waiters.wait({
    key: row ?? key,
    isReady: (now) => row === null || isReadyAfter(row, now),
    deadlineMs,
  });
  const next: Next<"waiting"> =
    outcome === "ready"
      ? { at: "opening" }
      : outcome === "too-many"
        ? done(respond.tooManyWaiting())
        : done(respond.pending("The payment is in progress; send the same signature again."));
  services.onTransition?.("waiting", next.at);
  return next;
}

/** Whether a request that found `seen` in its way may act on the row as it is now. */
function isReadyAfter(seen: LedgerRow, now: LedgerRow | null): boolean {
  return now === null || !now.isLeased || now.state === "settled" || now.isVerified !== seen.isVerified;
}
