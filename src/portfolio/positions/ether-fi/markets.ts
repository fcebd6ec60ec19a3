// Tokens of ether.fi by chain id.
import type { Hex } from "../../../lib/hex.ts";
import type { RatedToken } from "../rate-reader.ts";

const EETH: Hex = "0x35fa164735182de50811e8e2e824cfb9b6118ac2";
const WEETH: Hex = "0xcd5fe23c85820f7b72d0926fc9b05b43e359b7ee";
const WHOLE_UNIT = 10n ** 18n;

const GET_RATE = "function getRate() view returns (uint256)";
const GET_WEETH_BY_EETH = "function getWeETHByeETH(uint256) view returns (uint256)";

/**
 * Addresses from etherfi-protocol/smart-contracts (2026-07-15). eETH rebases and no market quotes it, but anyone can wrap it at any
 * time, so it counts as the weETH that wrapping gives. Bridged weETH does not know its rate.
 */
export const ETHER_FI_TOKENS: ReadonlyMap<number, readonly RatedToken[]> = new Map([
  [
    1,
    [
      {
        token: WEETH,
        name: "ether.fi weETH",
        kind: "staked",
        asset: null,
        rate: { contract: WEETH, signature: GET_RATE, args: [], scale: 18 },
      },
      {
        token: EETH,
        name: "ether.fi eETH",
        kind: "staked",
        asset: WEETH,
        rate: { contract: WEETH, signature: GET_WEETH_BY_EETH, args: [WHOLE_UNIT], scale: 18 },
      },
    ],
  ],
]);
