// A wallet with rETH on Ethereum, with a result in the shape of Rocket Pool's contract.
import { fixtureChainConfig, fixtureToken } from "../fixture-chain.ts";

export const RETH = fixtureToken("0xae78736cd615f374d3085123a210448e74fc6393", "rETH", 18, "Rocket Pool ETH");
export const RETH_BALANCE = 7_654321098765432109n;
export const RETH_RATE = 1_148_765432109876543n;

export const rocketPoolChainConfig = fixtureChainConfig(1, "Ethereum", [RETH]);

export const rocketPoolCalls = [
  {
    to: RETH.contract,
    function: "getExchangeRate() view returns (uint256)",
    args: [],
    result: RETH_RATE,
  },
];
