// A chain that answers from a record: for tests of what reads contracts nobody can reach from here.
import { readFileSync } from "node:fs";
import { type Abi, encodeFunctionData, encodeFunctionResult, parseAbi } from "viem";
import { Fault } from "../../kit/fault.ts";
import type { Hex } from "../../kit/hex.ts";
import type { ChainAt, ContractRead } from "../ports.ts";

/** Whole numbers are written as text, because JSON would round them. */
export type RecordedCall = {
  readonly to: Hex;
  readonly function: string;
  readonly args: readonly unknown[];
  readonly result: unknown;
};

export type ChainRecord = {
  readonly chainId: number;
  readonly name: string;
  readonly block: { readonly number: number; readonly hash: Hex; readonly timestamp: number };
  readonly calls: readonly RecordedCall[];
};

export type RecordedChain = {
  readonly at: ChainAt;
  /** What was asked, one list per round trip. */
  readonly roundTrips: readonly (readonly ContractRead[])[];
};

/** Reads a record from the fixtures beside this file. */
export function readRecord(name: string): ChainRecord {
  const text = readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), "utf8");
  return JSON.parse(text) as ChainRecord;
}

/** What the record does not know is answered with null, as a revert is. */
export function recordedChain(record: ChainRecord): RecordedChain {
  const answers = new Map(record.calls.map((call) => encode(call)));
  const roundTrips: (readonly ContractRead[])[] = [];
  const at: ChainAt = {
    ...unreadable(record),
    read: async (calls, signal) => {
      signal.throwIfAborted();
      roundTrips.push(calls);
      return calls.map(({ to, data }) => answers.get(`${to}:${data}`) ?? null);
    },
  };
  return { at, roundTrips };
}

/** The same chain behind a node that does not answer. */
export function failingChain(record: ChainRecord): ChainAt {
  return unreadable(record);
}

function encode(call: RecordedCall): [string, Hex] {
  const abi: Abi = parseAbi([`function ${call.function}`] as readonly string[]);
  const args = call.args.map(exact);
  const data = encodeFunctionData({ abi, args });
  return [`${call.to}:${data}`, encodeFunctionResult({ abi, result: exact(call.result) })];
}

function exact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(exact);
  return typeof value === "string" && /^-?[0-9]+$/.test(value) ? BigInt(value) : value;
}

function unreadable({ chainId, name, block }: ChainRecord): ChainAt {
  const fail = async (): Promise<never> => {
    throw new Fault("NODE_UNAVAILABLE", "No configured node gave a usable answer.");
  };
  return {
    chain: {
      slug: name.toLowerCase(),
      chainId,
      name,
      native: { symbol: "ETH", name: "Ether", decimals: 18 },
      blockTimeMs: 2_000,
      tokens: new Map(),
      stablecoins: new Set(),
    },
    block,
    read: fail,
    readLent: fail,
    nativeBalance: fail,
    transfers: fail,
    timestamps: fail,
  };
}
