// Reads what a wallet staked in Aave's Safety Module and in Umbrella, as the assets that it would get back after the cooldown.

import { decodeAddress, decodeTokenAmount } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { readEach, readGroups } from "../../contract-reads/read-groups.ts";
import { defineRead, Reads } from "../../contract-reads/reads.ts";
import { erc20 } from "../../tokens/erc20.ts";
import type { PositionReader } from "../../types.ts";
import { declareAssets, getAsset } from "../asset-metadata.ts";
import { createMarketReader } from "../market-reader.ts";
import type { AaveStakeToken } from "./markets.ts";

const PROTOCOL = "aave-staking";

const stakedToken = defineRead("function STAKED_TOKEN()", decodeAddress);
const vaultAsset = defineRead("function asset()", decodeAddress);
// A slashing lowers both.
const previewRedeem = defineRead("function previewRedeem(uint256)", decodeTokenAmount);
const convertToAssets = defineRead("function convertToAssets(uint256)", decodeTokenAmount);

type Staked = AaveStakeToken & { readonly asset: Hex; readonly amount: bigint };
/** A stake with what its contract says about it; null what could not be read. */
type Unwrapped = readonly [AaveStakeToken, { readonly asset: Hex | null; readonly amount: bigint | null }];

/** One round trip without a stake; two more to find what it is worth, as Umbrella stakes the shares of another vault. */
export function createAaveStakingReader(
  tokensByChain: ReadonlyMap<number, readonly AaveStakeToken[]>,
): PositionReader {
  return createMarketReader(PROTOCOL, tokensByChain, async (query, tokens, signal) => {
    const { at, wallet } = query;
    const warnings: string[] = [];
    const warnUnreadable = ({ name }: AaveStakeToken) =>
      warnings.push(`A stake in Aave ${name} on ${at.chain.name} could not be read.`);
    const keepRead = (unwrapped: readonly Unwrapped[]): readonly Staked[] =>
      unwrapped.flatMap(([stake, { asset, amount }]) => {
        if (asset === null || amount === null) warnUnreadable(stake);
        return asset === null || !amount ? [] : [{ ...stake, asset, amount }];
      });
    const balances = await readEach(at, signal, tokens, ({ token }) => erc20.balanceOf(token, [wallet]));
    for (const [token, shares] of balances) if (shares === null) warnUnreadable(token);
    const stakes = balances.flatMap(([token, shares]) => (shares ? [{ ...token, shares }] : []));
    const staked = keepRead(
      await readEach(at, signal, stakes, ({ token, kind, shares }) =>
        kind === "safety-module"
          ? { asset: stakedToken(token), amount: previewRedeem(token, [shares]) }
          : { asset: vaultAsset(token), amount: convertToAssets(token, [shares]) },
      ),
    );
    // Wrapped deposits are shares of a vault, which stand for the token that was supplied.
    const unwrapped = keepRead(
      await readEach(at, signal, staked, ({ kind, asset, amount }) =>
        kind === "vault-of-vault"
          ? { asset: vaultAsset(asset), amount: convertToAssets(asset, [amount]) }
          : { asset: new Reads([], () => asset), amount: new Reads([], () => amount) },
      ),
    );
    const contracts = unwrapped.map(({ asset }) => asset);
    const assets = await readGroups(at, signal, declareAssets(query, contracts));
    const positions = unwrapped.map(({ name, token, asset, amount }) => ({
      ...{ protocol: PROTOCOL, kind: "staked" as const, name: `Aave ${name}`, contract: token },
      assets: [{ ...getAsset(assets, asset), rawBalance: amount }],
      receiptTokens: [token],
    }));
    return { positions, warnings };
  });
}
