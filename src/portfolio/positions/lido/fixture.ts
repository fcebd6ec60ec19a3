// A wallet with five wstETH on Ethereum without stETH in the lists, with results in the shape of Lido's contracts.
import type { Hex } from "../../../lib/hex.ts";

export const WST_ETH_ADDRESS: Hex = "0x7f39c581f595b53c5cb19bd0b3f8da6c935e2ca0";
export const ST_ETH_ADDRESS: Hex = "0xae7ab96520de3a18e5e111b5eaab095312d7fe84";

export const WST_ETH_BALANCE = 5_000000000000000000n;
export const ST_ETH_AMOUNT = 6_084331905517243881n;

export const wstEthCalls = [
  {
    to: WST_ETH_ADDRESS,
    function: "getStETHByWstETH(uint256) view returns (uint256)",
    args: [WST_ETH_BALANCE],
    result: ST_ETH_AMOUNT,
  },
  {
    to: ST_ETH_ADDRESS,
    function: "totalSupply() view returns (uint256)",
    args: [],
    result: 8_912_345_678901234567890123n,
  },
  { to: ST_ETH_ADDRESS, function: "symbol() view returns (string)", args: [], result: "stETH" },
  {
    to: ST_ETH_ADDRESS,
    function: "name() view returns (string)",
    args: [],
    result: "Liquid staked Ether 2.0",
  },
  { to: ST_ETH_ADDRESS, function: "decimals() view returns (uint8)", args: [], result: 18 },
];
