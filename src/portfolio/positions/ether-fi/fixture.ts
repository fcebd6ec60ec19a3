// A wallet with eETH and weETH on Ethereum, with results in the shape of ether.fi's contract.
import { fixtureChainConfig, fixtureToken } from "../fixture-chain.ts";

export const EETH = fixtureToken("0x35fa164735182de50811e8e2e824cfb9b6118ac2", "eETH", 18, "ether.fi ETH");
export const WEETH = fixtureToken("0xcd5fe23c85820f7b72d0926fc9b05b43e359b7ee", "weETH", 18, "Wrapped eETH");
/** Each is the other's inverse. */
export const WEETH_RATE = 1_080_000000000000000n;
export const EETH_RATE = 925_925925925925925n;

export const etherFiChainConfig = fixtureChainConfig(1, "Ethereum", [EETH, WEETH]);

export const etherFiCalls = [
  { to: WEETH.contract, function: "getRate() view returns (uint256)", args: [], result: WEETH_RATE },
  {
    to: WEETH.contract,
    function: "getWeETHByeETH(uint256) view returns (uint256)",
    args: [10n ** 18n],
    result: EETH_RATE,
  },
];
