// The faults do what they claim: a run whose node is not behind, or whose fees are fair, would prove nothing.

import { transferTypedData } from "@sextant/client/payments/token-typed-data";
import { deploy, LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { localAccount } from "@sextant/local-chain/accounts";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { encodeFunctionData, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSubmittedPayments } from "../chains/submitted-payments.ts";
import { createExcessiveFees } from "./excessive-fees.ts";
import { createFrontRunner } from "./front-runner.ts";
import { createLaggingFault } from "./lagging-fault.ts";
import { createLogOmission } from "./log-omission.ts";
import { type NodeFault, withFaults } from "./node-fault.ts";

const PAYER = localAccount(23);
const PAYEE = localAccount(21).address;
const SENDER = localAccount(20);
const OUTSIDER = localAccount(31);
const NONCE: Hex = `0x${"07".repeat(32)}`;
const FINALITY = 4;

let chain: LocalChain;
let token: Hex;
beforeAll(async () => {
  chain = await startLocalChain({ chainId: 31_337, code: LOCAL_GENESIS_CODE, finalityDepth: FINALITY });
  const { local } = await deploy({ request: chain.request, owner: chain.accounts.owner });
  token = local.UsdCoin.toLowerCase() as Hex;
  await mint(1_000n);
  await chain.mine(10);
});
afterAll(() => chain.stop());

const send = async (from: Hex, data: Hex) =>
  (await chain.request("eth_sendTransaction", [{ from, to: token, data }])) as Hex;

const mint = (amount: bigint) =>
  send(
    chain.accounts.owner.address,
    encodeFunctionData({ abi: usdCoinAbi, functionName: "mint", args: [PAYER.address, amount] }),
  );

const balanceCall = (block: unknown) => [
  {
    to: token,
    data: encodeFunctionData({ abi: usdCoinAbi, functionName: "balanceOf", args: [PAYER.address] }),
  },
  block,
];

/** The node with one fault, and how often the fault has shown. */
function nodeWith<T extends { readonly fault: NodeFault }>(create: (onFault: () => void) => T) {
  const shown = { times: 0 };
  const made = create(() => {
    shown.times += 1;
  });
  return { ...made, shown, request: withFaults(chain.request, [made.fault]) };
}

describe("a node that is behind", () => {
  it("shows head, state, receipts and logs of the same older block", async () => {
    const { request, behind, shown } = nodeWith((onFault) =>
      createLaggingFault({ finalityDepth: FINALITY, onFault }),
    );
    const before = await request("eth_call", balanceCall("latest"));
    const hash = await mint(5n);
    const head = (await chain.request("eth_getBlockByNumber", ["latest", false])) as {
      number: Hex;
      hash: Hex;
    };
    behind(1);
    const seen = Number(head.number) - 1;
    expect(Number(await request("eth_blockNumber", []))).toBe(seen);
    expect(await request("eth_getBlockByNumber", ["latest", false])).toMatchObject({
      number: `0x${seen.toString(16)}`,
    });
    expect(await request("eth_getBlockByNumber", ["finalized", false])).toMatchObject({
      number: `0x${(seen - FINALITY).toString(16)}`,
    });
    expect(await request("eth_getBlockByNumber", [head.number, false])).toBeNull();
    expect(await request("eth_getBlockByHash", [head.hash, false])).toBeNull();
    expect(await request("eth_getTransactionReceipt", [hash])).toBeNull();
    expect(await request("eth_getTransactionByHash", [hash])).toMatchObject({ blockNumber: null });
    expect(await request("eth_call", balanceCall("latest"))).toBe(before);
    await expect(request("eth_call", balanceCall({ blockHash: head.hash }))).rejects.toThrow(
      "header not found",
    );
    expect(await request("eth_getLogs", [{ fromBlock: head.number, toBlock: head.number }])).toEqual([]);
    await expect(request("eth_getLogs", [{ blockHash: head.hash }])).rejects.toThrow("header not found");
    expect(shown.times).toBeGreaterThan(0);
    behind(0);
    expect(await request("eth_getTransactionReceipt", [hash])).toMatchObject({ status: "0x1" });
    expect(await request("eth_call", balanceCall("latest"))).not.toBe(before);
    expect(await request("eth_getLogs", [{ blockHash: head.hash }])).toHaveLength(1);
  });
});

describe("a node that omits logs", () => {
  it("leaves out the same ones by range and by hash", async () => {
    const { request, omit, shown } = nodeWith((onFault) => createLogOmission({ onFault }));
    // One log in twenty is omitted: among so many there are always some.
    for (let mints = 0; mints < 400; mints += 1) await mint(1n);
    const range = [{ fromBlock: "0x0", toBlock: "latest", address: token }];
    type Log = { blockHash: Hex };
    const all = (await request("eth_getLogs", range)) as Log[];
    omit(true);
    const remaining = (await request("eth_getLogs", range)) as Log[];
    expect(remaining.length).toBeGreaterThan(0);
    expect(remaining.length).toBeLessThan(all.length);
    expect(await request("eth_getLogs", range)).toEqual(remaining);
    const blocks = new Set(remaining.map(({ blockHash }) => blockHash));
    const omitted = all.find(({ blockHash }) => !blocks.has(blockHash));
    expect(await request("eth_getLogs", [{ blockHash: omitted?.blockHash, address: token }])).toEqual([]);
    expect(shown.times).toBe(3);
  });
});

describe("a node that names absurd fees", () => {
  it("suggests excessive fees while enabled, and passes the rest on", async () => {
    const { request, name, shown } = nodeWith((onFault) => createExcessiveFees({ onFault }));
    const honest = await request("eth_maxPriorityFeePerGas", []);
    name(true);
    expect(BigInt(String(await request("eth_maxPriorityFeePerGas", [])))).toBeGreaterThan(10n ** 14n);
    expect(BigInt(String(await request("eth_gasPrice", [])))).toBeGreaterThan(10n ** 14n);
    expect(await request("eth_chainId", [])).toBe("0x7a69");
    expect(shown.times).toBe(2);
    name(false);
    expect(await request("eth_maxPriorityFeePerGas", [])).toBe(honest);
  });
});

describe("a front-runner", () => {
  it("carries out the payment first, so that the sender's own transaction reverts", async () => {
    const carried = createSubmittedPayments(token);
    const { request, run, shown, fault } = nodeWith((onFault) =>
      createFrontRunner({
        chain: chain.request,
        account: OUTSIDER.address,
        asset: token,
        random: () => 0.5,
        carried,
        onFault,
      }),
    );
    const pay = async (nonce: Hex) => {
      const raw = await signedTransfer(nonce);
      const node = withFaults(chain.request, [fault, carried.watch]);
      const hash = (await node("eth_sendRawTransaction", [raw])) as Hex;
      expect(carried.nonceIn(hash)).toBe(nonce);
      return ((await request("eth_getTransactionReceipt", [hash])) as { status: Hex }).status;
    };
    expect(await pay(NONCE)).toBe("0x1");
    run(1);
    expect(await pay(`0x${"08".repeat(32)}`)).toBe("0x0");
    expect(shown.times).toBe(1);
    const balance = await chain.request("eth_call", [
      {
        to: token,
        data: encodeFunctionData({ abi: usdCoinAbi, functionName: "balanceOf", args: [PAYEE] }),
      },
      "latest",
    ]);
    expect(BigInt(String(balance))).toBe(6n);
  });
});

/** The facilitator's transaction for a payment of three units. */
async function signedTransfer(nonce: Hex): Promise<Hex> {
  const validBefore = 2n ** 40n;
  const authorization = { from: PAYER.address, to: PAYEE, value: 3n, validAfter: 0n, validBefore, nonce };
  const signed = { name: "USD Coin", version: "2", chainId: 31_337, address: token };
  const signature = await privateKeyToAccount(PAYER.privateKey).signTypedData(
    transferTypedData(signed, authorization),
  );
  const data = encodeFunctionData({
    abi: usdCoinAbi,
    functionName: "transferWithAuthorization",
    args: [PAYER.address, PAYEE, 3n, 0n, validBefore, nonce, signature],
  });
  const count = await chain.request("eth_getTransactionCount", [SENDER.address, "pending"]);
  return privateKeyToAccount(SENDER.privateKey).signTransaction({
    type: "eip1559",
    chainId: 31_337,
    nonce: Number(count),
    to: token,
    data,
    gas: 300_000n,
    maxFeePerGas: 10n ** 9n,
    maxPriorityFeePerGas: 10n ** 9n,
  });
}
