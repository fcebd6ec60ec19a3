// The published contracts run: read from each kind of file, linked, and compiled from a package's sources.

import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Artifact, compileSources, readArtifact } from "./artifacts.ts";
import { createDeployer, type Deployer } from "./deployer.ts";

let chain: LocalChain;
let deployer: Deployer;
beforeAll(async () => {
  chain = await startLocalChain({ chainId: 31337 });
  deployer = createDeployer(chain, chain.accounts.owner.privateKey);
});
afterAll(() => chain?.stop());

it.each([
  ["Hardhat", "@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json", "owner"],
  ["Truffle", "canonical-weth/build/contracts/WETH9.json", "totalSupply"],
])("reads the files of %s", async (_kind, path, view) => {
  const contract = await deployer.deploy(readArtifact(path));
  expect(await deployer.call(contract, view)).toBeDefined();
});

it("links libraries, and fails without them", () => {
  const path =
    "@uniswap/v3-periphery/artifacts/contracts/NonfungibleTokenPositionDescriptor.sol/NonfungibleTokenPositionDescriptor.json";
  expect(() => readArtifact(path)).toThrow("the library NFTDescriptor is not deployed");
  const { bytecode } = readArtifact(path, { NFTDescriptor: `0x${"ab".repeat(20)}` });
  expect(bytecode).toContain("ab".repeat(20));
});

it("compiles the sources of a package", async () => {
  const text =
    'pragma solidity ^0.8.0; import {ERC20} from "solmate/src/tokens/ERC20.sol"; contract Token is ERC20("Token", "T", 6) {}';
  const { Token } = await compileSources({ "token.sol": text });
  const token = await deployer.deploy(Token as Artifact);
  expect(await deployer.call(token, "decimals")).toBe(6);
});
