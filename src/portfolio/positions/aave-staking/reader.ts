// What a wallet staked in Aave's Safety Module and in Umbrella, as the assets that it would get back after the cooldown.

import { decodeAddress, decodeTokenAmount } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { createCallEncoder, readByMulticall } from "../../multicall.ts";
import { erc20 } from "../../tokens/erc20.ts";
import type { PositionQuery, PositionReader } from "../../types.ts";
import { getAsset, prepareAssetLookup } from "../asset-metadata.ts";
import { createMarketReader } from "../market-reader.ts";
import type { AaveStakeToken } from "./markets.ts";

const PROTOCOL = "aave-staking";

const stakedToken = createCallEncoder("function STAKED_TOKEN() view returns (address)");
const vaultAsset = createCallEncoder("function asset() view returns (address)");
// A slashing lowers both.
const previewRedeem = createCallEncoder("function previewRedeem(uint256) view returns (uint256)");
const convertToAssets = createCallEncoder("function convertToAssets(uint256) view returns (uint256)");

type Stake = AaveStakeToken & { readonly shares: bigint };
type Staked = AaveStakeToken & { readonly asset: Hex; readonly amount: bigint };

/** What every step of one read needs. */
type ReadContext = {
  readonly query: PositionQuery;
  readonly signal: AbortSignal;
  /** Collects what could not be read. */
  readonly warnings: string[];
};

/** One round trip without a stake; two more to find what it is worth, as Umbrella stakes the shares of another vault. */
export function createAaveStakingReader(
  tokensByChain: ReadonlyMap<number, readonly AaveStakeToken[]>,
): PositionReader {
  return createMarketReader(PROTOCOL, tokensByChain, async (query, tokens, signal) => {
    const context: ReadContext = { query, signal, warnings: [] };
    const stakes = await readStakes(context, tokens);
    const staked = await unwrapVaults(context, await readStaked(context, stakes));
    const lookup = prepareAssetLookup(
      query,
      staked.map(({ asset }) => asset),
    );
    const assets = lookup.decode(await readByMulticall(query.at, lookup.calls, signal));
    const positions = staked.map(({ name, token, asset, amount }) => ({
      ...{ protocol: PROTOCOL, kind: "staked" as const, name: `Aave ${name}`, contract: token },
      assets: [{ ...getAsset(assets, asset), rawBalance: amount }],
      receiptTokens: [token],
    }));
    return { positions, warnings: context.warnings };
  });
}

async function readStakes(
  context: ReadContext,
  tokens: readonly AaveStakeToken[],
): Promise<readonly Stake[]> {
  const { at, wallet } = context.query;
  const calls = tokens.map(({ token }) => erc20.balanceOf(token, [wallet]));
  const results = await readByMulticall(at, calls, context.signal);
  return tokens.flatMap((token, index): Stake[] => {
    const shares = decodeTokenAmount(results[index]);
    if (shares === null) warnUnreadable(context, token);
    return shares ? [{ ...token, shares }] : [];
  });
}

async function readStaked(context: ReadContext, stakes: readonly Stake[]): Promise<readonly Staked[]> {
  const calls = stakes.flatMap(({ token, kind, shares }) =>
    kind === "safety-module"
      ? [stakedToken(token), previewRedeem(token, [shares])]
      : [vaultAsset(token), convertToAssets(token, [shares])],
  );
  const results = await readByMulticall(context.query.at, calls, context.signal);
  return stakes.flatMap(({ shares: _, ...stake }, index): Staked[] => {
    const asset = decodeAddress(results[index * 2]);
    const amount = decodeTokenAmount(results[index * 2 + 1]);
    if (asset === null || amount === null) warnUnreadable(context, stake);
    return asset === null || !amount ? [] : [{ ...stake, asset, amount }];
  });
}

/** Wrapped deposits are shares of a vault, which stand for the token that was supplied. */
async function unwrapVaults(context: ReadContext, staked: readonly Staked[]): Promise<readonly Staked[]> {
  const wrapped = staked.filter(({ kind }) => kind === "vault-of-vault");
  const calls = wrapped.flatMap(({ asset, amount }) => [vaultAsset(asset), convertToAssets(asset, [amount])]);
  const results = await readByMulticall(context.query.at, calls, context.signal);
  return staked.flatMap((stake): Staked[] => {
    const index = wrapped.indexOf(stake);
    if (index === -1) return [stake];
    const asset = decodeAddress(results[index * 2]);
    const amount = decodeTokenAmount(results[index * 2 + 1]);
    if (asset === null || amount === null) warnUnreadable(context, stake);
    return asset === null || !amount ? [] : [{ ...stake, asset, amount }];
  });
}

function warnUnreadable({ query, warnings }: ReadContext, { name }: AaveStakeToken): void {
  warnings.push(`A stake in Aave ${name} on ${query.at.chain.name} could not be read.`);
}
