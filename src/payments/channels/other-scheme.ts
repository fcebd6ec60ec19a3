// A payment whose identifier names a purchase of the other scheme: it gets that purchase's response and is not charged.
import type { EndpointResponse } from "../../schema/endpoint.ts";
import { findSignatureRejection } from "../facilitator/payer-checks.ts";
import { deliverResponse } from "../ledger/row.ts";
import type { Flow } from "../paywall/flow-states.ts";
import { receiptExtensions, withoutNote } from "../paywall/receipts.ts";
import type { ChannelFlow } from "./channel-request.ts";
import type { ChannelRows } from "./channel-rows.ts";
import type { NamedTransfer } from "./purchase-names.ts";

const NOT_STORED = "The payment was used, and its response is no longer stored.";
const OTHER_REQUEST = "The payment identifier belongs to another request.";

/** For a transfer; null if it is not the identifier's, or goes its own way: one that was sent may have moved money. */
export async function findBoughtByVoucher(flow: Flow, rows: ChannelRows): Promise<EndpointResponse | null> {
  const { services, offer, resource, key, payment, payload, terms, fingerprint, respond } = flow;
  const { paymentId } = payment;
  const found = paymentId === null ? null : await rows.findNamed({ ...key, paymentId });
  if (found === null) return null;
  const { purchase, transferState } = found;
  const isSame = purchase.fingerprint === fingerprint;
  if (transferState !== null && (!isSame || !UNSENT.has(transferState))) return null;
  if (!isSame) return respond.conflict(OTHER_REQUEST);
  // The identifier alone proves nothing: only its payer can sign a transfer.
  if ((await findSignatureRejection(payload, terms)) !== null) {
    return transferState === null
      ? respond.conflict("The payment identifier belongs to another payment.")
      : null;
  }
  const stored = await rows.readStoredResponse(purchase.channelId, purchase.cumulative);
  if (stored === null) return respond.conflict(NOT_STORED);
  services.count("replayed");
  const extensions = receiptExtensions(offer, resource, stored, { ...purchase, payer: key.payer });
  return deliverResponse({ ...key, amount: 0n }, withoutNote(stored), "", extensions);
}

const UNSENT: ReadonlySet<string> = new Set(["reserved", "released"]);

/** For a voucher; null if there is no response yet, or if only the transfer itself proves who asks for it. */
export async function readBoughtByTransfer(
  { services, offer, resource, payment, fingerprint, respond }: ChannelFlow,
  { nonce, transaction, amount, ...transfer }: NamedTransfer,
): Promise<EndpointResponse> {
  const { network } = offer;
  const { token: asset, payer, payerAuthorizer } = payment.config;
  if (transfer.fingerprint !== fingerprint) return respond.conflict(OTHER_REQUEST);
  if (transaction === null) {
    return respond.pending(
      "A transfer under the payment identifier is in progress; send the same request again.",
    );
  }
  // Anyone can name a payer in the channel of a key of its own.
  if (payerAuthorizer !== payer) {
    return respond.conflict("The payment identifier belongs to a transfer; send that payment again.");
  }
  const stored = await services.ledger.readStoredResponse({ network, asset, payer, nonce });
  if (stored === null) return respond.conflict(NOT_STORED);
  services.count("replayed");
  const extensions = receiptExtensions(offer, resource, stored, { payer, amount, transaction });
  return deliverResponse({ network, payer, amount }, withoutNote(stored), transaction, extensions);
}
