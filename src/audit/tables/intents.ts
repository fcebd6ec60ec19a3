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
import { defineTableAudit, recountAudit, type TableAudit } from "./define-audit.ts";

const book = { contract: "IntentBook", abi } as const;

// The contract never stores 3 (EXPIRED); reads derive it from the deadline.
const STATUSES = ["OPEN", "FILLED", "CANCELLED"] as const;

export const intentAudits: readonly TableAudit[] = [
  defineTableAudit(intents, book, {
    ids: "intent_id",
    createdBy: {
      IntentSubmitted: ({ args, timestamp }) => ({
        intent_id: args.intentId,
        owner: args.owner,
        nonce: args.nonce,
        submitted_at: timestamp,
      }),
    },
    views: {
      getIntent: {
        args: ["intent_id"],
        unknown: ({ owner }) => owner === ZERO_ADDRESS,
        columns: ["owner", "input_token", "output_token", "nonce"],
        computed: {
          intent_type: ({ intentType }) => INTENT_TYPES[intentType] ?? `TYPE_${intentType}`,
          amount_in_max: ({ constraints }) => constraints.amountInMax,
          amount_out_min: ({ constraints }) => constraints.amountOutMin,
          deadline: ({ constraints }) => constraints.deadline,
          slippage_bps: ({ constraints }) => constraints.slippageBps,
          intent_hash: (intent) => intentStructHash(intent),
          execution_target: ({ execution }) => execution.target,
          data_hash: ({ execution }) => execution.dataHash,
          required_attestation_subject: ({ execution }) => execution.requiredAttestationSubject,
          required_attestation_schema: ({ execution }) => execution.requiredAttestationSchema,
          metadata_uri_hash: ({ execution }) => execution.metadataURIHash,
        },
      },
      getIntentStatus: {
        args: ["intent_id"],
        computed: { status: (status) => STATUSES[status] ?? `STATUS_${status}` },
      },
      getSelectedBid: {
        args: ["intent_id"],
        computed: { selected_bid_id: (bidId) => (bidId === 0n ? null : bidId) },
      },
    },
    recount: {
      columns: ["selected_solver"],
      from: [intents, bids],
      sql: `select i.intent_id, b.solver as selected_solver
       from intents i left join bids b on b.intent_id = i.intent_id and b.chain_bid_id = i.selected_bid_id`,
    },
  }),
  defineTableAudit(bids, book, {
    ids: "chain_bid_id",
    idsWithin: intents,
    createdBy: {
      SolverBidSubmitted: ({ args }) => ({ intent_id: args.intentId, chain_bid_id: args.bidId }),
    },
    views: {
      getBid: {
        args: ["intent_id", "chain_bid_id"],
        columns: ["solver", "amount_in", "amount_out", "fee", "valid_until", "execution_hash"],
      },
    },
  }),
  defineTableAudit(fills, book, {
    createdBy: { IntentFilled: ["intent_id", "solver", "amount_in", "amount_out"] },
    recount: {
      columns: ["latency_blocks", "latency_seconds", "surplus_out"],
      from: [fills, intents],
      sql: `select intent_id, fills.block_number - intents.block_number as latency_blocks,
         filled.timestamp - submitted.timestamp as latency_seconds,
         fills.amount_out - intents.amount_out_min as surplus_out
       from fills join intents using (intent_id) join blocks filled on filled.number = fills.block_number
         join blocks submitted on submitted.number = intents.block_number`,
    },
  }),
  defineTableAudit(fillProofs, book, {
    createdBy: { IntentFillProof: ["intent_id", "result_hash", "trace_hash", "attestation_id"] },
  }),
  recountAudit(
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
  ),
];
