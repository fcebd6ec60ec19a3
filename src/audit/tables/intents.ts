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
    createdBy(intents, book, "IntentSubmitted", ({ args, timestamp }) => ({
      intent_id: args.intentId,
      owner: args.owner,
      nonce: args.nonce,
      submitted_at: timestamp,
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
  recount: derivedColumns(
    intents,
    ["selected_solver"],
    [intents, bids],
    `select i.intent_id, b.solver as selected_solver
     from intents i left join bids b on b.intent_id = i.intent_id and b.chain_bid_id = i.selected_bid_id`,
  ),
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
    ["latency_blocks", "latency_seconds", "surplus_out"],
    [fills, intents],
    `select intent_id, fills.block_number - intents.block_number as latency_blocks,
       filled.timestamp - submitted.timestamp as latency_seconds,
       fills.amount_out - intents.amount_out_min as surplus_out
     from fills join intents using (intent_id) join blocks filled on filled.number = fills.block_number
       join blocks submitted on submitted.number = intents.block_number`,
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
  [bids, intents, fills],
  `select solver, sum(bids) as bids, sum(selected_bids) as selected_bids, sum(fills) as fills,
     sum(latency_blocks) as latency_blocks_total, sum(latency_seconds) as latency_seconds_total,
     sum(surplus_out) as surplus_out_total
   from (
     select solver, 1 as bids, 0 as selected_bids, 0 as fills, 0 as latency_blocks, 0 as latency_seconds, 0 as surplus_out
     from bids
     union all select b.solver, 0, 1, 0, 0, 0, 0
     from intents i join bids b on b.intent_id = i.intent_id and b.chain_bid_id = i.selected_bid_id
     union all select solver, 0, 0, 1, latency_blocks, latency_seconds, surplus_out from fills
   ) acts group by solver`,
);

export const intentAudits: readonly TableAudit[] = [
  intentsAudit,
  bidsAudit,
  fillsAudit,
  fillProofsAudit,
  solverActivityAudit,
];
