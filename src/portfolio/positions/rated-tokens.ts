// Tokens of Rocket Pool, ether.fi and Sky that grow at a rate which one of their contracts states, by chain id.
import { readChainData } from "../../chain/chain-data.ts";
import { shape } from "../../lib/json-shape.ts";
import type { RatedToken } from "./rate-reader.ts";

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
        ...{ token: weEth, name: "ether.fi weETH", kind: "staked", asset: null },
        rate: { ...rate, signature: ofWeEth, args: [] },
      },
      {
        ...{ token: eEth, name: "ether.fi eETH", kind: "staked", asset: weEth },
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
