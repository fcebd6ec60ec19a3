// A first run without state overrides: which logs the transactions write, and whom they pay. It shows what to read, and cross-checks.

import { TRANSFER_TOPIC } from "../../chain/logs/get-logs.ts";
import { malformedResponse } from "../../chain/rpc/errors.ts";
import {
  readAddress,
  readBigQuantity,
  readData,
  readHash,
  readObject,
  toQuantity,
} from "../../chain/rpc/hex-values.ts";
import type { RpcCall } from "../../chain/rpc/types.ts";
import { topicToAddress } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { WalletCall } from "./request.ts";

export type CallLog = { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex };
/** Native coin that moved between two accounts. */
type NativeTransfer = { readonly from: Hex; readonly to: Hex; readonly value: bigint };

export type PreviewRun = {
  readonly success: boolean;
  /** Includes the base cost of the transaction. */
  readonly gasUsed: bigint;
  readonly logs: readonly CallLog[];
  readonly payments: readonly NativeTransfer[];
  /** More happened than is read. */
  readonly isCut: boolean;
};

export type Preview = {
  readonly method: "eth_simulateV1" | "debug_traceCall";
  /** In the order of the transactions; null for one that the node did not run. */
  readonly runs: readonly (PreviewRun | null)[];
  /** How many of the first runs started from the state that the transaction meets. */
  readonly exactCount: number;
};

/** The limit of a transaction on Ethereum (EIP-7825), more than other chains need. */
export const TRANSACTION_GAS_MAX = 16_777_216;

// A swap over many pools writes about fifty. A hostile contract may write more to hide what follows.
const LOGS_MAX = 500;
const FRAMES_MAX = 5_000;
const TOPICS_MAX = 4;
const LOG_BYTES_MAX = 4_096;

/** In `eth_simulateV1`, the emitter of the logs that stand for moved ether. */
const ETHER_LOGS: Hex = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";

type PreviewOptions = {
  readonly wallet: Hex;
  readonly calls: readonly WalletCall[];
  readonly block: number;
};

function toParameters(wallet: Hex, { to, value, data }: WalletCall) {
  return { from: wallet, to, value: `0x${value.toString(16)}`, data, gas: toQuantity(TRANSACTION_GAS_MAX) };
}

/** All transactions one after the other, in one call. */
export function simulateCall({ wallet, calls, block }: PreviewOptions): RpcCall<readonly PreviewRun[]> {
  const run = {
    blockStateCalls: [{ calls: calls.map((call) => toParameters(wallet, call)) }],
    traceTransfers: true,
    validation: false,
  };
  return {
    method: "eth_simulateV1",
    params: [run, toQuantity(block)],
    parse: (result) => {
      const [first] = Array.isArray(result) ? result : [];
      const { calls: results } = readObject(first, "the simulated block");
      if (!Array.isArray(results) || results.length !== calls.length) {
        throw malformedResponse("the simulation has another number of calls");
      }
      return results.map((each) => readSimulated(readObject(each, "a simulated call")));
    },
  };
}

function readSimulated({ status, gasUsed, logs }: JsonObject): PreviewRun {
  const written: readonly unknown[] = Array.isArray(logs) ? logs : [];
  const all = written.slice(0, LOGS_MAX).map(readLog);
  const isEther = ({ address }: CallLog) => address === ETHER_LOGS;
  return {
    success: status === "0x1",
    gasUsed: readBigQuantity(gasUsed, "the gas of a simulated call"),
    logs: all.filter((log) => !isEther(log)),
    payments: all.filter(isEther).flatMap(toPayment),
    isCut: written.length > LOGS_MAX,
  };
}

function toPayment({ topics: [event, from, to], data }: CallLog): readonly NativeTransfer[] {
  const [payer, payee] = [topicToAddress(from), topicToAddress(to)];
  if (event !== TRANSFER_TOPIC || payer === null || payee === null || data.length !== 66) return [];
  return [{ from: payer, to: payee, value: BigInt(data) }];
}

/** One transaction from the state of the block, whatever was to happen before. */
export function traceCall(
  { wallet, block }: Omit<PreviewOptions, "calls">,
  call: WalletCall,
  terms: { readonly gas?: Hex; readonly gasPrice?: Hex } = {},
): RpcCall<PreviewRun> {
  const options = { tracer: "callTracer", tracerConfig: { withLog: true } };
  return {
    method: "debug_traceCall",
    params: [{ ...toParameters(wallet, call), ...terms }, toQuantity(block), options],
    parse: (result) => readTrace(readObject(result, "the trace")),
  };
}

// Wallets add about half to what they estimate, so that calls have gas left at any depth.
const SPARE_GAS = 50_000n;

/** The first transaction as a wallet sends it: at a gas price, and with little more gas than it needs. */
export function realisticCall(
  options: Omit<PreviewOptions, "calls"> & { readonly gasPrice: bigint },
  call: WalletCall,
  { gasUsed }: PreviewRun,
): RpcCall<PreviewRun> {
  const gas = (gasUsed * 3n) / 2n + SPARE_GAS;
  const limit = gas < TRANSACTION_GAS_MAX ? gas : BigInt(TRANSACTION_GAS_MAX);
  const price: Hex = `0x${options.gasPrice.toString(16)}`;
  return traceCall(options, call, { gas: `0x${limit.toString(16)}`, gasPrice: price });
}

/** A frame that failed, and all below it, changed nothing. */
function readTrace(top: JsonObject): PreviewRun {
  const logs: CallLog[] = [];
  const payments: NativeTransfer[] = [];
  const waiting: JsonObject[] = [top];
  let isCut = false;
  for (let count = 0; waiting.length > 0 && count < FRAMES_MAX; count += 1) {
    const frame = waiting.pop() as JsonObject;
    if (frame.error !== undefined) continue;
    const written: readonly unknown[] = Array.isArray(frame.logs) ? frame.logs : [];
    isCut ||= logs.length + written.length > LOGS_MAX;
    logs.push(...written.slice(0, LOGS_MAX - logs.length).map(readLog));
    payments.push(...readPayment(frame));
    if (Array.isArray(frame.calls)) {
      for (const each of frame.calls) waiting.push(readObject(each, "a call of the trace"));
    }
  }
  const gasUsed = readBigQuantity(top.gasUsed, "the gas of a trace");
  isCut ||= waiting.length > 0;
  return { success: top.error === undefined, gasUsed, logs, payments, isCut };
}

function readPayment({ type, from, to, value }: JsonObject): readonly NativeTransfer[] {
  if (value === undefined || type === "DELEGATECALL" || type === "STATICCALL" || type === "CALLCODE")
    return [];
  const amount = readBigQuantity(value, "the value of a call");
  if (amount === 0n || to === undefined) return [];
  return [{ from: readAddress(from, "a caller"), to: readAddress(to, "a callee"), value: amount }];
}

/** Leaves out data that is too large to mean anything to us. */
function readLog(value: unknown): CallLog {
  const { address, topics, data } = readObject(value, "a log");
  if (!Array.isArray(topics) || topics.length > TOPICS_MAX) throw malformedResponse("the topics of a log");
  const isLarge = typeof data === "string" && data.length > 2 + 2 * LOG_BYTES_MAX;
  return {
    address: readAddress(address, "the emitter of a log"),
    topics: topics.map((topic) => readHash(topic, "a topic")),
    data: isLarge ? "0x" : readData(data ?? "0x", "the data of a log"),
  };
}
