// Audits of intents, bids and fills against the intent book, and of what solvers did.
import { intentBookAbi as abi } from "@sextant/contracts/generated/intent-book";
import { intentStructHash } from "@sextant/contracts/hashes/intent-hash";
import {
  bids,
  fillProofs,
  fills,
  INTENT_TYPES,
  intents,
  solverActivity,
} from "../../protocol/domains/intents.ts";
import { ZERO_ADDRESS } from "../../schema/table.ts";
import {
  createdBy,
  defineTableAudit,
  derivedColumns,
  recountAudit,
  type TableAudit,
  viewCheck,
} from "./define-audit.ts";

const book = { contract: "IntentBook", abi } as const;

// The contract never stores 3 (EXPIRED); reads derive it from the deadline.
const STATUSES = ["OPEN", "FILLED", "CANCELLED"] as const;

const intentsAudit = defineTableAudit(intents, {
  ids: "intent_id",
  createdBy: [
    createdBy(intents, book, "IntentSubmitted", ({ args }) => ({
      intent_id: args.intentId,
      owner: args.owner,
      nonce: args.nonce,
    })),
  ],
  views: [
    viewCheck(intents, book, "getIntent", {
      args: ({ intent_id }) => [intent_id],
      unknown: ({ owner }) => owner === ZERO_ADDRESS,
      columns: {
        owner: ({ owner }) => owner,
        intent_type: ({ intentType }) => INTENT_TYPES[intentType] ?? `TYPE_${intentType}`,
        input_token: ({ inputToken }) => inputToken,
        output_token: ({ outputToken }) => outputToken,
        amount_in_max: ({ constraints }) => constraints.amountInMax,
        amount_out_min: ({ constraints }) => constraints.amountOutMin,
        deadline: ({ constraints }) => constraints.deadline,
        slippage_bps: ({ constraints }) => constraints.slippageBps,
        nonce: ({ nonce }) => nonce,
        intent_hash: (intent) => intentStructHash(intent),
        execution_target: ({ execution }) => execution.target,
        data_hash: ({ execution }) => execution.dataHash,
        required_attestation_subject: ({ execution }) => execution.requiredAttestationSubject,
        required_attestation_schema: ({ execution }) => execution.requiredAttestationSchema,
        metadata_uri_hash: ({ execution }) => execution.metadataURIHash,
      },
    }),
    viewCheck(intents, book, "getIntentStatus", {
      args: ({ intent_id }) => [intent_id],
      columns: { status: (status) => STATUSES[status] ?? `STATUS_${status}` },
    }),
    viewCheck(intents, book, "getSelectedBid", {
      args: ({ intent_id }) => [intent_id],
      columns: { selected_bid_id: (bidId) => (bidId === 0n ? null : bidId) },
    }),
  ],
});

const bidsAudit = defineTableAudit(bids, {
  ids: "chain_bid_id",
  idsWithin: intents,
  createdBy: [
    createdBy(bids, book, "SolverBidSubmitted", ({ args }) => ({
      intent_id: args.intentId,
      chain_bid_id: args.bidId,
    })),
  ],
  views: [
    viewCheck(bids, book, "getBid", {
      args: ({ intent_id, chain_bid_id }) => [intent_id, chain_bid_id],
      columns: {
        solver: ({ solver }) => solver,
        amount_in: ({ amountIn }) => amountIn,
        amount_out: ({ amountOut }) => amountOut,
        fee: ({ fee }) => fee,
        valid_until: ({ validUntil }) => validUntil,
        execution_hash: ({ executionHash }) => executionHash,
      },
    }),
  ],
});

const fillsAudit = defineTableAudit(fills, {
  createdBy: [
    createdBy(fills, book, "IntentFilled", ({ args }) => ({
      intent_id: args.intentId,
      solver: args.solver,
      amount_in: args.amountIn,
      amount_out: args.amountOut,
    })),
  ],
  recount: derivedColumns(
    fills,
    ["latency_blocks", "surplus_out"],
    [fills, intents],
    `select intent_id, fills.block_number - intents.block_number as latency_blocks,
       fills.amount_out - intents.amount_out_min as surplus_out
     from fills join intents using (intent_id)`,
  ),
});

const fillProofsAudit = defineTableAudit(fillProofs, {
  createdBy: [
    createdBy(fillProofs, book, "IntentFillProof", ({ args }) => ({
      intent_id: args.intentId,
      result_hash: args.resultHash,
      trace_hash: args.traceHash,
      attestation_id: args.attestationId,
    })),
  ],
});

const solverActivityAudit = recountAudit(
  solverActivity,
  [fills],
  `select solver, count(*) as fills, sum(latency_blocks) as latency_blocks_total, sum(surplus_out) as surplus_out_total
   from fills group by solver`,
);

export const intentAudits: readonly TableAudit[] = [
  intentsAudit,
  bidsAudit,
  fillsAudit,
  fillProofsAudit,
  solverActivityAudit,
];
