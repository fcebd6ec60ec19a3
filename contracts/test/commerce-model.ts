// Model of quotes, receipts and disputes: what a step changes, or the error it reverts with.
import { type Address, type Hex, zeroAddress, zeroHash } from "viem";
import type { QuoteCommitment } from "../hashes/quote-hash.ts";

type Quote = QuoteCommitment & { settled: boolean };
type Receipt = {
  readonly quoteHash: Hex;
  readonly quote: Quote;
  readonly resultHash: Hex;
  fulfillmentHash: Hex;
};
type Dispute = { readonly receipt: Receipt; readonly opener: Address; status: number; resolutionHash: Hex };

/** The name of the error, or undefined when the step is accepted. */
type Rejection = string | undefined;

export class CommerceModel {
  readonly quotes = new Map<Hex, Quote>();
  readonly receipts: Receipt[] = [];
  readonly disputes: Dispute[] = [];
  /** Whether a registered facilitator is active. */
  readonly facilitators: Map<Address, boolean>;
  /** Owners by merchant id; the service of the same number is the merchant's only one. */
  readonly #owners: readonly Address[];

  constructor(owners: readonly Address[], facilitator: Address) {
    this.#owners = owners;
    this.facilitators = new Map([[facilitator, true]]);
  }

  commit(caller: Address, hash: Hex, terms: QuoteCommitment): Rejection {
    const owner = this.#ownerOf(terms.merchantId);
    if (!owner) return "MerchantNotFound";
    if (owner !== caller) return "Unauthorized";
    if (terms.serviceNumericId !== terms.merchantId) return "ServiceNotFound";
    if (terms.facilitator !== zeroAddress || terms.paymentRail >= 2) {
      const active = this.facilitators.get(terms.facilitator);
      if (active === undefined) return "FacilitatorNotFound";
      if (!active) return "FacilitatorInactive";
    }
    if (this.quotes.has(hash)) return "QuoteAlreadyCommitted";
    this.quotes.set(hash, { ...terms, settled: false });
    return undefined;
  }

  receipt(caller: Address, quoteHash: Hex, resultHash: Hex, now: bigint): Rejection {
    const quote = this.quotes.get(quoteHash);
    if (!quote) return "QuoteNotFound";
    const recorders =
      quote.paymentRail >= 2 ? [quote.facilitator] : [quote.agent, this.#ownerOf(quote.merchantId)];
    if (!recorders.includes(caller)) return "Unauthorized";
    if (quote.settled) return "QuoteAlreadySettled";
    if (now > quote.expiresAt) return "QuoteExpired";
    quote.settled = true;
    this.receipts.push({ quoteHash, quote, resultHash, fulfillmentHash: zeroHash });
    return undefined;
  }

  fulfil(caller: Address, receiptId: number, fulfillmentHash: Hex): Rejection {
    const receipt = this.receipts[receiptId - 1];
    if (!receipt) return "ReceiptNotFound";
    if (!this.#sells(caller, receipt)) return "Unauthorized";
    receipt.fulfillmentHash = fulfillmentHash;
    return undefined;
  }

  dispute(caller: Address, receiptId: number): Rejection {
    const receipt = this.receipts[receiptId - 1];
    if (!receipt) return "ReceiptNotFound";
    if (receipt.quote.agent !== caller && !this.#sells(caller, receipt)) return "Unauthorized";
    this.disputes.push({ receipt, opener: caller, status: 0, resolutionHash: zeroHash });
    return undefined;
  }

  resolve(caller: Address, disputeId: number, status: number, resolutionHash: Hex): Rejection {
    const dispute = this.disputes[disputeId - 1];
    if (!dispute) return "DisputeNotFound";
    if (!this.#sells(caller, dispute.receipt)) return "Unauthorized";
    if (status === 0) return "InvalidDisputeStatus";
    if (dispute.status !== 0) return "DisputeAlreadyResolved";
    dispute.status = status;
    dispute.resolutionHash = resolutionHash;
    return undefined;
  }

  /** The facilitator switches itself on or off. */
  switchFacilitator(facilitator: Address, active: boolean): Rejection {
    this.facilitators.set(facilitator, active);
    return undefined;
  }

  #ownerOf(merchantId: bigint): Address | undefined {
    return this.#owners[Number(merchantId) - 1];
  }

  #sells(caller: Address, { quote }: Receipt): boolean {
    return caller === quote.facilitator || caller === this.#ownerOf(quote.merchantId);
  }
}
