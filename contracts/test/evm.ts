// A real EVM for contract tests: deploys, sends, simulates, and decodes reverts.

import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { JSON_RPC_CODES, JsonRpcError } from "@sextant/local-chain/rpc/json-rpc-error";
import {
  type Abi,
  type Address,
  type ContractConstructorArgs,
  type ContractErrorName,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeErrorResult,
  decodeEventLog,
  decodeFunctionResult,
  type EncodeDeployDataParameters,
  type EncodeFunctionDataParameters,
  encodeDeployData,
  encodeFunctionData,
  formatTransactionReceipt,
  getAddress,
  type Hex,
  hexToBigInt,
  numberToHex,
  type RpcTransactionReceipt,
  type TransactionReceipt,
} from "viem";
import { afterAll, expect } from "vitest";

/** A third of a block: enough for every call here, and still caught when something loops. */
const GAS_LIMIT = 10_000_000n;

/** The start of chain time in every test: far from now, so that nothing passes by the wall clock. */
export const GENESIS_TIMESTAMP = 2_000_000_000n;

export const EVM_CHAIN_ID = 31_337;

type View = "view" | "pure";
type Write = "nonpayable" | "payable";

export type Contract<TAbi extends Abi> = {
  readonly abi: TAbi;
  readonly address: Address;
  /** Calls a view at the head. */
  read<
    TName extends ContractFunctionName<TAbi, View>,
    const TArgs extends ContractFunctionArgs<TAbi, View, TName>,
  >(name: TName, args: TArgs, from?: Address): Promise<ContractFunctionReturnType<TAbi, View, TName, TArgs>>;
  /** Sends a transaction from a prefunded or impersonated account and mines it; throws Reverted. Gas is free. */
  send<
    TName extends ContractFunctionName<TAbi, Write>,
    const TArgs extends ContractFunctionArgs<TAbi, Write, TName>,
  >(from: Address, name: TName, args: TArgs, value?: bigint): Promise<TransactionReceipt>;
  /** Returns what `send` would return in the next block, without changing anything; throws Reverted. */
  call<
    TName extends ContractFunctionName<TAbi, Write>,
    const TArgs extends ContractFunctionArgs<TAbi, Write, TName>,
  >(
    from: Address,
    name: TName,
    args: TArgs,
    value?: bigint,
  ): Promise<ContractFunctionReturnType<TAbi, Write, TName, TArgs>>;
};

export type Evm = {
  readonly chain: LocalChain;
  deploy<const TAbi extends Abi>(
    abi: TAbi,
    bytecode: Hex,
    args: ContractConstructorArgs<TAbi>,
  ): Promise<Contract<TAbi>>;
  /** A contract that stands at an address already. */
  at<const TAbi extends Abi>(abi: TAbi, address: Address): Contract<TAbi>;
  /** The timestamp of the head. */
  now(): Promise<bigint>;
  /** Sends with raw calldata, for inputs that no encoder would produce; throws Reverted. */
  sendRaw(from: Address, to: Address | null, data: Hex, value?: bigint): Promise<TransactionReceipt>;
  /** Simulates raw calldata in the next block; throws Reverted. */
  callRaw(from: Address, to: Address, data: Hex, value?: bigint): Promise<Hex>;
  /** Runs a task, then restores state, blocks and time. */
  undone<T>(task: () => Promise<T>): Promise<T>;
};

/** `data` is the revert data of the contract. */
export class RevertedError extends Error {
  override readonly name = "Reverted";
  readonly data: Hex;

  constructor(data: Hex, options?: ErrorOptions) {
    super(`reverted with ${data}`, options);
    this.data = data;
  }
}

/** Starts a chain for the calling test file, with code in its genesis, and stops it when the file is done. */
export async function startEvm(code: Readonly<Record<Address, Hex>> = {}): Promise<Evm> {
  const chain = standStill(
    await startLocalChain({
      code,
      chainId: EVM_CHAIN_ID,
      genesisTimestamp: GENESIS_TIMESTAMP,
      // No test here reorganises, and a snapshot per block costs time.
      reorgDepthMax: 0,
    }),
  );
  await chain.increaseTime(0n);
  afterAll(() => chain.stop());
  const transport = openTransport(chain);
  const { sendRaw, callRaw } = transport;
  return {
    chain,
    sendRaw,
    callRaw,
    deploy: async (abi, bytecode, args) => {
      const data = encodeDeployData({ abi, bytecode, args } as EncodeDeployDataParameters);
      const { contractAddress } = await sendRaw(chain.accounts.owner.address, null, data);
      if (!contractAddress) throw new Error("The deployment left no contract address");
      return bind(transport, abi, getAddress(contractAddress));
    },
    at: (abi, address) => bind(transport, abi, address),
    now: () => headTimestamp(chain),
    undone: async (task) => {
      const snapshot = await chain.request("evm_snapshot");
      try {
        return await task();
      } finally {
        await chain.request("evm_revert", [snapshot]);
        await chain.increaseTime(0n);
      }
    },
  };
}

type Transport = Pick<Evm, "sendRaw" | "callRaw"> & {
  /** Sends the reads that name no sender. */
  readonly reader: Address;
  /** A call at the head. */
  readRaw(from: Address, to: Address, data: Hex): Promise<Hex>;
};

function openTransport(chain: LocalChain): Transport {
  const transaction = (from: Address, to: Address | null, data: Hex, value: bigint) => ({
    from,
    ...(to === null ? {} : { to }),
    data,
    value: numberToHex(value),
    gas: numberToHex(GAS_LIMIT),
    // Free, so that balances move by exactly what the contracts move.
    gasPrice: "0x0",
  });

  const sendRaw: Evm["sendRaw"] = async (from, to, data, value = 0n) => {
    const hash = await chain.request("eth_sendTransaction", [transaction(from, to, data, value)]);
    await chain.increaseTime(0n);
    const raw = (await chain.request("eth_getTransactionReceipt", [hash])) as RpcTransactionReceipt;
    const receipt = formatTransactionReceipt(raw);
    if (receipt.status === "success") return receipt;
    // A receipt has no reason, and a repeated eth_call would run at another time.
    const options = { disableStorage: true, disableMemory: true, disableStack: true };
    const trace = (await chain.request("debug_traceTransaction", [hash, options])) as { returnValue: string };
    throw new RevertedError(
      trace.returnValue.startsWith("0x") ? (trace.returnValue as Hex) : `0x${trace.returnValue}`,
    );
  };

  const call = async (tag: "latest" | "pending", from: Address, to: Address, data: Hex, value: bigint) => {
    try {
      return (await chain.request("eth_call", [transaction(from, to, data, value), tag])) as Hex;
    } catch (error) {
      if (error instanceof JsonRpcError && error.code === JSON_RPC_CODES.reverted) {
        throw new RevertedError(error.data ?? "0x", { cause: error });
      }
      throw error;
    }
  };

  return {
    reader: chain.accounts.owner.address,
    sendRaw,
    callRaw: (from, to, data, value = 0n) => call("pending", from, to, data, value),
    readRaw: (from, to, data) => call("latest", from, to, data, 0n),
  };
}

function bind<const TAbi extends Abi>(
  { reader, sendRaw, callRaw, readRaw }: Transport,
  abi: TAbi,
  address: Address,
): Contract<TAbi> {
  const encode = (functionName: string, args: unknown) =>
    encodeFunctionData({ abi, functionName, args } as EncodeFunctionDataParameters);
  const decode = (functionName: string, args: unknown, data: Hex) =>
    decodeFunctionResult({ abi: abi as Abi, functionName, args: args as readonly unknown[], data });
  return {
    abi,
    address,
    read: async (name, args, from = reader) =>
      decode(name, args, await readRaw(from, address, encode(name, args))) as never,
    send: (from, name, args, value) => sendRaw(from, address, encode(name, args), value),
    call: async (from, name, args, value) =>
      decode(name, args, await callRaw(from, address, encode(name, args), value)) as never,
  };
}

/**
 * The same chain with a clock that only moves on request: each block comes one second after its parent. A machine
 * that is slow for some seconds must not change what a test sees.
 */
function standStill(chain: LocalChain): LocalChain {
  const increaseTime = async (seconds: bigint) =>
    chain.setNextBlockTimestamp((await headTimestamp(chain)) + 1n + seconds);
  return {
    ...chain,
    increaseTime,
    mine: async (blocks = 1) => {
      await chain.mine(blocks);
      await increaseTime(0n);
    },
  };
}

async function headTimestamp(chain: LocalChain): Promise<bigint> {
  const head = (await chain.request("eth_getBlockByNumber", ["latest", false])) as { timestamp: Hex };
  return BigInt(head.timestamp);
}

export type EmittedEvent = { readonly eventName: string; readonly args: unknown };

/** The events of a receipt in order; a log that the ABI does not know fails. Concatenate ABIs for several contracts. */
export function decodeEvents(receipt: TransactionReceipt, abi: Abi): readonly EmittedEvent[] {
  return receipt.logs.map(({ topics, data }) => {
    const { eventName, args } = decodeEventLog({ abi, topics, data });
    if (eventName === undefined) throw new Error("An anonymous event has no name");
    return { eventName, args };
  });
}

/** Expects a custom error of the ABI, or the language's own "Error" (a text) or "Panic" (a code), with all its arguments. */
export async function expectRevert<const TAbi extends Abi>(
  promise: Promise<unknown>,
  abi: TAbi,
  errorName: ContractErrorName<TAbi> | "Error" | "Panic",
  args: readonly unknown[] = [],
): Promise<void> {
  const data = await revertData(promise);
  if (data === "0x") throw new Error(`Expected ${errorName}, but the revert gives no reason`);
  const decoded = decodeErrorResult({ abi: abi as Abi, data });
  expect({ errorName: decoded.errorName, args: decoded.args ?? [] }).toEqual({ errorName, args });
}

/** Expects a revert without a reason: what the compiler's own checks of the calldata give. */
export async function expectBareRevert(promise: Promise<unknown>): Promise<void> {
  expect(await revertData(promise)).toBe("0x");
}

async function revertData(promise: Promise<unknown>): Promise<Hex> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome === undefined) throw new Error("Expected a revert, but it succeeded");
  if (!(outcome instanceof RevertedError)) throw outcome;
  return outcome.data;
}

export type RevertReason = { readonly errorName: string; readonly args: readonly unknown[] };

/** Why a call reverted, null when it did not: for comparison with a model. */
export async function revertReasonOf(outcome: Promise<unknown>, abi: Abi): Promise<RevertReason | null> {
  try {
    await outcome;
    return null;
  } catch (error) {
    if (!(error instanceof RevertedError)) throw error;
    const { errorName, args } = decodeErrorResult({ abi, data: error.data });
    return { errorName, args: args ?? [] };
  }
}

/** Native coin of an address at the head. */
export async function nativeBalance({ chain }: Evm, address: Address): Promise<bigint> {
  return hexToBigInt((await chain.request("eth_getBalance", [address, "latest"])) as Hex);
}
