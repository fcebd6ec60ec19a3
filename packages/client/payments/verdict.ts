// Decides what a response to a signature means for its payment. The service may lie: only the chain, or time, ends a signature.
import { type Charged, SextantError } from "../errors.ts";
import {
  type HttpResponse,
  parseJson,
  readServiceCode,
  type Transport,
  toResponseError,
} from "../http/transport.ts";
import type { PaymentEntry } from "../journal/payment-book.ts";
import { expiryOf, proveCharge } from "./charge-proof.ts";
import type { Guard } from "./guard.ts";
import { readTransaction } from "./receipt.ts";

/** `open` stays as it is; the others are outcomes for the journal. */
export type Verdict =
  | {
      readonly kind: "paid";
      readonly data: unknown;
      readonly response: HttpResponse;
      readonly transaction: string | null;
      readonly charge?: Charge | null;
    }
  | {
      readonly kind: "rejected" | "released" | "conflict" | "open";
      readonly error: SextantError;
      readonly correction?: Correction | null;
    };

/** The sums that the service says it charged for a voucher and in all, and in what that contradicts what was signed. */
export type Charge = { readonly amount: string; readonly total: string; readonly lie: string | null };

/** Why a voucher was rejected: the service has another sum, or its channel does not hold enough. */
export type Correction =
  | { readonly kind: "uncovered" }
  | {
      readonly kind: "sum";
      /** Null if the service does not say. */
      readonly charged: bigint | null;
      /** A voucher that the service has. */
      readonly proof: { readonly signed: bigint; readonly signature: `0x${string}` } | null;
    };

export type VerdictContext = {
  readonly transport: Transport;
  readonly guard: Pick<Guard, "node" | "network">;
  readonly now: () => number;
};

const CONFLICT_ADVICE = "Nothing new is signed for this purchase today; to pay again, name a new purchase.";
const CHARGED_ADVICE =
  "The chain shows that the payment was used. Call again: the same signature is sent. To pay again, name a new purchase.";

const SHOWN_BY_NODE = "Whether it was charged before, only guard.node can show.";
const CLOCK_ADVICE = `By the clock of this machine its signature is over. ${SHOWN_BY_NODE}`;

/** `wasUnclear`: the signature was sent before, and what became of it is not known. */
export async function readVerdict(
  context: VerdictContext,
  entry: PaymentEntry,
  response: HttpResponse,
  { wasUnclear, signal }: { readonly wasUnclear: boolean; readonly signal: AbortSignal | undefined },
): Promise<Verdict> {
  const { id, state } = entry;
  if (response.status === 200) {
    const data = parseJson(response.text);
    const transaction = readTransaction(response.headers.get("payment-response"));
    return { kind: "paid", data, response, transaction };
  }
  const error = toResponseError(response);
  const { status, code } = error;
  const isOver = status === 402 || code === "PAYMENT_CONFLICT";
  const mayBeCharged = code === "PAYMENT_CONFLICT" || state === "paid" || state === "conflict";
  // A new signature for the same purchase could pay twice.
  if (isOver && mayBeCharged) {
    return { kind: "conflict", error: error.forPayment(id, chargedSoFar(entry), "never", CONFLICT_ADVICE) };
  }
  if (isOver) return judgeRejection(context, entry, error, signal);
  if (!mayBeCharged && !wasUnclear && isRequestRejected(response, error)) {
    return judgeRequestRejection(context, entry, error, signal);
  }
  // A client error of a proxy, or of a service that has changed since, says nothing about the payment.
  const isFinal = status !== null && status < 500 && error.retry === "never";
  const retry = isFinal ? "never" : "same-signature";
  return { kind: "open", error: error.forPayment(id, chargedSoFar(entry), retry) };
}

/** Before a new response is judged: once it was delivered, a failure does not make its charge unknown again. */
export function chargedSoFar({ state }: PaymentEntry): Charged {
  return state === "paid" || state === "held" ? "once" : "unknown";
}

/** The service itself says that the request is wrong, and names no settlement. It says that it rejects such requests before it charges. */
function isRequestRejected({ headers }: HttpResponse, { status, retry }: SextantError): boolean {
  const isClientError = status !== null && status >= 400 && status < 500 && retry === "never";
  return isClientError && readServiceCode(headers) !== null && !headers.has("payment-response");
}

/** The service says that it charges nothing for a wrong request; the signature is in its hands until it is over. */
async function judgeRequestRejection(
  context: VerdictContext,
  entry: PaymentEntry,
  error: SextantError,
  signal: AbortSignal | undefined,
): Promise<Verdict> {
  const { id } = entry;
  const proof = context.guard.node === null ? "open" : await findProof(context, entry, signal);
  if (proof === "charged" || proof === "used") return judgeUse(entry, error, proof);
  const isOver = proof === "released" || proof === "expired";
  if (!isOver) {
    const advice = `The service says that it charged nothing, and can charge the signature until ${endOf(entry)}. Correct the request, which is another purchase. ${SHOWN_BY_NODE}`;
    return { kind: "rejected", error: error.forPayment(id, "unknown", "never", advice) };
  }
  return { kind: proof === "released" ? "released" : "rejected", error: error.forPayment(id, "no", "never") };
}

/** Another signature would pay twice. */
function judgeUse({ id }: PaymentEntry, error: SextantError, proof: "charged" | "used"): Verdict {
  const charged = proof === "charged" ? "once" : "unknown";
  return { kind: "conflict", error: error.forPayment(id, charged, "same-signature", CHARGED_ADVICE) };
}

/**
 * A service that keeps the signature can charge what it rejects. Until the chain, or without a node the end of the
 * signature, shows that it cannot, the payment stands for its purchase. Only the chain shows that it was not charged.
 */
async function judgeRejection(
  context: VerdictContext,
  entry: PaymentEntry,
  error: SextantError,
  signal: AbortSignal | undefined,
): Promise<Verdict> {
  const { id } = entry;
  const held = (advice: string): Verdict => {
    return { kind: "rejected", error: error.forPayment(id, "unknown", "same-signature", advice) };
  };
  const proof = await findProof(context, entry, signal);
  if (proof instanceof SextantError) {
    return held(
      `guard.node did not show whether it was charged, and nothing new is signed: ${proof.message}`,
    );
  }
  if (proof === "charged" || proof === "used") return judgeUse(entry, error, proof);
  if (proof === "open") return held(describeHold(context.guard.node, entry));
  if (context.guard.node === null) {
    return { kind: "rejected", error: error.forPayment(id, "unknown", "sign-again", CLOCK_ADVICE) };
  }
  const over = error.forPayment(id, "no", "sign-again");
  return { kind: proof === "released" ? "released" : "rejected", error: over };
}

async function findProof(
  { transport, guard: { node }, now }: VerdictContext,
  entry: PaymentEntry,
  signal: AbortSignal | undefined,
) {
  // The clock of this machine; a node knows better.
  if (node === null) return now() >= expiryOf(entry) * 1_000 ? "expired" : "open";
  try {
    return await proveCharge(transport, { node, signal }, entry);
  } catch (error) {
    if (error instanceof SextantError) return error;
    throw error;
  }
}

function describeHold(node: string | null, entry: PaymentEntry): string {
  const source = node === null ? "Without guard.node," : "Unless the chain shows it over earlier,";
  return `The service holds a signature that it may still charge. ${source} nothing new is signed for this purchase before ${endOf(entry)}; to pay again, name a new purchase.`;
}

function endOf(entry: PaymentEntry): string {
  return `${new Date(expiryOf(entry) * 1_000).toISOString().slice(0, 19)}Z`;
}
