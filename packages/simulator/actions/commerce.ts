// Commerce actions: quotes on every rail, payments, receipts, fulfillment, disputes.

import type { QuoteCommitment } from "@sextant/contracts/hashes/quote-hash";
import { parseEther, zeroAddress, zeroHash } from "viem";
import type { SimulatedFacilitator, SimulatedQuote, SimulatedService } from "../state/simulator-state.ts";
import { openDispute, resolveDispute } from "../transactions/disputes.ts";
import { commitQuote, PAYMENT_RAIL, recordFulfillment, recordReceipt } from "../transactions/quotes.ts";
import type { SimulatorAction, Turn } from "../turn.ts";
import type { Wallet } from "../world.ts";

const RAILS: readonly number[] = Object.values(PAYMENT_RAIL);

const NONCE_MAX = 2n ** 64n - 1n;

export const commerceActions: readonly SimulatorAction[] = [
  {
    name: "commit a quote",
    weight: 8,
    prepare: (turn) => {
      const service = turn.take(turn.state.services);
      return service === undefined ? undefined : prepareQuote(turn, service, turn.random.pick(RAILS));
    },
  },
  {
    name: "commit a quote on every rail in one block",
    weight: 1,
    prepare: (turn) => {
      const service = turn.take(turn.state.services);
      if (service === undefined) return undefined;
      const commits = RAILS.map((rail) => prepareQuote(turn, service, rail));
      return () => turn.world.inOneBlock(commits);
    },
  },
  {
    name: "record a receipt",
    weight: 7,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const quote = turn.take(state.quotes);
      if (quote === undefined) return undefined;
      state.quotes.remove(quote);
      const recorder = whoRecords(turn, quote);
      const resultHash = random.bytes32();
      return async () => {
        const id = await recordReceipt(world, recorder, quote.hash, resultHash);
        state.receipts.add({ id, quote, fulfilled: false });
      };
    },
  },
  {
    name: "fulfil",
    weight: 4,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const receipt = turn.take(state.receipts, ({ fulfilled }) => !fulfilled);
      if (receipt === undefined) return undefined;
      receipt.fulfilled = true;
      const hash = random.bytes32();
      return () => recordFulfillment(world, pickProvider(turn, receipt.quote), receipt.id, hash);
    },
  },
  {
    name: "fulfil again, or take it back",
    weight: 2,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const receipt = turn.take(state.receipts, ({ fulfilled }) => fulfilled);
      if (receipt === undefined) return undefined;
      receipt.fulfilled = random.chance(50);
      const by = pickProvider(turn, receipt.quote);
      const hash = receipt.fulfilled ? random.bytes32() : zeroHash;
      return () => recordFulfillment(world, by, receipt.id, hash);
    },
  },
  {
    name: "fulfil and take it back in one block",
    weight: 1,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const receipt = turn.take(state.receipts);
      if (receipt === undefined) return undefined;
      receipt.fulfilled = false;
      const by = pickProvider(turn, receipt.quote);
      const hash = random.bytes32();
      return () =>
        world.inOneBlock([
          () => recordFulfillment(world, by, receipt.id, hash),
          () => recordFulfillment(world, by, receipt.id, zeroHash),
        ]);
    },
  },
  {
    name: "open a dispute",
    weight: 3,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const receipt = turn.take(state.receipts);
      if (receipt === undefined) return undefined;
      const opener = random.chance(70) ? receipt.quote.agent : undefined;
      const by = opener ?? pickProvider(turn, receipt.quote);
      const reasonHash = random.bytes32();
      return async () =>
        state.disputes.add({ id: await openDispute(world, by, receipt.id, reasonHash), receipt });
    },
  },
  {
    name: "resolve a dispute",
    weight: 2,
    prepare: (turn) => endDispute(turn, "resolved"),
  },
  {
    name: "reject a dispute",
    weight: 2,
    prepare: (turn) => endDispute(turn, "rejected"),
  },
];

function endDispute(turn: Turn, outcome: "resolved" | "rejected"): (() => Promise<void>) | undefined {
  const { world, random, state } = turn;
  const dispute = turn.take(state.disputes);
  if (dispute === undefined) return undefined;
  state.disputes.remove(dispute);
  const by = pickProvider(turn, dispute.receipt.quote);
  const resolutionHash = random.bytes32();
  return () => resolveDispute(world, by, dispute.id, outcome, resolutionHash);
}

function prepareQuote(turn: Turn, service: SimulatedService, wantedRail: number): () => Promise<void> {
  const { world, random, accounts, state } = turn;
  const mayHave = needsFacilitator(wantedRail) || random.chance(25);
  const facilitator = mayHave
    ? turn.take(state.facilitators, ({ entry }) => entry?.active === true)
    : undefined;
  const rail = needsFacilitator(wantedRail) && facilitator === undefined ? PAYMENT_RAIL.transfer : wantedRail;
  const { UsdCoin, WrappedEther } = world.local;
  const token = random.pick([UsdCoin, UsdCoin, UsdCoin, WrappedEther, zeroAddress]);
  const account = random.chance(15) ? turn.take(state.accounts) : undefined;
  const agent = account === undefined ? random.pick(accounts.owners) : undefined;
  const commitment: QuoteCommitment = {
    merchantId: service.merchant.id,
    serviceNumericId: service.id,
    agent: account?.address ?? agent?.address ?? zeroAddress,
    token,
    facilitator: facilitator?.wallet.address ?? zeroAddress,
    amount: token === UsdCoin ? random.between(10_000n, 25_000_000n) : random.between(1n, parseEther("0.01")),
    paymentRail: rail,
    expiresAt: turn.deadline(),
    paymentNonce: random.between(0n, NONCE_MAX),
    resourceHash: random.bytes32(),
    termsHash: random.bytes32(),
    x402PayloadHash: rail === PAYMENT_RAIL.x402 ? random.bytes32() : zeroHash,
  };
  return async () => {
    const hash = await commitQuote(world, service.merchant.owner, commitment);
    state.quotes.add(remembered(hash, service, agent, facilitator, commitment));
  };
}

function remembered(
  hash: SimulatedQuote["hash"],
  { merchant }: SimulatedService,
  agent: Wallet | undefined,
  facilitator: SimulatedFacilitator | undefined,
  { paymentRail: rail, token, amount, expiresAt }: QuoteCommitment,
): SimulatedQuote {
  return { hash, merchant, agent, facilitator, rail, token, amount, expiresAt, paid: false };
}

function needsFacilitator(rail: number): boolean {
  return rail === PAYMENT_RAIL.facilitator || rail === PAYMENT_RAIL.x402;
}

function whoRecords({ random }: Turn, { rail, facilitator, merchant, agent }: SimulatedQuote): Wallet {
  if (needsFacilitator(rail) && facilitator !== undefined) return facilitator.wallet;
  return random.chance(50) ? merchant.owner : (agent ?? merchant.owner);
}

/** The merchant's owner, or the facilitator if there is one. */
function pickProvider({ random }: Turn, { merchant, facilitator }: SimulatedQuote): Wallet {
  return random.chance(60) ? merchant.owner : (facilitator?.wallet ?? merchant.owner);
}
