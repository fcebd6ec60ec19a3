// The chain that payments are made on: a dollar, people who own some, and a record of who has paid with which nonce.

import { deploy, LOCAL_GENESIS_CODE, MULTICALL3_ADDRESS } from "@sextant/contracts/deploy/deploy";
import { awaitReceipt } from "@sextant/contracts/deploy/transaction";
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { type LocalAccount, localAccount } from "@sextant/local-chain/accounts";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import type { PaymentPayload } from "@x402/core/types";
import {
  type Address,
  createPublicClient,
  encodeFunctionData,
  type Hex,
  http,
  numberToHex,
  type PrivateKeyAccount,
  type PublicClient,
  parseEventLogs,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { encodeSignedTransfer } from "../../support/payments/transfer-calldata.ts";

type ObservedTransfer = {
  readonly nonce: Hex;
  readonly payer: Hex;
  readonly transaction: Hex;
  readonly value: bigint;
};

export type PaymentChain = {
  readonly chain: LocalChain;
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly payers: readonly PrivateKeyAccount[];
  /** Keys of accounts that can pay gas. */
  fundKeys(count: number): Promise<readonly Hex[]>;
  /** Transactions of those accounts, and how many of them reverted. */
  countSent(): Promise<{ readonly sent: number; readonly reverted: number }>;
  /** Every transfer to us, with the authorization it used. */
  transfers(): Promise<readonly ObservedTransfer[]>;
  /**
   * Carries a payment out in someone else's transaction, which pays more for its position in the block than any of
   * ours.
   */
  frontRun(payload: PaymentPayload): Promise<void>;
  /** Our balance: transfers are all we ever got. */
  balance(): Promise<bigint>;
  /** All that is waiting is mined, every signature so far expires, and that is final. */
  expireAll(): Promise<void>;
};

// Slow enough that processes die between broadcast and block, fast enough to wait for.
const BLOCK_MS = 300;
const DOLLARS = 1_000_000n;
// A mint takes about 50,000 gas and a block holds 30 million.
const MINTS_PER_TRANSACTION = 250;
const PAYER_INDEX = 1_000;
const PAYEE_INDEX = 900;
const KEY_INDEX = 910;
const GAS_WEI = 10n ** 18n;
// Longer than any signature here is good for.
const EXPIRE_SECONDS = 300n;
const FINAL_BLOCKS = 40;

export async function startPaymentChain(payersCount: number): Promise<PaymentChain> {
  const chain = await startLocalChain({ chainId: 31_337, code: LOCAL_GENESIS_CODE });
  const { local } = await deploy({ request: chain.request, owner: chain.accounts.owner });
  const asset = local.UsdCoin.toLowerCase() as Hex;
  const payTo = localAccount(PAYEE_INDEX).address.toLowerCase() as Hex;
  const payers = Array.from({ length: payersCount }, (_, i) =>
    privateKeyToAccount(localAccount(PAYER_INDEX + i).privateKey),
  );
  await fund(chain, asset, payers);
  await chain.request("evm_setAutomine", [false]);
  await chain.request("evm_setIntervalMining", [BLOCK_MS]);
  const node = createPublicClient({ transport: http(chain.rpcUrl, { retryCount: 0 }) });
  const keys: LocalAccount[] = [];
  return {
    async fundKeys(count) {
      for (let i = 0; i < count; i += 1) {
        const account = localAccount(KEY_INDEX + i);
        await chain.request("hardhat_setBalance", [account.address, numberToHex(GAS_WEI)]);
        keys.push(account);
      }
      return keys.map(({ privateKey }) => privateKey);
    },
    countSent: () => countSent(node, new Set(keys.map(({ address }) => address.toLowerCase()))),
    chain,
    asset,
    payTo,
    payers,
    async transfers() {
      const logs = await node.getLogs({ address: asset, fromBlock: 0n });
      const events = parseEventLogs({ abi: usdCoinAbi, logs });
      return events.flatMap((event, i) => {
        if (event.eventName !== "Transfer" || event.args.to.toLowerCase() !== payTo) return [];
        const used = events[i - 1];
        // Only the facilitator pays us, and it only carries out what was signed.
        if (used?.eventName !== "AuthorizationUsed" || used.transactionHash !== event.transactionHash) {
          throw new Error(`the transfer ${event.transactionHash} used no authorization`);
        }
        const payer = event.args.from.toLowerCase() as Hex;
        return [
          { nonce: used.args.nonce, payer, transaction: event.transactionHash, value: event.args.value },
        ];
      });
    },
    async frontRun(payload) {
      const call = { from: chain.accounts.guardian.address, to: asset, data: encodeSignedTransfer(payload) };
      await chain.request("eth_sendTransaction", [{ ...call, ...FRONT_RUN_GAS }]);
    },
    balance: () =>
      node.readContract({ address: asset, abi: usdCoinAbi, functionName: "balanceOf", args: [payTo] }),
    async expireAll() {
      await chain.mine(2);
      await chain.increaseTime(EXPIRE_SECONDS);
      await chain.mine(FINAL_BLOCKS);
    },
  };
}

async function countSent(node: PublicClient, senders: ReadonlySet<string>) {
  const head = await node.getBlockNumber();
  let [sent, reverted] = [0, 0];
  for (let blockNumber = 1n; blockNumber <= head; blockNumber += 1n) {
    const { transactions } = await node.getBlock({ blockNumber, includeTransactions: true });
    for (const { hash, from } of transactions) {
      if (!senders.has(from.toLowerCase())) continue;
      sent += 1;
      if ((await node.getTransactionReceipt({ hash })).status === "reverted") reverted += 1;
    }
  }
  return { sent, reverted };
}

const FRONT_RUN_GAS = {
  gas: "0x493e0",
  maxFeePerGas: "0x174876e800",
  maxPriorityFeePerGas: "0x174876e800",
} as const;

async function fund(chain: LocalChain, asset: Hex, payers: readonly PrivateKeyAccount[]): Promise<void> {
  const from = chain.accounts.owner.address;
  const send = async (to: Address, data: Hex) => {
    const call = { from, to, data, gas: numberToHex(29_000_000n) };
    const hash = (await chain.request("eth_sendTransaction", [call])) as Hex;
    if ((await awaitReceipt(chain.request, hash)).status !== "0x1")
      throw new Error("the payers were not funded");
  };
  const allow = { abi: usdCoinAbi, functionName: "setMinter", args: [MULTICALL3_ADDRESS, true] } as const;
  await send(asset, encodeFunctionData(allow));
  for (let start = 0; start < payers.length; start += MINTS_PER_TRANSACTION) {
    const calls = payers.slice(start, start + MINTS_PER_TRANSACTION).map(({ address }) => ({
      target: asset,
      allowFailure: false,
      callData: encodeFunctionData({ abi: usdCoinAbi, functionName: "mint", args: [address, DOLLARS] }),
    }));
    await send(
      MULTICALL3_ADDRESS,
      encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [calls] }),
    );
  }
}
