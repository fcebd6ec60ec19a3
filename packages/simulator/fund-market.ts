// A small market on a local chain: dollars, a wrapped coin, price feeds, a vault, and accounts that hold some of each.

import { deploy } from "@sextant/contracts/deploy/deploy";
import type { LocalDeployment } from "@sextant/contracts/deploy/deployment";
import { awaitReceipt, type TransactionReceipt } from "@sextant/contracts/deploy/transaction";
import { lendingMarketAbi, lendingMarketBytecode } from "@sextant/contracts/generated/lending-market";
import { priceFeedAbi } from "@sextant/contracts/generated/price-feed";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { vault4626Abi } from "@sextant/contracts/generated/vault4626";
import { wrappedEtherAbi } from "@sextant/contracts/generated/wrapped-ether";
import type { LocalAccountName } from "@sextant/local-chain/accounts";
import type { LocalChain } from "@sextant/local-chain/local-chain";
import {
  type Abi,
  type Address,
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  maxUint256,
  numberToHex,
  parseAbi,
  parseEther,
  parseUnits,
} from "viem";

/** Initial balances of an account; `saved` lies in the vault. */
type StartingBalances = { readonly usdc: string; readonly saved: string; readonly wrapped: string };

// Uneven on purpose: round numbers hide a misplaced decimal point.
const STARTING_BALANCES: readonly (readonly [LocalAccountName, StartingBalances])[] = [
  ["payer", { usdc: "1250.50", saved: "400", wrapped: "0.75" }],
  ["agent", { usdc: "87.123456", saved: "0", wrapped: "2.000000000000000001" }],
  ["solver", { usdc: "250000", saved: "100000.000001", wrapped: "31.4" }],
  ["merchant", { usdc: "4321.09", saved: "0", wrapped: "0" }],
];

const USDC_DECIMALS = 6;

/** Without `to` it creates a contract. */
type Send = (
  from: Address,
  to: Address | undefined,
  data: Hex,
  value?: bigint,
) => Promise<TransactionReceipt>;

function createSender({ request }: LocalChain): Send {
  return async (from, to, data, value = 0n) => {
    const call = { from, to, data, value: numberToHex(value) };
    const hash = (await request("eth_sendTransaction", [call])) as Hex;
    const receipt = await awaitReceipt(request, hash);
    if (receipt.status !== "0x1") throw new Error(`Could not prepare the market: ${hash} failed`);
    return receipt;
  };
}

const encode = (abi: Abi, functionName: string, args: readonly unknown[] = []) =>
  encodeFunctionData({ abi, functionName, args });

/** Deploys everything and funds the accounts; the chain must mine at once. */
export async function deployFundedMarket(chain: LocalChain, network: string): Promise<LocalDeployment> {
  const { request, accounts } = chain;
  const deployment = await deploy({ request, owner: accounts.owner, network });
  const { UsdCoin, WrappedEther, Vault4626 } = deployment.local;
  const send = createSender(chain);
  const owner = accounts.owner.address;
  for (const [name, { usdc, saved, wrapped }] of STARTING_BALANCES) {
    const { address } = accounts[name];
    const [free, locked] = [parseUnits(usdc, USDC_DECIMALS), parseUnits(saved, USDC_DECIMALS)];
    await send(owner, UsdCoin, encode(usdCoinAbi, "mint", [address, free + locked]));
    if (locked > 0n) {
      await send(address, UsdCoin, encode(usdCoinAbi, "approve", [Vault4626, locked]));
      await send(address, Vault4626, encode(vault4626Abi, "deposit", [locked, address]));
    }
    const coins = parseEther(wrapped);
    if (coins > 0n) await send(address, WrappedEther, encode(wrappedEtherAbi, "deposit"), coins);
  }
  return deployment;
}

/** Publishes the prices of the feeds again, as of now. */
export async function publishPrices(
  chain: LocalChain,
  { EthUsdFeed, UsdcUsdFeed }: LocalDeployment["local"],
): Promise<void> {
  const send = createSender(chain);
  for (const feed of [EthUsdFeed, UsdcUsdFeed]) {
    const call = { to: feed, data: encode(priceFeedAbi, "latestRoundData") };
    const data = (await chain.request("eth_call", [call, "latest"])) as Hex;
    const [, price] = decodeFunctionResult({ abi: priceFeedAbi, functionName: "latestRoundData", data });
    await send(chain.accounts.owner.address, feed, encode(priceFeedAbi, "setAnswer", [price]));
  }
}

// The wallet may owe 86 % of its 1.2 WETH, which are worth 3,600 dollars: the collateral can lose 6.3 % of its value before liquidation.
const LOAN = { collateral: "1.2", borrowed: "2900", supplied: "12000", lltv: parseEther("0.86") } as const;
/** The oracle's 36 decimals, and those of USDC less those of WETH. */
const LOAN_PRICE_SCALE = 24n;

/** Deploys a lending market in which the payer's debt, spent at the merchant, is close to liquidation. */
export async function addPayerLoan(
  chain: LocalChain,
  { UsdCoin, WrappedEther, UsdcUsdFeed, EthUsdFeed }: LocalDeployment["local"],
): Promise<{ readonly lending: Address; readonly id: Hex }> {
  const { owner, payer, merchant } = chain.accounts;
  const send = createSender(chain);
  const args = [UsdCoin, WrappedEther, UsdcUsdFeed, EthUsdFeed, LOAN_PRICE_SCALE, LOAN.lltv] as const;
  const initCode = encodeDeployData({ abi: lendingMarketAbi, bytecode: lendingMarketBytecode, args });
  const { contractAddress: lending } = await send(owner.address, undefined, initCode);
  if (lending === null) throw new Error("Could not prepare the market: the loan has no contract");
  const supplied = parseUnits(LOAN.supplied, USDC_DECIMALS);
  await send(owner.address, UsdCoin, encode(usdCoinAbi, "mint", [owner.address, supplied]));
  await send(owner.address, UsdCoin, encode(usdCoinAbi, "approve", [lending, supplied]));
  await send(owner.address, lending, encode(lendingMarketAbi, "supply", [supplied]));
  const collateral = parseEther(LOAN.collateral);
  await send(payer.address, WrappedEther, encode(wrappedEtherAbi, "deposit"), collateral);
  await send(payer.address, WrappedEther, encode(wrappedEtherAbi, "approve", [lending, collateral]));
  await send(payer.address, lending, encode(lendingMarketAbi, "supplyCollateral", [collateral]));
  const borrow = [parseUnits(LOAN.borrowed, USDC_DECIMALS), payer.address, merchant.address];
  await send(payer.address, lending, encode(lendingMarketAbi, "borrow", borrow));
  const call = { to: lending, data: encode(lendingMarketAbi, "id") };
  return { lending, id: (await chain.request("eth_call", [call, "latest"])) as Hex };
}

/** Thirty days, as wallets choose it: longer than a local run, because what has expired is not shown. */
const PERMIT2_SECONDS = 30 * 86_400;
const ACTION_COUNT = 5;
const permit2Abi = parseAbi([
  "function approve(address token, address spender, uint160 amount, uint48 expiration)",
]);

/**
 * The payer's actions after it was funded: the solver may take all its dollars, the agent some WETH through Permit2 and
 * the loan's collateral, and its balances change. They are spread over the time from the head until now.
 */
export async function addPayerActivity(
  chain: LocalChain,
  { UsdCoin, WrappedEther }: LocalDeployment["local"],
  { lending, permit2 }: { readonly lending: Address; readonly permit2: Address },
): Promise<void> {
  const { payer, agent, solver, merchant } = chain.accounts;
  const send = createSender(chain);
  const { timestamp } = (await chain.request("eth_getBlockByNumber", ["latest", false])) as {
    timestamp: Hex;
  };
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const pauseSeconds = Math.floor((nowSeconds - Number(timestamp)) / (ACTION_COUNT + 1));
  let atSeconds = Number(timestamp);
  const act = async (to: Address, abi: Abi, name: string, args: readonly unknown[]) => {
    atSeconds += pauseSeconds;
    await chain.setNextBlockTimestamp(BigInt(atSeconds));
    await send(payer.address, to, encode(abi, name, args));
  };
  await act(UsdCoin, usdCoinAbi, "approve", [solver.address, maxUint256]);
  await act(WrappedEther, wrappedEtherAbi, "approve", [permit2, maxUint256]);
  const expiresAt = nowSeconds + PERMIT2_SECONDS;
  await act(permit2, permit2Abi, "approve", [WrappedEther, agent.address, parseEther("0.3"), expiresAt]);
  await act(lending, lendingMarketAbi, "setAuthorization", [agent.address, true]);
  await act(WrappedEther, wrappedEtherAbi, "transfer", [merchant.address, parseEther("0.25")]);
}
