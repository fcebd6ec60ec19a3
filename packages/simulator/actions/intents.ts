// Intent actions: submit, bid, select, fill, cancel, and leave alone.
import { parseEther, zeroHash } from "viem";
import { KNOWN_SCHEMAS, requiresAttestation, satisfiesIntent } from "../state/required-attestation.ts";
import type { SimulatedBid, SimulatedIntent } from "../state/simulator-state.ts";
import { fillIntent, selectBid, submitBid } from "../transactions/bids.ts";
import { cancelIntent, type IntentInput, signIntent, submitIntent } from "../transactions/intents.ts";
import { actThroughMulticall } from "../transactions/multicall.ts";
import type { SimulatorAction, Turn } from "../turn.ts";

/** More bids than this on one intent add nothing. */
const BIDS_MAX = 8;

const NONCE_MAX = 2n ** 64n - 1n;

export const intentActions: readonly SimulatorAction[] = [
  {
    name: "submit an intent",
    weight: 10,
    prepare: (turn) => prepareIntent(turn, turn.deadline(), (open) => turn.state.intents.add(open)),
  },
  {
    name: "submit an intent and forget it",
    weight: 2,
    prepare: (turn) => prepareIntent(turn, turn.now + turn.random.between(90n, 900n), () => undefined),
  },
  {
    name: "bid",
    weight: 14,
    prepare: (turn) => {
      const { world, state } = turn;
      const open = turn.take(state.intents, ({ bids }) => bids.length < BIDS_MAX);
      const solver = open && turn.random.pick(state.solvers);
      if (open === undefined || solver === undefined) return undefined;
      const terms = newTerms(turn, open);
      return async () => {
        open.bids.push({ id: await submitBid(world, solver.wallet, open.id, terms), solver, ...terms });
      };
    },
  },
  {
    name: "bid against each other in one block",
    weight: 2,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const open = turn.take(state.intents, ({ bids }) => bids.length === 0);
      if (open === undefined) return undefined;
      const offers = Array.from({ length: 3 }, () => ({
        solver: random.pick(state.solvers),
        terms: newTerms(turn, open),
      }));
      return async () => {
        const ids = await world.inOneBlock(
          offers.map(
            ({ solver, terms }) =>
              () =>
                submitBid(world, solver.wallet, open.id, terms),
          ),
        );
        for (const [index, { solver, terms }] of offers.entries()) {
          const id = ids[index];
          if (id !== undefined) open.bids.push({ id, solver, ...terms });
        }
      };
    },
  },
  {
    name: "select a bid",
    weight: 10,
    prepare: (turn) => {
      const open = turn.take(
        turn.state.intents,
        (intent) => intent.selected === undefined && selectable(turn, intent).length > 0,
      );
      if (open === undefined) return undefined;
      const bid = turn.random.pick(selectable(turn, open));
      open.selected = bid;
      return () => selectBid(turn.world, open.owner, open.id, bid.id);
    },
  },
  {
    name: "select another bid",
    weight: 3,
    prepare: (turn) => {
      const open = turn.take(
        turn.state.intents,
        (intent) => intent.selected !== undefined && selectable(turn, intent).length > 0,
      );
      if (open === undefined) return undefined;
      const bid = turn.random.pick(selectable(turn, open));
      open.selected = bid;
      return () => selectBid(turn.world, open.owner, open.id, bid.id);
    },
  },
  {
    name: "select two bids in one block",
    weight: 1,
    prepare: (turn) => {
      const { world } = turn;
      const open = turn.take(turn.state.intents, (intent) => selectable(turn, intent).length > 1);
      const [first, second] = open === undefined ? [] : selectable(turn, open);
      if (open === undefined || first === undefined || second === undefined) return undefined;
      open.selected = second;
      return () =>
        world.inOneBlock([
          () => selectBid(world, open.owner, open.id, first.id),
          () => selectBid(world, open.owner, open.id, second.id),
        ]);
    },
  },
  {
    name: "fill an intent",
    weight: 16,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const open = turn.take(state.intents, (intent) => isFillable(turn, intent));
      const bid = open?.selected;
      if (open === undefined || bid === undefined) return undefined;
      const attestation = requiresAttestation(open)
        ? turn.take(state.attestations, (candidate) => satisfiesIntent(candidate, open))
        : undefined;
      if (attestation === undefined && requiresAttestation(open)) return undefined;
      state.intents.remove(open);
      const proof = {
        executionData: random.bytes32(),
        resultHash: random.bytes32(),
        traceHash: random.chance(80) ? random.bytes32() : zeroHash,
        attestationId: attestation?.id ?? 0n,
      };
      return async () => {
        await fillIntent(world, bid.solver.wallet, open.id, bid, proof);
        bid.solver.fills += 1;
      };
    },
  },
  {
    name: "cancel an intent",
    weight: 2,
    prepare: (turn) => {
      const { world, state } = turn;
      const open = turn.take(state.intents);
      if (open === undefined) return undefined;
      state.intents.remove(open);
      return () => cancelIntent(world, open.owner, open.id);
    },
  },
];

function prepareIntent(turn: Turn, deadline: bigint, then: (open: SimulatedIntent) => void) {
  const { world, random, accounts } = turn;
  const owner = random.pick(accounts.owners);
  const wish = newWish(turn, deadline);
  const relayer = random.pick(accounts.relayers);
  const sender = random.pick([owner, relayer, relayer, actThroughMulticall(world, relayer)]);
  return async (): Promise<void> => {
    const signed = await signIntent(world, owner, wish);
    const id = await submitIntent(world, sender, signed);
    then({ id, owner, intent: signed.intent, bids: [], selected: undefined });
  };
}

function newWish({ world, random }: Turn, deadline: bigint): IntentInput {
  const { UsdCoin, WrappedEther } = world.local;
  const sells = random.chance(50);
  const ether = random.between(parseEther("0.01"), parseEther("5"));
  // 3,000 dollars per ether, less the slippage.
  const usd = (ether * 3_000n) / 10n ** 12n;
  const slippageBps = random.pick([0, 30, 50, 100, 10_000]);
  const [amountInMax, fair] = sells ? [ether, usd] : [usd, ether];
  const requirement = random.below(10);
  return {
    inputToken: sells ? WrappedEther : UsdCoin,
    outputToken: sells ? UsdCoin : WrappedEther,
    constraints: {
      amountInMax,
      amountOutMin: fair - (fair * BigInt(slippageBps)) / 10_000n,
      deadline,
      slippageBps,
    },
    execution: {
      ...(requirement < 3 ? { dataHash: random.bytes32(), target: world.local.DemoTarget } : {}),
      ...(requirement === 3 || requirement === 4
        ? { requiredAttestationSchema: random.pick(KNOWN_SCHEMAS) }
        : {}),
      ...(requirement === 4 || requirement === 5 ? { requiredAttestationSubject: random.bytes32() } : {}),
      ...(random.chance(40) ? { metadataURIHash: random.bytes32() } : {}),
    },
    nonce: random.between(0n, NONCE_MAX),
  };
}

function newTerms({ random, now }: Turn, { intent }: SimulatedIntent) {
  const { amountInMax, amountOutMin, deadline } = intent.constraints;
  const { dataHash } = intent.execution;
  // One in six bids differs from the intent: it can be selected but not filled.
  const keepsPromise = dataHash !== zeroHash && random.chance(83);
  return {
    amountIn: amountInMax - random.between(0n, amountInMax / 100n),
    amountOut: amountOutMin + random.between(0n, amountOutMin / 50n),
    fee: random.between(0n, amountInMax / 1_000n),
    validUntil: random.chance(50) ? deadline : random.between(now + 30n, deadline),
    executionHash: keepsPromise ? dataHash : random.bytes32(),
  };
}

function selectable(turn: Turn, { bids, selected }: SimulatedIntent): SimulatedBid[] {
  return bids.filter((bid) => bid !== selected && turn.isTimely(bid.validUntil));
}

function isFillable({ state }: Turn, open: SimulatedIntent): boolean {
  const { dataHash } = open.intent.execution;
  if (open.selected === undefined) return false;
  if (dataHash !== zeroHash && open.selected.executionHash !== dataHash) return false;
  return (
    !requiresAttestation(open) ||
    [...state.attestations].some((candidate) => satisfiesIntent(candidate, open))
  );
}
