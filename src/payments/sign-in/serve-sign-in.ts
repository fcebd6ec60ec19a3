// A request that signs in instead of paying: the stored response of its account's own purchase, and never anything else.
import type { EndpointResponse } from "../../schema/endpoint.ts";
import type { ChannelRows } from "../channels/channel-rows.ts";
import { deliverResponse } from "../ledger/row.ts";
import type { FlowServices } from "../paywall/flow-states.ts";
import { type PaidResource, type PaymentOffer, resourceFingerprint } from "../paywall/offer.ts";
import type { PaymentChallenge } from "../paywall/payment-scheme.ts";
import { receiptExtensions, withoutNote } from "../paywall/receipts.ts";
import { createPaymentResponses, type PaymentResponses } from "../paywall/responses.ts";
import { REJECTION_UNITS, UnpaidShare } from "../paywall/unpaid-work.ts";
import { isSignedByAccount, parseSignIn, type SignInProof } from "./proof.ts";
import type { SignInRows, StoredPurchase } from "./sign-in-rows.ts";

type SignInServices = Pick<FlowServices, "ledger" | "limits" | "log" | "count" | "unpaidWork"> & {
  readonly rows: SignInRows;
  /** Null if nothing is sold by channel. */
  readonly channelRows: Pick<ChannelRows, "readStoredResponse"> | null;
  readonly challenge: PaymentChallenge;
};

type SignInRequest = {
  readonly offer: PaymentOffer;
  readonly resource: PaidResource;
  /** SIGN-IN-WITH-X. */
  readonly header: string;
  readonly client: string;
};

const NOTHING = "The account has no stored response to this request: pay for it.";
const USED = "The nonce was used; sign the new challenge.";
const WRONG_SIGNATURE = "The key of the account has not signed this message.";
const TOO_MANY = "Too many sign-ins of this client have failed; wait, or pay for the request.";
const IN_PROGRESS =
  "The account is paying for this request, or has paid and has no response yet; sign in again in a moment, or send that payment again.";

/** Moves no money and runs no handler. */
export function createSignInServer(
  services: SignInServices,
): (request: SignInRequest) => Promise<EndpointResponse> {
  const { challenge, unpaidWork } = services;
  return async (request) => {
    const { offer, resource, header, client } = request;
    const reject = (reason: string) => challenge(offer, resource, `Not signed in. ${reason}`);
    const fingerprint = resourceFingerprint(resource);
    const proof = parseSignIn(header);
    if (typeof proof === "string") return reject(proof);
    const asked = { path: resource.path, fingerprint };
    const problem = offer.signIn?.findProblem(proof, offer, asked) ?? null;
    if (offer.signIn === undefined || problem !== null)
      return reject(problem ?? "Sign-in is not accepted here.");
    const unpaid = new UnpaidShare(unpaidWork, client);
    try {
      const waitMs = unpaid.takeRejection();
      if (waitMs > 0) return inAWhile(reject(TOO_MANY), waitMs);
      const response = await respondToProof(services, request, { proof, fingerprint });
      // Also one that has to wait: it has cost as much.
      if (typeof response === "string" || response.status >= 400) unpaid.spend(REJECTION_UNITS);
      return typeof response === "string" ? reject(response) : response;
    } finally {
      unpaid.end();
    }
  };
}

/**
 * The stored response, or why there is none, which costs the client a rejection: keys and signatures are free. A 402 in
 * any case: programs that sign in before each purchase must still be able to pay.
 */
async function respondToProof(
  services: SignInServices,
  { offer, resource }: SignInRequest,
  { proof, fingerprint }: { readonly proof: SignInProof; readonly fingerprint: string },
): Promise<EndpointResponse | string> {
  if (!(await isSignedByAccount(proof))) return WRONG_SIGNATURE;
  const { address: payer, nonce } = proof;
  const signedIn = await services.rows.signIn({ payer, fingerprint, nonce });
  const respond = createPaymentResponses({ ...services, offer }, resource);
  if (signedIn.kind === "in-progress") return respond.pending(IN_PROGRESS);
  if (signedIn.kind === "too-many") return respond.tooManySignIns();
  if (signedIn.kind !== "found") return signedIn.kind === "nothing" ? NOTHING : USED;
  const { purchase } = signedIn;
  return (await readResponse(services, { offer, resource, payer, purchase, respond })) ?? NOTHING;
}

/** The header tells a client that it is not known whether there is a response. */
function inAWhile(response: EndpointResponse, waitMs: number): EndpointResponse {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return { ...response, headers: { ...response.headers, "retry-after": String(seconds) } };
}

type Found = Pick<SignInRequest, "offer" | "resource"> & {
  readonly payer: SignInProof["address"];
  readonly purchase: StoredPurchase;
  readonly respond: PaymentResponses;
};

/** Null if the response was dropped meanwhile. */
async function readResponse(
  { ledger, channelRows, count }: SignInServices,
  { offer, resource, payer, purchase, respond }: Found,
): Promise<EndpointResponse | null> {
  const { network, asset } = offer;
  if (purchase.scheme === "exact") {
    const key = { network, asset, payer, nonce: purchase.nonce };
    const row = await ledger.find(key);
    // A reorg has removed the transfer meanwhile.
    if (row?.state !== "settled" || row.transaction === null) return respond.pending(IN_PROGRESS);
    const stored = await ledger.readStoredResponse(key);
    return stored && respond.replayed(row, stored, row.transaction);
  }
  const stored = await channelRows?.readStoredResponse(purchase.channelId, purchase.cumulative);
  if (!stored) return null;
  count("replayed");
  const extensions = receiptExtensions(offer, resource, stored, { ...purchase, payer });
  return deliverResponse({ network, payer, amount: 0n }, withoutNote(stored), "", extensions);
}
