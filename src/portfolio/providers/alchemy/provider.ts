// The provider `alchemy`: balances, names, prices and transfers of a wallet from Alchemy, complete or refused.
import type { Decimal } from "../../../lib/decimal.ts";
import { Fault } from "../../../lib/fault.ts";
import {
  type AssetKey,
  type ChainConfig,
  getAssetKey,
  type Holding,
  type HoldingsProvider,
  type WalletActivity,
} from "../../types.ts";
import { VendorError } from "../../vendor-request.ts";
import { readAlchemyActivity } from "./activity.ts";
import { type AlchemyClient, type AlchemyOptions, createAlchemyClient } from "./client.ts";
import { ALCHEMY_NETWORKS } from "./networks.ts";
import type { AlchemyToken, AlchemyTokenQuery } from "./tokens.ts";
import { readAlchemyTokens } from "./tokens.ts";

// Enough to recognise what went wrong; a wallet may hold hundreds of broken tokens.
const NAMED_MAX = 5;

export function createAlchemyProvider(options: AlchemyOptions): HoldingsProvider {
  const client = createAlchemyClient(options);
  return {
    name: "alchemy",
    async read({ at, wallet }, signal) {
      const { chain, block } = at;
      const network = ALCHEMY_NETWORKS.get(chain.chainId);
      if (network === undefined) throw new Fault("PROVIDER_FAILED", `Alchemy does not serve ${chain.name}.`);
      const question: AlchemyTokenQuery = { wallet, network, blockTimestamp: block.timestamp };
      // Without balances there is no answer, and nobody waits for the activity any more.
      const given = new AbortController();
      const activitySignal = AbortSignal.any([signal, given.signal]);
      const activityQuestion = { wallet, network: network.name, blockNumber: block.number };
      const [tokens, activity] = await Promise.all([
        readComplete(client, question, chain, signal),
        readOrWarn(client, activityQuestion, chain, activitySignal),
      ]).finally(() => given.abort());
      return {
        holdings: holdingsOf(tokens, chain),
        activity: activity.activity,
        warnings: [
          `Balances on ${chain.name} are the newest Alchemy has, not those of block ${block.number}.`,
          ...failureWarning(tokens, chain),
          ...activity.warnings,
        ],
        prices: pricesOf(tokens),
      };
    },
  };
}

async function readComplete(
  client: AlchemyClient,
  question: AlchemyTokenQuery,
  chain: ChainConfig,
  signal: AbortSignal,
): Promise<readonly AlchemyToken[]> {
  try {
    const tokens = await readAlchemyTokens(client, question, signal);
    // A stranger's token may be beyond reading; the coin of the chain never is.
    if (
      tokens.some(({ contract, failed, rawBalance }) => contract === null && failed && rawBalance === null)
    ) {
      throw new VendorError("refused", "The native balance could not be read.");
    }
    return tokens;
  } catch (cause) {
    if (!(cause instanceof VendorError)) throw cause;
    const message = `The balances on ${chain.name} could not be read completely; nothing was charged.`;
    throw new Fault("PROVIDER_FAILED", message, { cause });
  }
}

async function readOrWarn(
  client: AlchemyClient,
  question: Parameters<typeof readAlchemyActivity>[1],
  chain: ChainConfig,
  signal: AbortSignal,
): Promise<{ activity: readonly WalletActivity[]; warnings: readonly string[] }> {
  try {
    return { activity: await readAlchemyActivity(client, question, signal), warnings: [] };
  } catch (error) {
    if (!(error instanceof VendorError)) throw error;
    return { activity: [], warnings: [`Recent activity on ${chain.name} could not be read.`] };
  }
}

/** Each asset once: the vendor writes the native coin in several ways, and pages overlap while a wallet moves. */
function holdingsOf(tokens: readonly AlchemyToken[], chain: ChainConfig): readonly Holding[] {
  const holdings = new Map<AssetKey, Holding>();
  for (const { contract, rawBalance, symbol, name, decimals, logo } of tokens) {
    const key = getAssetKey({ contract });
    // The first counts and is not added to: the second is the same balance told again.
    if (!rawBalance || holdings.has(key)) continue;
    const described = contract === null ? chain.native : { symbol, name, decimals };
    holdings.set(key, {
      contract,
      symbol: described.symbol,
      name: described.name,
      decimals: described.decimals,
      logo,
      rawBalance,
    });
  }
  return [...holdings.values()];
}

function pricesOf(tokens: readonly AlchemyToken[]): ReadonlyMap<AssetKey, Decimal> {
  const prices = new Map<AssetKey, Decimal>();
  for (const { contract, priceUsd } of tokens) {
    const key = getAssetKey({ contract });
    if (priceUsd !== null && !prices.has(key)) prices.set(key, priceUsd);
  }
  return prices;
}

function failureWarning(tokens: readonly AlchemyToken[], chain: ChainConfig): readonly string[] {
  const failed = tokens.flatMap((token) => (token.failed ? [getAssetKey(token)] : []));
  if (failed.length === 0) return [];
  const named = failed.slice(0, NAMED_MAX).join(", ");
  const more = failed.length > NAMED_MAX ? ` and ${failed.length - NAMED_MAX} more` : "";
  return [`Alchemy could not read everything about these tokens on ${chain.name}: ${named}${more}.`];
}
