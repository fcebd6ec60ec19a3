// A local chain on which contracts forward calls: an account, its session key, bundles, a multicall, and a hidden call.

import { deploy, LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import type { TransactionCall } from "@sextant/contracts/deploy/transaction";
import { policyAccountAbi } from "@sextant/contracts/generated/policy-account";
import { ENTRY_POINT } from "@sextant/contracts/test/account-world";
import { actorBytecode, puppetAbi } from "@sextant/contracts/test/actor-contracts";
import { localAccount } from "@sextant/local-chain/accounts";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { actThroughMulticall } from "@sextant/simulator/transactions/multicall";
import { policiesOfAccount, setTargetAllowed } from "@sextant/simulator/transactions/policies";
import {
  actThroughAccount,
  executeBySessionKey,
  openPolicyAccount,
  setSessionKey,
} from "@sextant/simulator/transactions/policy-accounts";
import { type Actor, openWorld, type World } from "@sextant/simulator/world";
import { type Address, encodeAbiParameters, encodeFunctionData, type Hex, keccak256, zeroHash } from "viem";
import { entryPoint09Abi } from "viem/account-abstraction";
import { sign } from "viem/accounts";
import type { Deployment } from "../../src/protocol/deployment.ts";
import { toDeployment } from "../support/index/test-index.ts";

export type ContractCallerStage = {
  readonly chain: LocalChain;
  readonly world: World;
  readonly deployment: Deployment;
  /** The routes of a call; each forwards one call per transaction. */
  readonly routes: Readonly<Record<CallRoute, Actor>>;
  /** Makes the contract send one call in a transaction whose input shows another. */
  showing(shown: Hex): Actor;
  /** Several calls of the policy account in one bundle. */
  bundle(calls: readonly TransactionCall[]): ReturnType<Actor["send"]>;
  head(): Promise<{ readonly number: number; readonly hash: string }>;
};

export type CallRoute = "execute" | "executeWithSessionKey" | "handleOps" | "multicall" | "hidden";

const SIGNER = 3;
const SESSION_KEY = 4;
const DEADLINE = 4_000_000_000n;
/** More than any call here needs; an estimate misses the calls that fail inside a bundle. */
const GAS = 3_000_000n;

export async function openContractCallerStage(): Promise<ContractCallerStage> {
  // No test undoes its blocks, and a snapshot after each of them costs time.
  const chain = await startLocalChain({ chainId: 31_337, code: LOCAL_GENESIS_CODE, reorgDepthMax: 0 });
  const { request } = chain;
  const local = await deploy({ request, owner: chain.accounts.owner });
  const world = await openWorld({ request, deployment: local, seed: 7 });
  const signer = world.wallet(SIGNER);
  const key = world.wallet(SESSION_KEY);
  const relayer = world.actors.owner;

  const account = await openPolicyAccount(world, signer);
  await setSessionKey(signer, account, key.address, DEADLINE, true);
  const { AgentRegistry, IntentBook, AttestationRegistry } = world.contracts;
  for (const target of [AgentRegistry, IntentBook, AttestationRegistry]) {
    await setTargetAllowed(policiesOfAccount(signer, account), target, true);
  }
  const entryPoint = await create(relayer, actorBytecode("SmallEntryPoint"));
  await chain.setCode(ENTRY_POINT, (await request("eth_getCode", [entryPoint, "latest"])) as Hex);
  const puppet = await create(relayer, actorBytecode("Puppet"));

  let nonce = 0n;
  const operations = async (calls: readonly TransactionCall[]): Promise<TransactionCall> => {
    const ops = await Promise.all(calls.map((call) => operation(account, call, nonce++, world.chainId)));
    const args = [ops, relayer.address] as const;
    const data = encodeFunctionData({ abi: entryPoint09Abi, functionName: "handleOps", args });
    return { to: ENTRY_POINT, data, gas: GAS };
  };
  const bundle = async (calls: readonly TransactionCall[]) => relayer.send(await operations(calls));

  const prepare = ({ to = puppet, data = "0x" }: TransactionCall) => {
    const args = [to, 0n, data, true] as const;
    return relayer.send({
      to: puppet,
      data: encodeFunctionData({ abi: puppetAbi, functionName: "rehearse", args }),
    });
  };

  return {
    chain,
    world,
    deployment: toDeployment(local),
    bundle,
    showing: (shown) => ({
      address: puppet,
      send: async (call) => {
        await prepare(call);
        const args = [call.to ?? puppet, 0n, shown] as const;
        const data = encodeFunctionData({ abi: policyAccountAbi, functionName: "execute", args });
        return relayer.send({ to: puppet, data, gas: GAS });
      },
    }),
    routes: {
      execute: actThroughAccount(signer, account),
      executeWithSessionKey: actBySessionKey(world, relayer, { account, key, nextNonce: () => nonce++ }),
      handleOps: { address: account, send: (call) => bundle([call]) },
      multicall: actThroughMulticall(world, relayer),
      hidden: {
        address: puppet,
        send: async (call) => {
          await prepare(call);
          return relayer.send({ to: puppet, gas: GAS });
        },
      },
    },
    head: () => readHead(chain),
  };
}

type Session = Pick<Parameters<typeof executeBySessionKey>[2], "account" | "key"> & { nextNonce(): bigint };

async function readHead({ request }: LocalChain): ReturnType<ContractCallerStage["head"]> {
  const head = (await request("eth_getBlockByNumber", ["latest", false])) as { number: string; hash: string };
  return { number: Number(head.number), hash: head.hash };
}

/** Acts as the account, by calls that its session key signs and the relayer sends. */
function actBySessionKey(world: World, relayer: Actor, { account, key, nextNonce }: Session): Actor {
  return {
    address: account,
    send: async (given) => {
      let receipt: Awaited<ReturnType<Actor["send"]>> | undefined;
      const sending: Actor = {
        address: relayer.address,
        send: async (outer) => {
          receipt = await relayer.send(outer);
          return receipt;
        },
      };
      const call = given as TransactionCall & { to: Address };
      await executeBySessionKey(world, sending, {
        account,
        key,
        call,
        deadline: DEADLINE,
        nonce: nextNonce(),
      });
      if (!receipt) throw new Error("nothing was sent");
      return receipt;
    },
  };
}

async function create(sender: Actor, data: Hex): Promise<Address> {
  const { contractAddress } = await sender.send({ data, gas: GAS });
  if (contractAddress === null) throw new Error("no contract was created");
  return contractAddress;
}

/** A user operation that makes the account execute a call, signed for the entry point of the stage. */
async function operation(account: Address, call: TransactionCall, nonce: bigint, chainId: number) {
  const args = [call.to ?? account, call.value ?? 0n, call.data ?? "0x"] as const;
  const callData = encodeFunctionData({ abi: policyAccountAbi, functionName: "execute", args });
  const types = ["address", "uint256", "bytes32", "address", "uint256"].map((type) => ({ type }));
  const hash = keccak256(
    encodeAbiParameters(types, [account, nonce, keccak256(callData), ENTRY_POINT, BigInt(chainId)]),
  );
  return {
    sender: account,
    nonce,
    initCode: "0x",
    callData,
    accountGasLimits: zeroHash,
    preVerificationGas: 0n,
    gasFees: zeroHash,
    paymasterAndData: "0x",
    signature: await sign({ hash, privateKey: localAccount(SIGNER).privateKey, to: "hex" }),
  } as const;
}
