// The market's accounts hold exactly their starting balances, on a chain of any id.

import { LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import type { LocalDeployment } from "@sextant/contracts/deploy/deployment";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { type Address, decodeFunctionResult, encodeFunctionData, type Hex } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { deployFundedMarket } from "./fund-market.ts";

let chain: LocalChain;
let market: LocalDeployment;

beforeAll(async () => {
  chain = await startLocalChain({ chainId: 8453, code: LOCAL_GENESIS_CODE });
  market = await deployFundedMarket(chain, "base");
});
afterAll(() => chain.stop());

async function balance(token: Address, wallet: Address): Promise<bigint> {
  const data = encodeFunctionData({ abi: usdCoinAbi, functionName: "balanceOf", args: [wallet] });
  const result = (await chain.request("eth_call", [{ to: token, data }, "latest"])) as Hex;
  return decodeFunctionResult({ abi: usdCoinAbi, functionName: "balanceOf", data: result });
}

it("funds every account to the last unit", async () => {
  const { UsdCoin, WrappedEther, Vault4626 } = market.local;
  const { payer, agent, solver } = chain.accounts;
  expect(market).toMatchObject({ network: "base", chainId: 8453 });
  expect(await balance(UsdCoin, payer.address)).toBe(1_250_500_000n);
  expect(await balance(WrappedEther, agent.address)).toBe(2_000_000_000_000_000_001n);
  expect(await balance(UsdCoin, Vault4626)).toBe(400_000_000n + 100_000_000_001n);
  expect(await balance(Vault4626, solver.address)).toBeGreaterThan(0n);
});
