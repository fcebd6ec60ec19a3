// A price feed that says what a test tells it, with rounds as Chainlink's have them.
import { type Artifact, compileSources } from "../support/artifacts.ts";
import type { DeployedContract, Deployer } from "../support/deployer.ts";

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
contract Feed {
  int256 public latestAnswer;
  uint256 public updatedAt;
  uint8 public constant decimals = 8;
  string public constant description = "a test / USD";
  uint256 public constant version = 1;
  constructor(int256 price) { latestAnswer = price; updatedAt = block.timestamp; }
  function set(int256 price, uint256 age) external { latestAnswer = price; updatedAt = block.timestamp - age; }
  function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
    return (1, latestAnswer, updatedAt, updatedAt, 1);
  }
}`;

export async function deployFeed(deployer: Deployer, price: bigint): Promise<DeployedContract> {
  const { Feed } = await compileSources({ "feed.sol": SOURCE });
  return deployer.deploy(Feed as Artifact, [price]);
}
