// A chain that responds from a record, with Multicall3: for tests of what reads contracts that cannot be reached from here.
import { readFileSync } from "node:fs";
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import { type Abi, decodeFunctionData, encodeFunctionData, encodeFunctionResult, parseAbi } from "viem";
import { MULTICALL3 } from "../../../src/chain/aggregate3.ts";
import type { TopicFilter } from "../../../src/chain/logs/get-logs.ts";
import type { NodeLog } from "../../../src/chain/logs/log.ts";
import { Fault } from "../../../src/lib/fault.ts";
import type { Hex } from "../../../src/lib/hex.ts";
import type {
  ChainConfig,
  ContractRead,
  Holding,
  ListedToken,
  PinnedBlock,
  PinnedChain,
  TransferLog,
} from "../../../src/portfolio/types.ts";
import { makeChainConfig } from "../portfolio/portfolio-parts.ts";

/** In JSON whole numbers are written as text, because a float would round them. */
export type RecordedCall = {
  readonly to: Hex;
  readonly function: string;
  readonly args: readonly unknown[];
  readonly result: unknown;
};
/** The result of a contract, as it was sent. */
type RawCall = { readonly to: Hex; readonly data: Hex; readonly returnData: Hex };
export type RecordedCalls = readonly (RecordedCall | RawCall)[];

/** The responses of a recording, by contract and call data; a revert is as good as none. */
export function listRecordedCalls(responses: Readonly<Record<string, string | null>>): readonly RawCall[] {
  return Object.entries(responses).flatMap(([key, returnData]) => {
    const [to, data] = key.split(" ") as [Hex, Hex];
    return returnData === null ? [] : [{ to, data, returnData: returnData as Hex }];
  });
}

type RecordedHolding = Omit<Holding, "contract" | "rawBalance"> & {
  readonly contract: string;
  readonly rawBalance: string;
};
type RecordedTransfer = Omit<TransferLog, "amount" | "tokenId"> & {
  readonly amount: string | null;
  readonly tokenId: string | null;
};
/** As the recorder of the protocol tests writes it. */
export type RecordedMoment = {
  readonly block: Omit<PinnedBlock, "hash"> & { readonly hash: string };
  readonly holdings: readonly RecordedHolding[];
  readonly listed: readonly RecordedHolding[];
  /** Missing if no reader needs them. */
  readonly transfers?: readonly RecordedTransfer[];
  readonly responses: Readonly<Record<string, string | null>>;
  /** Missing if no read was recorded of who may act for the wallet. */
  readonly exposure?: { readonly code: string; readonly logs: readonly RecordedLog[] };
};
type RecordedLog = Omit<NodeLog, "address" | "data" | "topics" | "blockHash" | "transactionHash"> & {
  readonly [key in "address" | "data" | "blockHash" | "transactionHash"]: string;
} & { readonly topics: readonly string[] };

/** The input of a reader at one moment of a recording. */
export function openRecordedMoment(moment: RecordedMoment) {
  const { block, holdings, listed, transfers = [], responses, exposure } = moment;
  const revive = (holding: RecordedHolding) => ({
    ...{ ...holding, contract: holding.contract as Hex },
    rawBalance: BigInt(holding.rawBalance),
  });
  const tokens = listed.map(({ rawBalance: _, ...token }) => token as ListedToken);
  return {
    chain: makeChainConfig("local", 31337, tokens),
    block: { ...block, hash: block.hash as Hex },
    holdings: holdings.map(revive),
    calls: listRecordedCalls(responses),
    ...(exposure && { code: exposure.code as Hex, logs: exposure.logs as readonly NodeLog[] }),
    runCode: (data: Hex) => (responses[`override ${data}`] ?? null) as Hex | null,
    transfers: transfers.map((transfer) => ({
      ...transfer,
      amount: transfer.amount === null ? null : BigInt(transfer.amount),
      tokenId: transfer.tokenId === null ? null : BigInt(transfer.tokenId),
    })),
  };
}

export type ChainRecord = {
  readonly chain: ChainConfig;
  readonly block?: PinnedBlock;
  readonly calls: RecordedCalls;
  /** For calls that were not recorded; null, a revert, if it is missing. */
  readonly otherwise?: Hex;
  readonly spoil?: (call: ContractRead, result: Hex | null) => Hex | null;
  /** Results of our own code, by its call data: null as from a node that does not run it. A failing node without it. */
  readonly runCode?: (data: Hex) => Hex | null;
  /** The code at the address of Multicall3, if Multicall3 is not deployed. */
  readonly insteadOfMulticall?: Hex | null;
  /** The code of the wallet; without it the node fails. */
  readonly code?: Hex;
  /** All that match are found in one request; a failing node without them. */
  readonly logs?: readonly NodeLog[];
};

type RecordedChain = PinnedChain & {
  /** The requests, one list per round trip; bundles are opened. */
  readonly rounds: readonly (readonly ContractRead[])[];
  /** The same with bundles as they were sent. */
  readonly requests: readonly (readonly ContractRead[])[];
};

const BLOCK: PinnedBlock = { number: 20_000_000, hash: `0x${"ab".repeat(32)}`, timestamp: 1_717_281_407 };

/** Reads a record from a JSON file. */
export function readChainRecord(
  file: URL,
): Omit<ChainRecord, "calls"> & { readonly block: PinnedBlock; readonly calls: readonly RecordedCall[] } {
  const { name, chainId, block, calls } = JSON.parse(readFileSync(file, "utf8"));
  return { chain: makeChainConfig(name.toLowerCase(), chainId, [], { name }), block, calls };
}

export function openRecordedChain(record: ChainRecord): RecordedChain {
  const { otherwise, spoil, insteadOfMulticall, runCode, code, logs } = record;
  const recorded = encodeAll(record.calls);
  const rounds: (readonly ContractRead[])[] = [];
  const requests: (readonly ContractRead[])[] = [];

  const resultOf = (call: ContractRead): Hex | null => {
    const result = recorded.get(`${call.to}:${call.data}`) ?? otherwise ?? null;
    return spoil ? spoil(call, result) : result;
  };
  const isBundle = ({ to }: ContractRead) => to === MULTICALL3;
  const open = (call: ContractRead): readonly ContractRead[] =>
    isBundle(call) && insteadOfMulticall === undefined ? bundled(call.data) : [call];

  return {
    ...openFailingChain(record),
    ...(runCode ? { callWithOverride: async ({ data }) => runCode(data) } : {}),
    ...(code ? { code: async () => code } : {}),
    ...(logs ? { logs: async (filter) => logs.filter((log) => matchesFilter(log, filter)) } : {}),
    rounds,
    requests,
    read: async (calls, signal) => {
      signal.throwIfAborted();
      requests.push(calls);
      rounds.push(calls.flatMap(open));
      return calls.map((call) => {
        if (!isBundle(call)) return resultOf(call);
        return insteadOfMulticall === undefined ? bundleOf(open(call).map(resultOf)) : insteadOfMulticall;
      });
    },
  };
}

function matchesFilter(log: NodeLog, { fromBlock, toBlock, topics, contracts }: TopicFilter): boolean {
  return (
    log.blockNumber >= fromBlock &&
    log.blockNumber <= toBlock &&
    (contracts?.includes(log.address) ?? true) &&
    topics.every((allowed, i) => allowed?.includes(log.topics[i] ?? "0x") ?? true)
  );
}

/** The same chain behind a node that does not respond. */
export function openFailingChain({ chain, block = BLOCK }: ChainRecord): PinnedChain {
  const fail = async (): Promise<never> => {
    throw new Fault("NODE_UNAVAILABLE", "No configured node gave a usable result.");
  };
  return {
    chain,
    block,
    read: fail,
    callWithOverride: fail,
    callAsAccount: fail,
    nativeBalance: fail,
    code: fail,
    storage: fail,
    baseFee: fail,
    transfers: fail,
    logs: fail,
    timestamps: fail,
    senders: fail,
  };
}

// Suites open a chain over the same record hundreds of times, and encoding it takes longer than reading it.
const encoded = new WeakMap<RecordedCalls, ReadonlyMap<string, Hex>>();

function encodeAll(calls: RecordedCalls): ReadonlyMap<string, Hex> {
  const known = encoded.get(calls) ?? new Map(calls.map(encode));
  encoded.set(calls, known);
  return known;
}

function encode(call: RecordedCalls[number]): [string, Hex] {
  if ("data" in call) return [`${call.to}:${call.data}`, call.returnData];
  const abi: Abi = parseAbi([`function ${call.function}`] as readonly string[]);
  const data = encodeFunctionData({ abi, args: call.args.map(exact) });
  return [`${call.to}:${data}`, encodeFunctionResult({ abi, result: exact(call.result) })];
}

function exact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(exact);
  return typeof value === "string" && /^-?[0-9]+$/.test(value) ? BigInt(value) : value;
}

function bundled(data: Hex): readonly ContractRead[] {
  const { args } = decodeFunctionData({ abi: multicall3Abi, data });
  const calls = args?.[0] as readonly { readonly target: Hex; readonly callData: Hex }[];
  return calls.map(({ target, callData }) => ({ to: target.toLowerCase() as Hex, data: callData }));
}

function bundleOf(results: readonly (Hex | null)[]): Hex {
  return encodeFunctionResult({
    abi: multicall3Abi,
    functionName: "aggregate3",
    result: results.map((result) => ({ success: result !== null, returnData: result ?? "0x" })),
  });
}
