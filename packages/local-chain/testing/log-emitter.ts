// A nine-byte contract for tests: each call emits one log whose only topic is the calldata's first word.

import { type Address, type Hex, numberToHex, type RpcBlock, type RpcLog } from "viem";
import { onTestFinished } from "vitest";
import { type LocalChain, type LocalChainOptions, startLocalChain } from "../local-chain.ts";

/** Bound for machines under load. */
export const PATIENT_POLL = { timeout: 10_000, interval: 5 };

/** A chain with the emitter in its genesis, stopped when the test ends. */
export async function startTestChain(options: Partial<LocalChainOptions> = {}): Promise<LocalChain> {
  const chain = await startLocalChain({ chainId: 31337, code: { [EMITTER]: EMITTER_CODE }, ...options });
  onTestFinished(() => chain.stop());
  return chain;
}

export const EMITTER: Address = "0x00000000000000000000000000000000000e317e";

/** calldataload(0), log1 with no data, stop. */
export const EMITTER_CODE: Hex = "0x60003560006000a100";

export function encodeTopic(value: number): Hex {
  return numberToHex(value, { size: 32 });
}

/** Sends from an account that the chain signs for; returns the transaction hash. */
export async function emitLog(
  chain: LocalChain,
  value: number,
  from: Address = chain.accounts.agent.address,
): Promise<Hex> {
  const transaction = { from, to: EMITTER, data: encodeTopic(value), gas: "0xc350" };
  return (await chain.request("eth_sendTransaction", [transaction])) as Hex;
}

/** The value of every log on the chain, in order. */
export async function readEmittedValues(chain: LocalChain): Promise<number[]> {
  return (await readAllLogs(chain)).map((log) => Number(log.topics[0]));
}

export async function readAllLogs(chain: LocalChain): Promise<RpcLog[]> {
  return (await chain.request("eth_getLogs", [{ fromBlock: "0x0", toBlock: "latest" }])) as RpcLog[];
}

export async function readRpcBlock(chain: LocalChain, block: bigint | string): Promise<RpcBlock> {
  const at = typeof block === "bigint" ? numberToHex(block) : block;
  return (await chain.request("eth_getBlockByNumber", [at, false])) as RpcBlock;
}

export async function readHeadNumber(chain: LocalChain): Promise<number> {
  return Number(await chain.request("eth_blockNumber"));
}
