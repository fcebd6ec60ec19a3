// A small market on a local chain: dollars, a wrapped coin, price feeds, a vault, and accounts that hold some of each.

import { deploy } from "@sextant/contracts/deploy/deploy";
import type { LocalDeployment } from "@sextant/contracts/deploy/deployment";
import { awaitReceipt } from "@sextant/contracts/deploy/transaction";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { vault4626Abi } from "@sextant/contracts/generated/vault4626";
import { wrappedEtherAbi } from "@sextant/contracts/generated/wrapped-ether";
import type { LocalAccountName } from "@sextant/local-chain/accounts";
import type { LocalChain } from "@sextant/local-chain/local-chain";
import {
  type Abi,
  type Address,
  encodeFunctionData,
  type Hex,
  maxUint256,
  numberToHex,
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

type Send = (from: Address, to: Address, data: Hex, value?: bigint) => Promise<void>;

function createSender({ request }: LocalChain): Send {
  return async (from, to, data, value = 0n) => {
    const call = { from, to, data, value: numberToHex(value) };
    const hash = (await request("eth_sendTransaction", [call])) as Hex;
    const { status } = await awaitReceipt(request, hash);
    if (status !== "0x1") throw new Error(`Could not prepare the market: ${hash} failed`);
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

/** What the payer does after it was funded: an allowance without a limit for an account, and a change of its balances. */
export async function addPayerActivity(
  chain: LocalChain,
  { UsdCoin, WrappedEther }: LocalDeployment["local"],
): Promise<void> {
  const { payer, solver, merchant } = chain.accounts;
  const send = createSender(chain);
  await send(payer.address, UsdCoin, encode(usdCoinAbi, "approve", [solver.address, maxUint256]));
  await send(
    payer.address,
    WrappedEther,
    encode(wrappedEtherAbi, "transfer", [merchant.address, parseEther("0.25")]),
  );
}
