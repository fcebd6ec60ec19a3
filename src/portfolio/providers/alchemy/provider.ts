// The holdings provider `alchemy`: balances, metadata, prices and transfers of a wallet; incomplete balances reject.
import { findChainById } from "../../../chain/chains/chains.ts";
import { Fault } from "../../../lib/fault.ts";
import { nameFirst } from "../../../lib/lists.ts";
import { BUDGET_MS, runWithinBudget } from "../../time-budgets.ts";
import {
  type AssetKey,
  type ChainConfig,
  getAssetKey,
  type Holding,
  type HoldingsProvider,
  type PinnedChain,
  type QuotedPrice,
} from "../../types.ts";
import { VendorError } from "../../vendor-request.ts";
import { NO_ACTIVITY, type ProviderActivity, readSenders } from "../activity.ts";
import { readAlchemyActivity } from "./activity.ts";
import { type AlchemyClient, type AlchemyOptions, createAlchemyClient } from "./client.ts";
import { type AlchemyToken, type AlchemyTokenQuery, readAlchemyTokens } from "./tokens.ts";

// Enough to recognise what went wrong; a wallet may hold hundreds of broken tokens.
const NAMED_MAX = 5;

// Its own requests, and then those for the senders.
const ACTIVITY_MS_MAX = BUDGET_MS.transfers + BUDGET_MS.activity;

export function createAlchemyProvider(options: AlchemyOptions): HoldingsProvider {
  const client = createAlchemyClient(options);
  const { activityMsMax = ACTIVITY_MS_MAX } = options;
  return {
    name: "alchemy",
    presentOnly: true,
    async read({ at, wallet, withoutActivity }, signal) {
      const { chain, block } = at;
      const name = findChainById(chain.chainId)?.vendorNames?.alchemy;
      if (name === undefined) throw new Fault("PROVIDER_FAILED", `Alchemy does not serve ${chain.name}.`);
      const tokenQuery: AlchemyTokenQuery = {
        wallet,
        network: { chainId: chain.chainId, name },
        blockTimestamp: block.timestamp,
      };
      const query = { wallet, network: name, chain, blockNumber: block.number };
      // When the balances fail, the activity is of no use: stop reading it.
      const finished = new AbortController();
      const activitySignal = AbortSignal.any([signal, finished.signal]);
      const [tokens, recent] = await Promise.all([
        readCompleteTokens(client, tokenQuery, chain, signal),
        withoutActivity
          ? { value: NO_ACTIVITY }
          : runWithinBudget((stop) => readActivity(client, query, at, stop), activityMsMax, activitySignal),
      ]).finally(() => finished.abort());
      const { activity, warnings } =
        "value" in recent
          ? recent.value
          : { activity: [], warnings: [`Recent activity on ${chain.name} could not be read.`] };
      return {
        holdings: toHoldings(tokens, chain),
        activity,
        warnings: [
          `Balances on ${chain.name} are the newest Alchemy has, not those of block ${block.number}.`,
          ...describeFailedTokens(tokens, chain),
          ...warnings,
        ],
        prices: toPrices(tokens),
      };
    },
  };
}

async function readCompleteTokens(
  client: AlchemyClient,
  query: AlchemyTokenQuery,
  chain: ChainConfig,
  signal: AbortSignal,
): Promise<readonly AlchemyToken[]> {
  try {
    const tokens = await readAlchemyTokens(client, query, signal);
    // Any other token may be unreadable, but the native coin must be there.
    if (
      tokens.some(({ contract, failed, rawBalance }) => contract === null && failed && rawBalance === null)
    ) {
      throw new VendorError("permanent", "The native balance could not be read.");
    }
    return tokens;
  } catch (cause) {
    if (!(cause instanceof VendorError)) throw cause;
    const message = `The balances on ${chain.name} could not be read completely; nothing was charged.`;
    throw new Fault("PROVIDER_FAILED", message, { cause });
  }
}

/** Reads activity, with the senders of transactions of which only token transfers are known. */
async function readActivity(
  client: AlchemyClient,
  query: Parameters<typeof readAlchemyActivity>[1],
  at: PinnedChain,
  signal: AbortSignal,
): Promise<ProviderActivity> {
  const activity = await readAlchemyActivity(client, query, signal);
  const unsent = activity.filter(({ sender }) => sender === null).map(({ hash }) => hash);
  const { senders, warnings } = await readSenders(at, unsent, signal);
  const withSender = activity.map((entry) => {
    return { ...entry, sender: entry.sender ?? senders.get(entry.hash) ?? null };
  });
  return { activity: withSender, warnings };
}

/** Each asset once: the vendor writes the native coin in several forms, and pages overlap while balances change. */
function toHoldings(tokens: readonly AlchemyToken[], chain: ChainConfig): readonly Holding[] {
  const holdings = new Map<AssetKey, Holding>();
  for (const { contract, rawBalance, symbol, name, decimals, logo } of tokens) {
    const key = getAssetKey({ contract });
    // A repeated entry is the same balance again, so it must not be added.
    if (!rawBalance || holdings.has(key)) continue;
    const described = contract === null ? chain.native : { symbol, name, decimals };
    holdings.set(key, { contract, ...described, logo, rawBalance });
  }
  return [...holdings.values()];
}

function toPrices(tokens: readonly AlchemyToken[]): ReadonlyMap<AssetKey, QuotedPrice> {
  const prices = new Map<AssetKey, QuotedPrice>();
  for (const { contract, price } of tokens) {
    const key = getAssetKey({ contract });
    if (price !== null && !prices.has(key)) prices.set(key, price);
  }
  return prices;
}

function describeFailedTokens(tokens: readonly AlchemyToken[], chain: ChainConfig): readonly string[] {
  const failed = tokens.flatMap((token) => (token.failed ? [getAssetKey(token)] : []));
  if (failed.length === 0) return [];
  const named = nameFirst(failed, NAMED_MAX);
  return [`Alchemy could not read everything about these tokens on ${chain.name}: ${named}.`];
}
