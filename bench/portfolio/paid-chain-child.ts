// The chain on which payments are made, as a process of its own: it mines at once, and every payer has money.

import { LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { awaitReceipt } from "@sextant/contracts/deploy/transaction";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { localAccount } from "@sextant/local-chain/accounts";
import { startLocalChain } from "@sextant/local-chain/local-chain";
import { deployFundedMarket } from "@sextant/simulator/fund-market";
import { encodeFunctionData, type Hex } from "viem";
import { sendToParent } from "../harness/progress.ts";

export type PaymentChainTask = { readonly payers: number };

export type PaymentChainReady = {
  readonly url: string;
  readonly chainId: number;
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly facilitatorKey: Hex;
  readonly payerKeys: readonly Hex[];
  /** The wallet whose snapshot is sold. */
  readonly wallet: Hex;
};

const CHAIN_ID = 31_337;
/** The first account that plays no other part. */
const PAYER_INDEX = 8;
// A thousand dollars: no payer runs out of cents.
const PAYER_BALANCE = 1_000_000_000n;

const { payers } = JSON.parse(process.argv[2] ?? "") as PaymentChainTask;
const chain = await startLocalChain({ chainId: CHAIN_ID, code: LOCAL_GENESIS_CODE, reorgDepthMax: 0 });
const { request, accounts } = chain;
const { local } = await deployFundedMarket(chain, "bench");
const paying = Array.from({ length: payers }, (_, i) => localAccount(PAYER_INDEX + i));
for (const { address } of paying) {
  const data = encodeFunctionData({ abi: usdCoinAbi, functionName: "mint", args: [address, PAYER_BALANCE] });
  const call = { from: accounts.owner.address, to: local.UsdCoin, data };
  await awaitReceipt(request, (await request("eth_sendTransaction", [call])) as Hex);
}
const ready: PaymentChainReady = {
  url: chain.rpcUrl,
  chainId: CHAIN_ID,
  asset: local.UsdCoin.toLowerCase() as Hex,
  payTo: accounts.merchant.address.toLowerCase() as Hex,
  facilitatorKey: accounts.facilitator.privateKey,
  payerKeys: paying.map(({ privateKey }) => privateKey),
  wallet: accounts.payer.address.toLowerCase() as Hex,
};
sendToParent(ready);

process.stdin.on("end", () => chain.stop());
process.stdin.resume();
