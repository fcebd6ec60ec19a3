// A chain with settled payments in it, as a process of its own, behind a node as far away as a good one is.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { transferTypedData } from "@sextant/client/payments/token-typed-data";
import { deploy, LOCAL_GENESIS_CODE, MULTICALL3_ADDRESS } from "@sextant/contracts/deploy/deploy";
import { awaitReceipt } from "@sextant/contracts/deploy/transaction";
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { localAccount } from "@sextant/local-chain/accounts";
import { startLocalChain } from "@sextant/local-chain/local-chain";
import { encodeFunctionData, type Hex, numberToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { sendToParent } from "../harness/progress.ts";

export type SettledChainTask = {
  readonly blocks: number;
  readonly paymentsPerBlock: number;
  readonly delayMs: number;
};

export type SettledChain = {
  readonly url: string;
  readonly chainId: number;
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly price: string;
  readonly facilitatorKey: Hex;
  readonly validBefore: number;
};

const CHAIN_ID = 31_337;
const PAYER_INDEX = 8;
const PRICE = 10_000n;
// Signatures are good for a day here: how long the benchmark takes must not matter.
const VALID_SECONDS = 86_400;

const task = JSON.parse(process.argv[2] ?? "") as SettledChainTask;
const chain = await startLocalChain({ chainId: CHAIN_ID, code: LOCAL_GENESIS_CODE, reorgDepthMax: 0 });
const { request, accounts } = chain;
const { local } = await deploy({ request, owner: accounts.owner });
const asset = local.UsdCoin.toLowerCase() as Hex;
const payTo = accounts.merchant.address.toLowerCase() as Hex;
const payer = privateKeyToAccount(localAccount(PAYER_INDEX).privateKey);

async function send(from: Hex, to: Hex, data: Hex): Promise<void> {
  const call = { from, to, data, gas: numberToHex(29_000_000n) };
  const receipt = await awaitReceipt(request, (await request("eth_sendTransaction", [call])) as Hex);
  if (receipt.status !== "0x1") throw new Error("a transaction of the benchmark was reverted");
}

const total = PRICE * BigInt(task.blocks * task.paymentsPerBlock);
const mint = { abi: usdCoinAbi, functionName: "mint", args: [payer.address, total] } as const;
await send(accounts.owner.address, asset, encodeFunctionData(mint));

const validBefore = Math.floor(Date.now() / 1_000) + VALID_SECONDS;

async function signedTransfer(nonce: Hex) {
  const message = {
    from: payer.address,
    to: payTo,
    value: PRICE,
    validAfter: 0n,
    validBefore: BigInt(validBefore),
    nonce,
  };
  const token = { name: "USD Coin", version: "2", chainId: CHAIN_ID, address: asset };
  const signature = await payer.signTypedData(transferTypedData(token, message));
  const args = [message.from, message.to, PRICE, 0n, BigInt(validBefore), nonce, signature] as const;
  return {
    target: asset,
    allowFailure: false,
    callData: encodeFunctionData({ abi: usdCoinAbi, functionName: "transferWithAuthorization", args }),
  };
}

for (let block = 0; block < task.blocks; block += 1) {
  const nonces = Array.from({ length: task.paymentsPerBlock }, (_, i) =>
    numberToHex(1 + block * task.paymentsPerBlock + i, { size: 32 }),
  );
  const calls = await Promise.all(nonces.map(signedTransfer));
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [calls] });
  await send(accounts.guardian.address, MULTICALL3_ADDRESS, data);
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const distant = createServer(async (incoming, response) => {
  const body = await bodyOf(incoming);
  await sleep(task.delayMs);
  const headers = { "content-type": "application/json" };
  const upstream = await fetch(chain.rpcUrl, { method: "POST", headers, body });
  response.writeHead(200, headers).end(await upstream.text());
});
distant.listen(0, "127.0.0.1", () => {
  const ready: SettledChain = {
    url: `http://127.0.0.1:${(distant.address() as AddressInfo).port}`,
    chainId: CHAIN_ID,
    asset,
    payTo,
    price: PRICE.toString(),
    facilitatorKey: accounts.facilitator.privateKey,
    validBefore,
  };
  sendToParent(ready);
});

process.stdin.on("end", async () => {
  distant.closeAllConnections();
  distant.close();
  await chain.stop();
});
process.stdin.resume();
