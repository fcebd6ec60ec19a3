// The scheme batch-settlement: payments by channel, from the header to the response.
import { randomUUID } from "node:crypto";
import { Fault } from "../../lib/fault.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import type { FlowServices } from "../paywall/flow-states.ts";
import { resourceFingerprint } from "../paywall/offer.ts";
import { parsePaymentIdentifier } from "../paywall/payment-envelope.ts";
import type { PaymentChallenge, PaymentScheme, SchemeRequest } from "../paywall/payment-scheme.ts";
import { createPaymentResponses } from "../paywall/responses.ts";
import { REJECTION_UNITS, UnpaidShare } from "../paywall/unpaid-work.ts";
import type { ChannelClaims } from "./channel-claims.ts";
import { isVoucherSignature } from "./channel-config.ts";
import { actOnChannel } from "./channel-flow.ts";
import { parseChannelPayment } from "./channel-payment.ts";
import type { ChannelFlow } from "./channel-request.ts";
import { CHANNEL_SCHEME, findChannelViolation, WRONG_VOUCHER_SIGNATURE } from "./channel-terms.ts";
import { ChannelTurns } from "./channel-turns.ts";
import type { ChannelParts } from "./open-channels.ts";

type ChannelSchemeOptions = FlowServices &
  ChannelParts & { readonly claims: ChannelClaims; readonly challenge: PaymentChallenge };

export function createChannelScheme(options: ChannelSchemeOptions): PaymentScheme {
  const turns = new ChannelTurns({ ...options.channelLimits, clock: options.clock });
  return { name: CHANNEL_SCHEME, serve: (request) => serveByChannel(options, turns, request) };
}

async function serveByChannel(
  services: ChannelSchemeOptions,
  turns: ChannelTurns,
  { offer, resource, envelope, handler, client }: SchemeRequest,
): Promise<EndpointResponse> {
  const { digests, clock, limits, challenge } = services;
  const terms = offer.channels;
  if (terms === undefined) return challenge(offer, resource, "Payments by channel are not accepted here.");
  const payment = parseChannelPayment(envelope.payload, "The PAYMENT-SIGNATURE header");
  if ("unsupported" in payment) return challenge(offer, resource, payment.unsupported);
  const paymentId = parsePaymentIdentifier(envelope.extensions);
  const respond = createPaymentResponses({ ...services, offer }, resource);
  const unpaid = new UnpaidShare(services.unpaidWork, client);
  try {
    const violation = findChannelViolation(payment, offer, terms, (config) => digests.channelId(config));
    if (violation !== null) return respond.paymentRequired(violation);
    const digest = digests.voucher(payment.channelId, payment.maxClaimable);
    if (!(await isVoucherSignature(digest, payment.signature, payment.config.payerAuthorizer))) {
      unpaid.spend(REJECTION_UNITS);
      return respond.paymentRequired(WRONG_VOUCHER_SIGNATURE);
    }
    const flow: ChannelFlow = {
      ...{ services, offer, resource, payment, handler, unpaid, respond, owner: randomUUID() },
      paymentId: payment.kind === "refund" ? null : paymentId,
      // A refund buys nothing: no purchase is its result.
      fingerprint: payment.kind === "refund" ? "refund" : resourceFingerprint(resource),
      amount: payment.kind === "refund" ? 0n : offer.amount,
      deadlineMs: clock.nowMs() + limits.waitMs,
    };
    return await waitForTurn(flow, turns, client);
  } finally {
    unpaid.end();
  }
}

/** Runs the request in the turn of its channel. */
async function waitForTurn(
  flow: ChannelFlow,
  turns: ChannelTurns,
  client: string,
): Promise<EndpointResponse> {
  const { services, payment, respond, deadlineMs } = flow;
  const { activeRequests, limits } = services;
  if (activeRequests.running >= limits.activeRequestsMax) {
    throw new Fault("OVERLOADED", "Too many paid requests are in progress; send the same voucher again.");
  }
  let response: EndpointResponse | null = null;
  const { maxClaimable } = payment;
  const outcome = await turns.run(payment.channelId, { maxClaimable, client, deadlineMs }, async () => {
    response = await activeRequests.run(() => actOnChannel(flow));
    return response !== null;
  });
  if (response !== null) return response;
  if (outcome === "full") return respond.tooManyWaiting();
  return respond.pending("Another request of the channel is in progress; send the same voucher again.");
}
