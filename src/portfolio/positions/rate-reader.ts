// Tokens that grow against another asset at a rate that one of their protocol's contracts states.

import { readChainData } from "../../chain/chain-data.ts";
import { decodeTokenAmount } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { shape } from "../../lib/json-shape.ts";
import { defineRead, joinEach } from "../contract-reads/reads.ts";
import type { PositionKind, PositionReader, ProtocolPosition } from "../types.ts";
import { declareAssets, getAsset } from "./asset-metadata.ts";
import { defineReader } from "./position-read.ts";

export type RatedToken = {
  readonly token: Hex;
  readonly name: string;
  readonly kind: PositionKind;
  /** The asset against which one token grows; null for the native coin. */
  readonly asset: Hex | null;
  /** Returns the rate as one word with `scale` decimals. */
  readonly rate: {
    readonly contract: Hex;
    readonly signature: string;
    readonly args: readonly bigint[];
    readonly scale: number;
  };
};

const { address } = shape;
const WHOLE_UNIT = 10n ** 18n;

/** Ethereum only: bridged rETH does not know the rate, and Aave prices it if it is a reserve. */
export const ROCKET_POOL_TOKENS = readChainData(
  "staking",
  "rocket-pool",
  shape.mapped(shape.object({ rEth: address }), ({ rEth }): readonly RatedToken[] => {
    const signature = "function getExchangeRate() view returns (uint256)";
    const rate = { contract: rEth, signature, args: [], scale: 18 };
    return [{ token: rEth, name: "Rocket Pool rETH", kind: "staked", asset: null, rate }];
  }),
);

/**
 * eETH rebases and no market quotes it, but anyone can wrap it at any time, so it counts as the weETH that wrapping gives.
 * Bridged weETH does not know its rate.
 */
export const ETHER_FI_TOKENS = readChainData(
  "staking",
  "ether-fi",
  shape.mapped(shape.object({ weEth: address, eEth: address }), ({ weEth, eEth }): readonly RatedToken[] => {
    const ofWeEth = "function getRate() view returns (uint256)";
    const ofEEth = "function getWeETHByeETH(uint256) view returns (uint256)";
    const rate = { contract: weEth, scale: 18 };
    return [
      {
        token: weEth,
        name: "ether.fi weETH",
        kind: "staked",
        asset: null,
        rate: { ...rate, signature: ofWeEth, args: [] },
      },
      {
        token: eEth,
        name: "ether.fi eETH",
        kind: "staked",
        asset: weEth,
        rate: { ...rate, signature: ofEEth, args: [WHOLE_UNIT] },
      },
    ];
  }),
);

/** Only chains on which the savings token is not a vault; on Ethereum the reader of ERC-4626 vaults knows it. */
export const SKY_TOKENS = readChainData(
  "vaults",
  "sky",
  shape.list(
    shape.mapped(
      shape.object({ token: address, asset: address, oracle: address }),
      ({ token, asset, oracle: contract }): RatedToken => {
        const signature = "function getConversionRate() view returns (uint256)";
        // In rays: the rate at the block's time, from the savings rate that Ethereum sends.
        return {
          token,
          name: "Sky sUSDS",
          kind: "vault",
          asset,
          rate: { contract, signature, args: [], scale: 27 },
        };
      },
    ),
  ),
);

/**
 * The wallet keeps the token itself, at its own price: a market knows what it can be sold for. Only if no source has a
 * price, the protocol's rate stands in. No round trip unless such a token is held.
 */
export function createRateReader(
  protocol: string,
  markets: ReadonlyMap<number, readonly RatedToken[]>,
): PositionReader {
  return defineReader({
    protocol,
    markets,
    async read(run, tokens) {
      const { at, holdings } = await run.withTokens();
      const held = tokens.flatMap((rated) => {
        const holding = holdings.find(({ contract }) => contract === rated.token);
        return holding ? [{ rated, holding }] : [];
      });
      const contracts = held.map(({ rated }) => rated.asset);
      const { rates, assets } = await run.ask({
        rates: joinEach(held, ({ rated: { rate } }) =>
          defineRead(rate.signature, decodeTokenAmount)(rate.contract, rate.args),
        ),
        assets: declareAssets({ at, holdings }, contracts),
      });
      return rates.flatMap(([{ rated, holding }, units]): ProtocolPosition[] => {
        const { token, name, kind, rate } = rated;
        if (!units) {
          run.warn(`The rate of ${token} on ${run.chain} could not be read; it is shown as a token.`);
          return [];
        }
        const marketRate = {
          per: getAsset(assets, rated.asset),
          rate: { units, scale: rate.scale },
          source: protocol,
          contract: rate.contract,
          timestamp: null,
        };
        const facts = { protocol, kind, name, contract: token };
        return [{ ...facts, assets: [{ ...holding, marketRate }], receiptTokens: [token] }];
      });
    },
  });
}
