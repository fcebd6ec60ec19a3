// One request that pays by channel, with the parts of the process that serve it.
import type { FlowServices } from "../paywall/flow-states.ts";
import type { PaidHandler, PaidResource, PaymentOffer } from "../paywall/offer.ts";
import type { PaymentResponses } from "../paywall/responses.ts";
import type { UnpaidShare } from "../paywall/unpaid-work.ts";
import type { ChannelClaims } from "./channel-claims.ts";
import type { ChannelPayment } from "./channel-payment.ts";
import type { ChannelParts } from "./open-channels.ts";

export type ChannelFlow = {
  readonly services: FlowServices & ChannelParts & { readonly claims: ChannelClaims };
  readonly offer: PaymentOffer;
  readonly resource: PaidResource;
  readonly payment: ChannelPayment;
  readonly paymentId: string | null;
  readonly fingerprint: string;
  /** The price. */
  readonly amount: bigint;
  readonly handler: PaidHandler;
  readonly unpaid: UnpaidShare;
  readonly respond: PaymentResponses;
  readonly owner: string;
  readonly deadlineMs: number;
};
