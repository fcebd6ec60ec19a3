// Reads what a wallet staked in Aave's Safety Module and in Umbrella, as the assets that it would get back after the cooldown.

import { readChainData } from "../../../chain/chain-data.ts";
import { decodeAddress, decodeTokenAmount } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";
import { defineRead, Reads } from "../../contract-reads/reads.ts";
import { erc20 } from "../../tokens/erc20.ts";
import type { PositionReader } from "../../types.ts";
import { declareAssets, toHolding } from "../asset-metadata.ts";
import { defineReader } from "../position-read.ts";

const PROTOCOL = "aave-staking";

const aaveStakeToken = shape.object({
  name: shape.text,
  token: shape.address,
  /**
   * The Safety Module's stake tokens have functions of their own. Umbrella's are ERC-4626 vaults: of a token, or of
   * another vault, Aave's wrapped deposits.
   */
  kind: shape.oneOf("safety-module", "vault", "vault-of-vault"),
});

export type AaveStakeToken = ShapeType<typeof aaveStakeToken>;

/** Stake tokens by chain id; the test compares them with the address book of Aave's governance. */
export const AAVE_STAKE_TOKENS = readChainData(
  "staking",
  "aave-staking",
  shape.list(aaveStakeToken, ({ token }) => token),
);

const stakedToken = defineRead("function STAKED_TOKEN()", decodeAddress);
const vaultAsset = defineRead("function asset()", decodeAddress);
// A slashing lowers both.
const previewRedeem = defineRead("function previewRedeem(uint256)", decodeTokenAmount);
const convertToAssets = defineRead("function convertToAssets(uint256)", decodeTokenAmount);

/** A stake with what its contract says about it; null what could not be read. */
type Unwrapped = readonly [AaveStakeToken, { readonly asset: Hex | null; readonly amount: bigint | null }];

/** One round trip without a stake; two more to find what it is worth, as Umbrella stakes the shares of another vault. */
export function createAaveStakingReader(
  markets: ReadonlyMap<number, readonly AaveStakeToken[]>,
): PositionReader {
  return defineReader({
    protocol: PROTOCOL,
    markets,
    async read(run, tokens) {
      const keepRead = (unwrapped: readonly Unwrapped[]) =>
        unwrapped.flatMap(([stake, { asset, amount }]) => {
          if (asset === null || amount === null)
            run.warn(`A stake in Aave ${stake.name} on ${run.chain} could not be read.`);
          return asset === null || !amount ? [] : [{ ...stake, asset, amount }];
        });
      const shares = await run.askEach(tokens, ({ token }) => ({
        asset: new Reads([], () => token),
        amount: erc20.balanceOf(token, [run.wallet]),
      }));
      const staked = await run.askEach(keepRead(shares), ({ token, kind, amount }) =>
        kind === "safety-module"
          ? { asset: stakedToken(token), amount: previewRedeem(token, [amount]) }
          : { asset: vaultAsset(token), amount: convertToAssets(token, [amount]) },
      );
      // Wrapped deposits are shares of a vault, which stand for the token that was supplied.
      const unwrapped = await run.askEach(keepRead(staked), ({ kind, asset, amount }) =>
        kind === "vault-of-vault"
          ? { asset: vaultAsset(asset), amount: convertToAssets(asset, [amount]) }
          : { asset: new Reads([], () => asset), amount: new Reads([], () => amount) },
      );
      const stakes = keepRead(unwrapped);
      const contracts = stakes.map(({ asset }) => asset);
      const assets = await run.ask(declareAssets(await run.withTokens(), contracts));
      return stakes.map(({ name, token, asset, amount }) => ({
        protocol: PROTOCOL,
        kind: "staked",
        name: `Aave ${name}`,
        contract: token,
        assets: [toHolding(assets, asset, amount)],
        receiptTokens: [token],
      }));
    },
  });
}
