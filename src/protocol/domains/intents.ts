// Intents, bids and fills. IntentBook → intents, bids, fills, fill_proofs, solver_activity, open_intents.
import { intentBookAbi as abi } from "@sextant/contracts/generated/intent-book";
import { intentStructHash } from "@sextant/contracts/hashes/intent-hash";
import type { Hex } from "../../lib/hex.ts";
import { addAmounts, type Change, insert, update } from "../../schema/change.ts";
import {
  address,
  boundedText,
  bytes32,
  int257,
  orNull,
  uint16,
  uint63,
  uint256,
  unboundedInteger,
} from "../../schema/column.ts";
import { defineDomain, type IntentTerms, requireRow } from "../../schema/domain.ts";
import { defineDetails } from "../../schema/event-details.ts";
import {
  addressPart,
  amountOfToken,
  amountPart,
  hashPart,
  recordPart,
  type Sentence,
  sentence,
} from "../../schema/sentence.ts";
import { defineRollup, defineTable } from "../../schema/table.ts";
import { countActivity, countOpenIntent, openIntents } from "./activity.ts";

export const INTENT_TYPES = ["SWAP_EXACT_IN_MAX_SLIPPAGE"] as const;

// EXPIRED is not stored: it follows from the deadline and the time of the block that is read.
export const intents = defineTable(
  "intents",
  {
    intent_id: uint256,
    owner: address,
    intent_type: boundedText,
    input_token: address,
    output_token: address,
    amount_in_max: uint256,
    amount_out_min: uint256,
    deadline: uint256,
    slippage_bps: uint16,
    nonce: uint256,
    status: boundedText,
    selected_bid_id: orNull(uint256),
    // Copied from the bid and the block: selecting another bid, and a fill, then need no row but the intent.
    selected_solver: orNull(address),
    submitted_at: uint63,
    intent_hash: bytes32,
    execution_target: address,
    data_hash: bytes32,
    required_attestation_subject: bytes32,
    required_attestation_schema: bytes32,
    metadata_uri_hash: bytes32,
  },
  {
    key: ["intent_id"],
    countsUp: true,
    // The deadline, so that expired intents are passed without reading their rows.
    index: [
      ["status", "intent_id", "deadline"],
      ["owner", "intent_id"],
      ["selected_solver", "intent_id"],
      ["input_token", "output_token", "intent_id"],
    ],
    currentIndex: [["status", "deadline"], ["intent_hash"]],
  },
);

// SELECTED and REJECTED follow from the intent's selected bid, so that selecting another bid changes one row.
export const bids = defineTable(
  "bids",
  {
    intent_id: uint256,
    chain_bid_id: uint256,
    solver: address,
    amount_in: uint256,
    amount_out: uint256,
    fee: uint256,
    valid_until: uint256,
    execution_hash: bytes32,
  },
  { key: ["intent_id", "chain_bid_id"] },
);

export const fills = defineTable(
  "fills",
  {
    intent_id: uint256,
    solver: address,
    amount_in: uint256,
    amount_out: uint256,
    latency_blocks: uint63,
    latency_seconds: uint63,
    surplus_out: int257,
  },
  { key: ["intent_id"] },
);

export const fillProofs = defineTable(
  "fill_proofs",
  { intent_id: uint256, result_hash: bytes32, trace_hash: bytes32, attestation_id: uint256 },
  { key: ["intent_id"] },
);

// Keyed by address, not by solver id: a solver may bid and fill before it registers.
export const solverActivity = defineRollup(
  "solver_activity",
  {
    solver: address,
    bids: uint63,
    // Bids that are selected now: a bid that another one replaces no longer counts.
    selected_bids: uint63,
    fills: uint63,
    latency_blocks_total: uint63,
    latency_seconds_total: uint63,
    surplus_out_total: unboundedInteger,
  },
  { key: ["solver"], history: "full" },
);

type Terms = {
  readonly owner: `0x${string}`;
  readonly intentType: number;
  readonly constraints: { amountInMax: bigint; amountOutMin: bigint; deadline: bigint; slippageBps: number };
  readonly execution: {
    target: `0x${string}`;
    dataHash: `0x${string}`;
    requiredAttestationSubject: `0x${string}`;
    requiredAttestationSchema: `0x${string}`;
    metadataURIHash: `0x${string}`;
  };
  readonly inputToken: `0x${string}`;
  readonly outputToken: `0x${string}`;
  readonly nonce: bigint;
};

// The event has only id, owner and nonce; the rest is immutable.
const submission = defineDetails({
  abi,
  call: "submitIntent",
  fromCall: ([intent]): Terms => intent,
  callMatches: ([{ owner, nonce }], event: { intentId: bigint; owner: Hex; nonce: bigint }) =>
    owner.toLowerCase() === event.owner && nonce === event.nonce,
  view: "getIntent",
  viewArgs: ({ intentId }) => [intentId] as const,
  fromView: (intent): Terms => intent,
  viewMatches: ({ owner, nonce }, event) => owner.toLowerCase() === event.owner && nonce === event.nonce,
});

/** One bid of an intent is selected at a time; selecting it again, or another of the same solver, counts nothing. */
function moveSelection(former: string | null, solver: string): Change[] {
  if (former === solver) return [];
  const left =
    former === null ? [] : [addAmounts(solverActivity, { solver: former }, { selected_bids: -1n })];
  return [...left, addAmounts(solverActivity, { solver }, { selected_bids: 1n })];
}

function explainLimits({ input_token, output_token, amount_in_max, amount_out_min }: IntentTerms): Sentence {
  if (input_token === null || output_token === null || amount_in_max === null || amount_out_min === null)
    return [];
  return sentence` to swap up to ${amountOfToken(BigInt(amount_in_max), input_token)} for at least ${amountOfToken(BigInt(amount_out_min), output_token)}`;
}

export const intentsDomain = defineDomain({
  contract: "IntentBook",
  abi,
  tables: [intents, bids, fills, fillProofs, solverActivity, openIntents],
  events: {
    IntentSubmitted: {
      details: submission,
      fold: ({ args, timestamp, details }) => {
        const terms = details(submission);
        const { constraints, execution } = terms;
        return [
          insert(intents, {
            intent_id: args.intentId,
            owner: args.owner,
            intent_type: INTENT_TYPES[terms.intentType] ?? `TYPE_${terms.intentType}`,
            input_token: terms.inputToken.toLowerCase(),
            output_token: terms.outputToken.toLowerCase(),
            amount_in_max: constraints.amountInMax,
            amount_out_min: constraints.amountOutMin,
            deadline: constraints.deadline,
            slippage_bps: constraints.slippageBps,
            nonce: args.nonce,
            status: "OPEN",
            selected_bid_id: null,
            selected_solver: null,
            submitted_at: timestamp,
            intent_hash: intentStructHash(terms),
            execution_target: execution.target.toLowerCase(),
            data_hash: execution.dataHash,
            required_attestation_subject: execution.requiredAttestationSubject,
            required_attestation_schema: execution.requiredAttestationSchema,
            metadata_uri_hash: execution.metadataURIHash,
          }),
          countOpenIntent(constraints.deadline, 1n),
          ...countActivity(timestamp, { intents: 1n }),
        ];
      },
      explain: ({ args }, terms) => [
        ...sentence`Intent ${recordPart("intent", args.intentId)} submitted by ${addressPart(args.owner)}`,
        ...explainLimits(terms),
      ],
    },
    IntentCancelled: {
      requiredRows: ({ args }) => [requireRow(intents, { intent_id: args.intentId })],
      fold: ({ args, timestamp, find }) => {
        const intent = find(intents, { intent_id: args.intentId });
        if (!intent) throw new Error(`intent ${args.intentId} is cancelled, but was never submitted`);
        return [
          update(intents, { intent_id: args.intentId }, { status: "CANCELLED" }),
          countOpenIntent(intent.deadline, -1n),
          ...countActivity(timestamp, { cancelled_intents: 1n }),
        ];
      },
      explain: ({ args }) => sentence`Intent ${recordPart("intent", args.intentId)} cancelled by its owner`,
    },
    SolverBidSubmitted: {
      fold: ({ args, timestamp }) => [
        insert(bids, {
          intent_id: args.intentId,
          chain_bid_id: args.bidId,
          solver: args.solver,
          amount_in: args.amountIn,
          amount_out: args.amountOut,
          fee: args.fee,
          valid_until: args.validUntil,
          execution_hash: args.executionHash,
        }),
        addAmounts(solverActivity, { solver: args.solver }, { bids: 1n }),
        ...countActivity(timestamp, { bids: 1n }),
      ],
      explain: ({ args }, tokens) =>
        sentence`Solver ${addressPart(args.solver)} bid #${String(args.bidId)} on intent ${recordPart("intent", args.intentId)}: ${amountPart(args.amountIn, tokens.input_token)} in for ${amountPart(args.amountOut, tokens.output_token)} out, fee ${amountPart(args.fee, null)}`,
    },
    SolverBidSelected: {
      requiredRows: ({ args }) => [requireRow(intents, { intent_id: args.intentId })],
      fold: ({ args, find }) => {
        const former = find(intents, { intent_id: args.intentId })?.selected_solver ?? null;
        return [
          update(
            intents,
            { intent_id: args.intentId },
            { selected_bid_id: args.bidId, selected_solver: args.solver },
          ),
          ...moveSelection(former, args.solver),
        ];
      },
      explain: ({ args }) =>
        sentence`Bid #${String(args.bidId)} of solver ${addressPart(args.solver)} selected for intent ${recordPart("intent", args.intentId)}`,
    },
    IntentFilled: {
      requiredRows: ({ args }) => [requireRow(intents, { intent_id: args.intentId })],
      fold: ({ args, blockNumber, timestamp, find }) => {
        const intent = find(intents, { intent_id: args.intentId });
        if (!intent) throw new Error(`intent ${args.intentId} is filled, but was never submitted`);
        const latency = blockNumber - intent.block_number;
        const seconds = timestamp - intent.submitted_at;
        const surplus = args.amountOut - intent.amount_out_min;
        return [
          update(intents, { intent_id: args.intentId }, { status: "FILLED" }),
          insert(fills, {
            intent_id: args.intentId,
            solver: args.solver,
            amount_in: args.amountIn,
            amount_out: args.amountOut,
            latency_blocks: latency,
            latency_seconds: seconds,
            surplus_out: surplus,
          }),
          addAmounts(
            solverActivity,
            { solver: args.solver },
            {
              fills: 1n,
              latency_blocks_total: latency,
              latency_seconds_total: seconds,
              surplus_out_total: surplus,
            },
          ),
          countOpenIntent(intent.deadline, -1n),
          ...countActivity(timestamp, { fills: 1n }),
        ];
      },
      explain: ({ args }, tokens) =>
        sentence`Intent ${recordPart("intent", args.intentId)} filled by solver ${addressPart(args.solver)}: ${amountPart(args.amountIn, tokens.input_token)} in, ${amountPart(args.amountOut, tokens.output_token)} out`,
    },
    IntentFillProof: {
      fold: ({ args }) => [
        insert(fillProofs, {
          intent_id: args.intentId,
          result_hash: args.resultHash,
          trace_hash: args.traceHash,
          attestation_id: args.attestationId,
        }),
      ],
      explain: ({ args }) =>
        sentence`Proof of the fill of intent ${recordPart("intent", args.intentId)} recorded with result ${hashPart(args.resultHash)}`,
    },
    EIP712DomainChanged: {
      fold: () => [],
      explain: () => sentence`The intent book's signing domain changed`,
    },
  },
});
