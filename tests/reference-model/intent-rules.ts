// The model's rules for intents, bids and fills.

import { intentTypeHashes } from "@sextant/contracts/interface/hash-vectors";
import { encodeAbiParameters, type Hex, keccak256 } from "viem";
import { eventArgument, type ModelRules, type ReadModel } from "./read-model.ts";

type Intent = {
  readonly owner: Hex;
  readonly intentType: number;
  readonly constraints: Readonly<Record<"amountInMax" | "amountOutMin" | "deadline", bigint>> & {
    readonly slippageBps: number;
  };
  readonly execution: Readonly<
    Record<
      "target" | "dataHash" | "requiredAttestationSubject" | "requiredAttestationSchema" | "metadataURIHash",
      Hex
    >
  >;
  readonly inputToken: Hex;
  readonly outputToken: Hex;
  readonly nonce: bigint;
};

const TYPES = ["SWAP_EXACT_IN_MAX_SLIPPAGE"];

/** keccak256 of abi.encode, as the documents write it. */
function k(types: readonly string[], values: readonly unknown[]): Hex {
  return keccak256(
    encodeAbiParameters(
      types.map((type) => ({ type })),
      values,
    ),
  );
}

/** The EIP-712 struct hash, spelt out: no library of typed data takes part. */
function intentHash(intent: Intent): Hex {
  const { amountInMax, amountOutMin, deadline, slippageBps } = intent.constraints;
  const constraints = k(
    ["bytes32", "uint256", "uint256", "uint256", "uint16"],
    [intentTypeHashes.Constraints, amountInMax, amountOutMin, deadline, slippageBps],
  );
  const { target, dataHash, requiredAttestationSubject, requiredAttestationSchema, metadataURIHash } =
    intent.execution;
  const execution = k(
    ["bytes32", "address", "bytes32", "bytes32", "bytes32", "bytes32"],
    [
      intentTypeHashes.ExecutionRequirements,
      target,
      dataHash,
      requiredAttestationSubject,
      requiredAttestationSchema,
      metadataURIHash,
    ],
  );
  return k(
    ["bytes32", "address", "uint8", "bytes32", "bytes32", "address", "address", "uint256"],
    [
      intentTypeHashes.Intent,
      intent.owner,
      intent.intentType,
      constraints,
      execution,
      intent.inputToken,
      intent.outputToken,
      intent.nonce,
    ],
  );
}

const ACTIVITY = {
  bids: 0n,
  selected_bids: 0n,
  fills: 0n,
  latency_blocks_total: 0n,
  latency_seconds_total: 0n,
  surplus_out_total: 0n,
};

function countActivity(model: ReadModel, solver: unknown, amounts: Readonly<Record<string, bigint>>): void {
  model.count("solver_activity", solver, { solver, ...ACTIVITY }, amounts);
}

export const intentRules: ModelRules = {
  "IntentBook.IntentSubmitted": (model, event) => {
    const intent = event.view as unknown as Intent;
    const intent_id = eventArgument(event, "intentId");
    model.put(
      "intents",
      intent_id,
      {
        intent_id,
        owner: eventArgument(event, "owner"),
        intent_type: TYPES[intent.intentType],
        input_token: intent.inputToken,
        output_token: intent.outputToken,
        amount_in_max: intent.constraints.amountInMax,
        amount_out_min: intent.constraints.amountOutMin,
        deadline: intent.constraints.deadline,
        slippage_bps: intent.constraints.slippageBps,
        nonce: eventArgument(event, "nonce"),
        status: "OPEN",
        selected_bid_id: null,
        selected_solver: null,
        submitted_at: event.timestamp,
        intent_hash: intentHash(intent),
        execution_target: intent.execution.target,
        data_hash: intent.execution.dataHash,
        required_attestation_subject: intent.execution.requiredAttestationSubject,
        required_attestation_schema: intent.execution.requiredAttestationSchema,
        metadata_uri_hash: intent.execution.metadataURIHash,
      },
      event,
    );
  },
  "IntentBook.IntentCancelled": (model, event) => {
    model.change("intents", eventArgument(event, "intentId"), { status: "CANCELLED" });
  },
  "IntentBook.SolverBidSubmitted": (model, event) => {
    const intent_id = eventArgument(event, "intentId");
    const chain_bid_id = eventArgument(event, "bidId");
    model.put(
      "bids",
      [intent_id, chain_bid_id],
      {
        intent_id,
        chain_bid_id,
        solver: eventArgument(event, "solver"),
        amount_in: eventArgument(event, "amountIn"),
        amount_out: eventArgument(event, "amountOut"),
        fee: eventArgument(event, "fee"),
        valid_until: eventArgument(event, "validUntil"),
        execution_hash: eventArgument(event, "executionHash"),
      },
      event,
    );
    countActivity(model, eventArgument(event, "solver"), { bids: 1n });
  },
  "IntentBook.SolverBidSelected": (model, event) => {
    const intent_id = eventArgument(event, "intentId");
    const { selected_bid_id: former } = model.get("intents", intent_id);
    const selected_bid_id = eventArgument(event, "bidId");
    const solverOf = (bid: unknown) => model.get("bids", [intent_id, bid]).solver;
    if (former !== null) countActivity(model, solverOf(former), { selected_bids: -1n });
    countActivity(model, solverOf(selected_bid_id), { selected_bids: 1n });
    model.change("intents", intent_id, { selected_bid_id, selected_solver: solverOf(selected_bid_id) });
  },
  "IntentBook.IntentFilled": (model, event) => {
    const intent_id = eventArgument(event, "intentId");
    const solver = eventArgument(event, "solver");
    const amount_out = eventArgument(event, "amountOut");
    const intent = model.get("intents", intent_id);
    const latency_blocks = BigInt(event.block) - BigInt(String(intent.block_number));
    const latency_seconds = event.timestamp - BigInt(String(intent.submitted_at));
    const surplus_out = amount_out - BigInt(String(intent.amount_out_min));
    model.change("intents", intent_id, { status: "FILLED" });
    const amounts = { amount_in: eventArgument(event, "amountIn"), amount_out };
    const measured = { latency_blocks, latency_seconds, surplus_out };
    model.put("fills", intent_id, { intent_id, solver, ...amounts, ...measured }, event);
    countActivity(model, solver, {
      fills: 1n,
      latency_blocks_total: latency_blocks,
      latency_seconds_total: latency_seconds,
      surplus_out_total: surplus_out,
    });
  },
  "IntentBook.IntentFillProof": (model, event) => {
    const intent_id = eventArgument(event, "intentId");
    const hashes = {
      result_hash: eventArgument(event, "resultHash"),
      trace_hash: eventArgument(event, "traceHash"),
    };
    const row = { intent_id, ...hashes, attestation_id: eventArgument(event, "attestationId") };
    model.put("fill_proofs", intent_id, row, event);
  },
};
