// Intents from submission through bids and selection to their end.
import { intentBookAbi } from "@sextant/contracts/generated/intent-book";
import { createFunctionCodec } from "../../../src/lib/abi/codec.ts";
import type { Hex } from "../../../src/lib/hex.ts";
import { ZERO_HASH } from "../../../src/schema/table.ts";
import { eventEncoder } from "../abi-encoder.ts";
import type { HistoryAction, HistoryIntent, HistoryState } from "../history-state.ts";

const intentLog = eventEncoder(intentBookAbi);

const submitIntentCall = createFunctionCodec(intentBookAbi, "submitIntent");

const HOUR = 3_600;
const DAY = 24 * HOUR;

const submitIntent: HistoryAction = (world) => {
  const { contracts, dice, entropy } = world;
  if (world.count("agent") === 0) return null;
  const n = world.next("intent");
  const owner = world.agentOwner(1 + dice.skewed(world.count("agent")));
  const amountInMax = world.amount();
  const intent: HistoryIntent = {
    id: BigInt(n),
    deadline: BigInt(world.now + dice.between(6 * HOUR, 7 * DAY)),
    amountInMax,
    amountOutMin: amountInMax / 2n,
    dataHash: dice.chance(0.5) ? world.anyHash() : (ZERO_HASH as Hex),
    bids: 0,
    best: null,
  };
  world.intents.add(intent);
  const submitted = {
    owner,
    intentType: 0,
    constraints: {
      amountInMax,
      amountOutMin: intent.amountOutMin,
      deadline: intent.deadline,
      slippageBps: dice.between(0, 500),
    },
    execution: {
      target: entropy.address("target", dice.skewed(200)),
      dataHash: intent.dataHash,
      requiredAttestationSubject: ZERO_HASH as Hex,
      requiredAttestationSchema: ZERO_HASH as Hex,
      metadataURIHash: world.anyHash(),
    },
    inputToken: world.token(),
    outputToken: world.token(),
    nonce: BigInt(n),
  };
  const args = [submitted, 27 + (n % 2), world.anyHash(), world.anyHash()] as const;
  return {
    logs: [
      intentLog(contracts.IntentBook, "IntentSubmitted", { intentId: intent.id, owner, nonce: BigInt(n) }),
    ],
    call: {
      from: owner,
      to: contracts.IntentBook,
      input: submitIntentCall.encodeCall(args),
    },
  };
};

const submitBid: HistoryAction = (world) => {
  const { contracts, dice } = world;
  const intent = open(world, world.intents.pick());
  if (intent === null || world.count("solver") === 0) return null;
  intent.bids += 1;
  const bid = {
    bidId: BigInt(intent.bids),
    solver: world.solver(1 + dice.skewed(world.count("solver"))),
    amountIn: intent.amountInMax - BigInt(dice.between(0, 500)),
    amountOut: intent.amountOutMin + BigInt(dice.between(0, 1_000_000)),
  };
  if (intent.best === null || bid.amountOut > intent.best.amountOut) intent.best = bid;
  const args = {
    intentId: intent.id,
    ...bid,
    fee: BigInt(dice.between(0, 10_000)),
    validUntil: intent.deadline,
    executionHash: intent.dataHash === ZERO_HASH ? world.anyHash() : intent.dataHash,
  };
  return { logs: [intentLog(contracts.IntentBook, "SolverBidSubmitted", args)], call: null };
};

const selectBid: HistoryAction = (world) => {
  const intent = open(world, withBid(world));
  if (!intent?.best) return null;
  world.chosenIntents.add(intent);
  const { bidId, solver } = intent.best;
  const args = { intentId: intent.id, bidId, solver };
  return { logs: [intentLog(world.contracts.IntentBook, "SolverBidSelected", args)], call: null };
};

const fillIntent: HistoryAction = (world) => {
  const intent = open(world, world.chosenIntents.take());
  if (!intent?.best) return null;
  const { solver, amountIn, amountOut } = intent.best;
  const address = world.contracts.IntentBook;
  const proof = {
    intentId: intent.id,
    resultHash: world.anyHash(),
    traceHash: world.anyHash(),
    attestationId: 0n,
  };
  return {
    logs: [
      intentLog(address, "IntentFilled", { intentId: intent.id, solver, amountIn, amountOut }),
      intentLog(address, "IntentFillProof", proof),
    ],
    call: null,
  };
};

const cancelIntent: HistoryAction = (world) => {
  const intent = world.intents.take();
  if (intent === null) return null;
  return {
    logs: [intentLog(world.contracts.IntentBook, "IntentCancelled", { intentId: intent.id })],
    call: null,
  };
};

/** Takes an intent that has a bid; a few looks are enough, as most have one soon. */
function withBid(world: HistoryState): HistoryIntent | null {
  for (let look = 0; look < 8; look += 1) {
    const intent = world.intents.take();
    if (intent === null || intent.best !== null) return intent;
    world.intents.add(intent);
  }
  return null;
}

function open(world: HistoryState, intent: HistoryIntent | null): HistoryIntent | null {
  return intent !== null && intent.deadline > BigInt(world.now) ? intent : null;
}

export const intentHistoryActions = {
  submitIntent,
  submitBid,
  selectBid,
  fillIntent,
  cancelIntent,
};
