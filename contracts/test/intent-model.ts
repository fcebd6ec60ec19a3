// The rules of the intent book in plain words: what a step changes, or the error it is rejected with.
import { type Address, type Hex, zeroHash } from "viem";
import type { Intent } from "../hashes/intent-hash.ts";

export type FillClaim = {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly solver: Address;
  readonly attestationId: bigint;
};

export type ModelBid = {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly validUntil: bigint;
  readonly executionHash: Hex;
};

type Bid = ModelBid & { readonly solver: Address };
type Status = "OPEN" | "FILLED" | "CANCELLED";
type Entry = {
  readonly intent: Intent;
  readonly bids: Bid[];
  status: Status;
  selected: number;
};

/** The name of the error, or undefined when the step is accepted. */
type Rejection = string | undefined;

export class IntentModel {
  readonly entries: Entry[] = [];
  readonly #nonces = new Set<string>();
  readonly #attested: (id: bigint, subject: Hex, schema: Hex) => boolean;

  constructor(attested: (id: bigint, subject: Hex, schema: Hex) => boolean) {
    this.#attested = attested;
  }

  /** The entry by its id, which counts from 1. */
  entry(intentId: bigint): Entry | undefined {
    return this.entries[Number(intentId) - 1];
  }

  submit(intent: Intent, signer: Address, now: bigint): Rejection {
    const nonce = `${intent.owner} ${intent.nonce}`;
    if (intent.constraints.slippageBps > 10_000) return "InvalidSlippage";
    if (now >= intent.constraints.deadline) return "InvalidDeadline";
    if (this.#nonces.has(nonce)) return "InvalidNonce";
    if (signer !== intent.owner) return "InvalidSignature";
    this.#nonces.add(nonce);
    this.entries.push({ intent, bids: [], status: "OPEN", selected: 0 });
    return undefined;
  }

  bid(intentId: bigint, solver: Address, offer: ModelBid, now: bigint): Rejection {
    const entry = this.entry(intentId);
    if (entry?.status !== "OPEN") return "IntentNotOpen";
    const { amountInMax, amountOutMin, deadline } = entry.intent.constraints;
    if (now >= deadline) return "IntentExpired";
    if (offer.validUntil <= now || offer.validUntil > deadline) return "InvalidBid";
    if (offer.amountIn > amountInMax || offer.amountOut < amountOutMin) return "ConstraintViolation";
    entry.bids.push({ ...offer, solver });
    return undefined;
  }

  select(intentId: bigint, caller: Address, bidId: number, now: bigint): Rejection {
    const entry = this.entry(intentId);
    if (entry?.intent.owner !== caller) return "Unauthorized";
    if (entry.status !== "OPEN") return "IntentNotOpen";
    const bid = entry.bids[bidId - 1];
    if (!bid) return "BidNotFound";
    if (now > bid.validUntil) return "BidExpired";
    entry.selected = bidId;
    return undefined;
  }

  fill(intentId: bigint, caller: Address, claim: FillClaim, now: bigint): Rejection {
    const entry = this.entry(intentId);
    if (entry?.status !== "OPEN") return "IntentNotOpen";
    const { constraints, execution } = entry.intent;
    if (now >= constraints.deadline) return "IntentExpired";
    const bid = entry.bids[entry.selected - 1];
    if (!bid) return "SelectedBidRequired";
    if (bid.solver !== caller) return "Unauthorized";
    if (claim.solver !== caller) return "BidNotSelected";
    if (claim.amountIn !== bid.amountIn || claim.amountOut !== bid.amountOut) return "ConstraintViolation";
    if (execution.dataHash !== zeroHash && execution.dataHash !== bid.executionHash) {
      return "ExecutionCommitmentMismatch";
    }
    const { requiredAttestationSubject: subject, requiredAttestationSchema: schema } = execution;
    if (!this.#attested(claim.attestationId, subject, schema)) return "RequiredAttestationMissing";
    entry.status = "FILLED";
    return undefined;
  }

  cancel(intentId: bigint, caller: Address): Rejection {
    const entry = this.entry(intentId);
    if (entry?.intent.owner !== caller) return "Unauthorized";
    if (entry.status !== "OPEN") return "IntentNotOpen";
    entry.status = "CANCELLED";
    return undefined;
  }
}
