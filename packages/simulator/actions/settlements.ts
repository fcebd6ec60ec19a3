// Settlement actions: pay all parties of a quote through the adapter, in dollars and in ether.
import { maxUint256, parseEther, zeroAddress } from "viem";
import type { SimulatedOwner, SimulatedQuote } from "../state/simulator-state.ts";
import { executeSettlement, LINE_KINDS } from "../transactions/settlements.ts";
import { approveToken, mintUsd, wrapEther } from "../transactions/tokens.ts";
import type { SimulatorAction, Turn } from "../turn.ts";

const LINES_MAX = 4;

/** Enough for forty of the most expensive quotes. */
const USD_SUPPLY = 1_000_000_000n;

export const settlementActions: readonly SimulatorAction[] = [
  {
    name: "settle a quote in dollars",
    weight: 4,
    prepare: (turn) => {
      const { world, accounts } = turn;
      const { UsdCoin } = world.local;
      const quote = takeUnpaid(turn, (token) => token === UsdCoin);
      const payer = quote && takePayer(turn, quote);
      if (quote === undefined || payer === undefined) return undefined;
      quote.paid = true;
      const plan = newPlan(turn, quote);
      const { address } = payer.wallet;
      return async () => {
        if (payer.usd < quote.amount) {
          await mintUsd(world, accounts.treasury, address, USD_SUPPLY);
          payer.usd += USD_SUPPLY;
        }
        if (!payer.approved) {
          await approveToken(payer.wallet, UsdCoin, world.contracts.SettlementAdapter, maxUint256);
          payer.approved = true;
        }
        await executeSettlement(world, payer.wallet, plan);
        payer.usd -= quote.amount;
      };
    },
  },
  {
    name: "settle a quote in ether",
    weight: 3,
    prepare: (turn) => {
      const quote = takeUnpaid(turn, (token) => token === zeroAddress);
      if (quote === undefined) return undefined;
      quote.paid = true;
      const plan = newPlan(turn, quote);
      const payer = quote.agent ?? turn.random.pick(turn.accounts.owners);
      return () => executeSettlement(turn.world, payer, plan);
    },
  },
  {
    name: "wrap ether",
    weight: 1,
    prepare: ({ world, random, accounts }) => {
      const holder = random.pick(accounts.owners);
      const amount = random.between(1n, parseEther("0.1"));
      return () => wrapEther(world, holder, amount);
    },
  },
];

function takeUnpaid(
  turn: Turn,
  pays: (token: SimulatedQuote["token"]) => boolean,
): SimulatedQuote | undefined {
  return turn.take(turn.state.quotes, ({ paid, token }) => !paid && pays(token));
}

/** The agent itself; any owner for a policy account. */
function takePayer(turn: Turn, { agent }: SimulatedQuote): SimulatedOwner | undefined {
  return turn.take(turn.state.owners, ({ wallet }) => agent === undefined || wallet === agent);
}

/** Splits the amount into lines of at least one unit each; the first is the merchant's. */
function newPlan({ random, accounts }: Turn, quote: SimulatedQuote) {
  const wanted = 1 + random.below(LINES_MAX);
  const amounts: bigint[] = [];
  let rest = quote.amount;
  while (amounts.length + 1 < wanted && rest > 1n) {
    const part = random.between(1n, rest / 2n);
    amounts.push(part);
    rest -= part;
  }
  return {
    quoteHash: quote.hash,
    settlementPlanHash: random.bytes32(),
    token: quote.token,
    deadline: quote.expiresAt,
    lines: [rest, ...amounts].map((amount, index) => ({
      kind: index === 0 ? 0 : random.below(LINE_KINDS.length),
      recipient: index === 0 ? quote.merchant.owner.address : random.pick(accounts.facilitators).address,
      amount,
      metadataHash: random.bytes32(),
    })),
  };
}
