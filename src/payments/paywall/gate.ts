// The gate: sells any number of offers; a request passes when its payment is valid, is served once and charged once.
import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { createConcurrencyLimit, createFairLimit } from "../../lib/concurrency-limit.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { ChannelClaims } from "../channels/channel-claims.ts";
import { createChannelMaintenance } from "../channels/channel-maintenance.ts";
import { createChannelScheme } from "../channels/channel-scheme.ts";
import { CHANNEL_SCHEME } from "../channels/channel-terms.ts";
import type { ChannelParts } from "../channels/open-channels.ts";
import { findBoughtByVoucher } from "../channels/other-scheme.ts";
import type { PaymentFacilitator } from "../facilitator/facilitator.ts";
import { PaymentLedger } from "../ledger/ledger.ts";
import { createReconciler } from "../ledger/reconcile.ts";
import type { LedgerScope } from "../ledger/row.ts";
import type { ReconcileCounts } from "../ledger/unfinished-payments.ts";
import { type CredentialRequest, createMppScheme } from "../mpp/mpp-scheme.ts";
import type { SettlementLookup } from "../settlement/onchain.ts";
import type { SignIn } from "../sign-in/open-sign-in.ts";
import { createSignInServer } from "../sign-in/serve-sign-in.ts";
import { runPaymentFlow, startFlow } from "./flow.ts";
import { createRowWaiters, type FlowServices } from "./flow-states.ts";
import { GATE_LIMITS, type GateLimits } from "./limits.ts";
import type { PaidHandler, PaidRequest, PaidResource, PaymentOutcome } from "./offer.ts";
import {
  type PaymentOffer,
  paymentRequiredResponse,
  priceOffer,
  validateOffer,
  withoutChannels,
  withSignIn,
} from "./offer.ts";
import { parseExactPayment } from "./payment.ts";
import { parsePaymentHeader } from "./payment-envelope.ts";
import type { PaymentChallenge, PaymentScheme, ServeTransfer } from "./payment-scheme.ts";
import { toErrorResponse } from "./responses.ts";
import { SpentPayments, UnpaidWork } from "./unpaid-work.ts";

/** The sale of one offer, at the price of each request. */
export type Sale = {
  readonly offer: PaymentOffer;
  challenge(resource: PaidResource, reason?: string): EndpointResponse;
  /** Throws what the handler throws, and INPUT_INVALID for a header that is not a payment. */
  serve(request: PaidRequest, handler: PaidHandler): Promise<EndpointResponse>;
};

/** All sales share one ledger, one facilitator and one set of limits. */
export type Gate = {
  /** Throws for an offer that could not be paid here. Call it at start. */
  sell(offer: PaymentOffer): Sale;
  /** Finishes payments that no client waits for. Call it every few seconds, in any number of processes. */
  reconcile(signal?: AbortSignal): Promise<ReconcileCounts>;
  /** The sum of the settled payments in the token's units; equal to the chain's after reconciliation. */
  totalPaid(): Promise<bigint>;
};

type GateOptions = {
  /** The payment token, in which every offer is priced. */
  readonly scope: LedgerScope;
  readonly store: StatementRunner;
  readonly facilitator: PaymentFacilitator;
  readonly lookup: SettlementLookup;
  /** Absent if only transfers are taken. */
  readonly channels?: ChannelParts;
  /** Absent if payers do not get stored responses by signing in. */
  readonly signIn?: SignIn;
  readonly log: Log;
  readonly clock?: Clock;
  readonly limits?: Partial<GateLimits>;
  readonly count?: (outcome: PaymentOutcome) => void;
  /** For tests: every transition of every request. */
  readonly onTransition?: FlowServices["onTransition"];
};

const CHANNELS_BLIND =
  "Payments by channel cannot be checked at the moment: no node has a new block of their chain. Try again.";
const BLIND_SECONDS = 5;

export function createGate(options: GateOptions): Gate {
  const services = createServices(options);
  const { network, asset } = options.scope;
  const scope = { network, asset };
  const challenge: PaymentChallenge = (offer, resource, reason) => {
    services.count("challenged");
    if (options.channels?.mirror.isBlind !== true) return paymentRequiredResponse(offer, resource, reason);
    if (offer.isChannelOnly) return toErrorResponse("FACILITATOR_UNAVAILABLE", CHANNELS_BLIND, BLIND_SECONDS);
    return paymentRequiredResponse(withoutChannels(offer), resource, reason);
  };
  const serveTransfer = createTransfers(services, options.channels);
  const schemes = [createExactScheme(serveTransfer, challenge)];
  const serveCredential = createMppScheme({ ...services, serveTransfer, challenge });
  const reconcileExact = createReconciler({ ...services, store: options.store, scope });
  const channels = options.channels && openChannelScheme(services, options.channels, challenge);
  if (channels) schemes.push(channels.scheme);
  const { signIn } = options;
  const channelRows = options.channels?.rows ?? null;
  const serveSignIn =
    signIn && createSignInServer({ ...services, rows: signIn.rows, channelRows, challenge });
  const protocols = { schemes, serveCredential, serveSignIn, challengeFor: challenge };
  return {
    sell(offer) {
      validateOffer(offer);
      if (offer.network !== network || offer.asset !== asset) {
        throw new Fault("CONFIG_INVALID", "A paid offer names another payment token than its gate.");
      }
      return createSale(protocols, withSignIn(offer, signIn?.challenges));
    },
    async reconcile(signal) {
      // A part that fails does not stop the other.
      const parts = [reconcileExact(signal), channels?.maintain(signal), signIn?.rows.prune()] as const;
      await Promise.allSettled(parts);
      await parts[1];
      await parts[2];
      return parts[0];
    },
    totalPaid: () => services.ledger.totalPaid(scope),
  };
}

type Protocols = {
  readonly schemes: readonly PaymentScheme[];
  readonly serveCredential: (request: CredentialRequest) => Promise<EndpointResponse>;
  /** Absent if sign-in is off. */
  readonly serveSignIn: ReturnType<typeof createSignInServer> | undefined;
  readonly challengeFor: PaymentChallenge;
};

function createSale(
  { schemes, serveCredential, serveSignIn, challengeFor }: Protocols,
  offer: PaymentOffer,
): Sale {
  const challenge = (resource: PaidResource, reason = "Payment required.") =>
    challengeFor(priceOffer(offer, resource), resource, reason);
  return {
    offer,
    challenge,
    async serve({ resource, signature, credential, signIn, client }, handler) {
      if (signature !== undefined && credential !== undefined) throw twoPayments();
      const priced = priceOffer(offer, resource);
      if (credential !== undefined) {
        return serveCredential({ offer: priced, resource, credential, handler, client });
      }
      if (signature === undefined) {
        if (signIn === undefined || serveSignIn === undefined) return challenge(resource);
        return serveSignIn({ offer: priced, resource, header: signIn, client });
      }
      const envelope = parsePaymentHeader(signature, offer);
      if ("unsupported" in envelope) return challenge(resource, envelope.unsupported);
      const taken = schemes.filter(({ name }) => !offer.isChannelOnly || name === CHANNEL_SCHEME);
      const scheme = taken.find(({ name }) => name === envelope.scheme);
      if (scheme === undefined) {
        const names = taken.map(({ name }) => `"${name}"`).join(" and ");
        return challenge(resource, `Only the scheme ${names} is accepted.`);
      }
      return scheme.serve({ offer: priced, resource, envelope, handler, client });
    },
  };
}

function twoPayments(): Fault {
  return new Fault("INPUT_INVALID", "Send one payment: PAYMENT-SIGNATURE or a Payment credential, not both.");
}

function openChannelScheme(services: FlowServices, parts: ChannelParts, challenge: PaymentChallenge) {
  const claims = new ChannelClaims({ ...parts, log: services.log });
  const scheme = createChannelScheme({ ...services, ...parts, claims, challenge });
  const { limits, log } = services;
  return { scheme, maintain: createChannelMaintenance({ ...parts, claims, limits, log }) };
}

/** EIP-3009 transfers: each purchase is one of them. */
function createExactScheme(serveTransfer: ServeTransfer, challenge: PaymentChallenge): PaymentScheme {
  return {
    name: "exact",
    async serve({ envelope, ...request }) {
      const payment = parseExactPayment(envelope, "The PAYMENT-SIGNATURE header");
      if ("unsupported" in payment) return challenge(request.offer, request.resource, payment.unsupported);
      return serveTransfer({ ...request, payment });
    },
  };
}

function createTransfers(services: FlowServices, channels: ChannelParts | undefined): ServeTransfer {
  const { limits, activeRequests } = services;
  return async (request) => {
    const rejectIfFull = () => {
      if (activeRequests.running >= limits.activeRequestsMax) throw tooManyActive();
    };
    rejectIfFull();
    const flow = startFlow(services, randomUUID(), request);
    if (channels !== undefined && request.payment.paymentId !== null) {
      const bought = await findBoughtByVoucher(flow, channels.rows);
      if (bought !== null) return bought;
      // Others have begun meanwhile. Nothing may come between this and the start.
      rejectIfFull();
    }
    return runPaymentFlow(flow);
  };
}

function tooManyActive(): Fault {
  return new Fault(
    "OVERLOADED",
    "Too many paid requests are in progress; send the same signature again in a moment, do not sign a new one.",
  );
}

function createServices(options: GateOptions): FlowServices {
  const { store, facilitator, lookup, log, onTransition } = options;
  const { clock = systemClock, count = () => undefined } = options;
  const limits = { ...GATE_LIMITS, ...options.limits };
  const ledger = new PaymentLedger(store, limits);
  return {
    ledger,
    facilitator,
    lookup,
    clock,
    log,
    limits,
    count,
    // Requests that waited for another one get their slot back in order; new ones find a free slot or are rejected.
    activeRequests: createConcurrencyLimit({
      runningMax: limits.activeRequestsMax,
      waitingMax: limits.waitersMax,
    }),
    waiters: createRowWaiters({ ledger, clock, limits }),
    unpaidWork:
      limits.unpaidPerClientPerMinute === 0 ? null : new UnpaidWork(limits.unpaidPerClientPerMinute, clock),
    spentPayments: new SpentPayments(clock),
    // The most active requests of a process.
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
export function createFreeSale(offer: PaymentOffer): Sale {
  return {
    offer,
    challenge: (resource, reason = "Payment required.") =>
      paymentRequiredResponse(priceOffer(offer, resource), resource, reason),
    serve: (_request, handler) => handler(new AbortController().signal),
  };
}
