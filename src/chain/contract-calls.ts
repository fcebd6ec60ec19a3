// Contract calls, read in batches at the block they belong to, and calls to code given along with them (state override).
import { type Clock, systemClock } from "../lib/clock.ts";
import type { Hex } from "../lib/hex.ts";
import type { BlockId } from "../schema/chain-log.ts";
import { canonicalHeaderCall } from "./headers.ts";
import { RpcError, type RpcFailureKind } from "./rpc/errors.ts";
import { readData, toQuantity } from "./rpc/hex-values.ts";
import type { Rpc, RpcCall, RpcCallOptions, RpcResult } from "./rpc/types.ts";

type ContractCall = {
  readonly to: Hex;
  readonly data: Hex;
  /** Names the block by hash if a reorg could put another one under its number (EIP-1898). */
  readonly block: number | "latest" | { readonly blockHash: Hex };
  /** For contracts that anyone may have deployed: without a limit one of them can keep a node busy for seconds. */
  readonly gasMax?: number;
  /** Code at the address for this call only (a state override, which not every node supports). */
  readonly codeOverride?: Hex;
  readonly from?: Hex;
};

/** The call to one contract; for callers that put it into a batch of their own. */
export function contractCall({ to, data, block, gasMax, codeOverride, from }: ContractCall): RpcCall<Hex> {
  return {
    method: "eth_call",
    params: [
      {
        ...(from === undefined ? { to, data } : { from, to, data }),
        ...(gasMax === undefined ? {} : { gas: toQuantity(gasMax) }),
      },
      typeof block === "number" ? toQuantity(block) : block,
      ...(codeOverride === undefined ? [] : [{ [to]: { code: codeOverride } }]),
    ],
    parse: (result) => readData(result, "the result of a call"),
  };
}

/** A revert is a result of the contract, not a failure of the node; the data is null if the node drops it. */
export type ContractCallResult = { readonly ok: Hex } | { readonly reverted: Hex | null };

/** Results in the order of the calls; throws any failure but a revert. */
export async function callContracts(
  rpc: Rpc,
  calls: readonly ContractCall[],
  options: RpcCallOptions = {},
): Promise<ContractCallResult[]> {
  const results = await rpc.batch(calls.map(contractCall), options);
  return results.map((result) => {
    if ("ok" in result) return result;
    if (result.error.kind === "reverted") return { reverted: result.error.revertData };
    throw result.error;
  });
}

/** A call to code that the node puts at an empty address for this call only. */
type OverrideCall = { readonly code: Hex; readonly data: Hex; readonly gasMax?: number };

/** A call to code that the node puts at `account`, by `account`, and calls that the account makes as it is. */
type AccountCall = OverrideCall & {
  readonly account: Hex;
  readonly plainCalls: readonly Pick<ContractCall, "to" | "data" | "gasMax">[];
};

type AccountResults = {
  readonly returnData: Hex;
  /** In the order of the plain calls; null when the node did not make one. */
  readonly plainResults: readonly (ContractCallResult | null)[];
};

type OverrideCaller = {
  /**
   * Null when the node does not support state overrides, or cannot finish this call. `joined`, a client that may send
   * other calls in the same batch, is used once a node has shown its support.
   */
  callWithOverride(
    block: BlockId,
    call: OverrideCall,
    signal: AbortSignal,
    joined?: Rpc,
  ): Promise<Hex | null>;
  /** The same with all calls in one batch at one block. */
  callAsAccount(block: BlockId, call: AccountCall, signal: AbortSignal): Promise<AccountResults | null>;
};

// Made up, so nothing is deployed there: the code runs without any state.
const OVERRIDE_ADDRESS: Hex = "0x5e87a9705ca99e12c0de1e97000000000000c0de";

// The block gas limit of Ethereum for years: no node rejects a call for requesting as much, and most allow more.
const OVERRIDE_GAS_MAX = 30_000_000;

// Support is a property of the node's software or plan: this often, an upgrade is noticed soon.
const RECHECK_MS = 10 * 60_000;

const UNSUPPORTED: ReadonlySet<RpcFailureKind> = new Set(["unsupported", "invalid-request"]);

// This call was too much for the contract or the node (its gas, its size, its time); the next may be fine.
const CALL_FAILURES: ReadonlySet<RpcFailureKind> = new Set(["reverted", "internal", "response-too-large"]);

type BlockReference = ContractCall["block"];
type Send<T> = (node: Rpc, at: BlockReference) => Promise<T>;
type OverrideStrategy = <T>(rpc: Rpc, block: BlockId, send: Send<T>, signal: AbortSignal) => Promise<T>;

/** Calls with the strategy that the node supports. */
export function createOverrideCaller(rpc: Rpc, clock: Clock = systemClock): OverrideCaller {
  // Some nodes support overrides only at a block that is named by its number.
  const strategies: { readonly call: OverrideStrategy; rejectedUntilMs: number; hasWorked: boolean }[] = [
    { call: callByHash, rejectedUntilMs: 0, hasWorked: false },
    { call: callByNumber, rejectedUntilMs: 0, hasWorked: false },
  ];
  const callWith = async (
    block: BlockId,
    send: Send<AccountResults>,
    signal: AbortSignal,
    joined: Rpc = rpc,
  ) => {
    for (const strategy of strategies) {
      if (clock.nowMs() < strategy.rejectedUntilMs) continue;
      const client = strategy.hasWorked ? joined : rpc;
      const result = await resultOrFailure(strategy.call(client, block, send, signal));
      if (result === "failed") return null;
      // A node that does not know the third parameter may ignore it and call an empty account.
      strategy.hasWorked = result !== "rejected" && result.returnData !== "0x";
      if (result !== "rejected" && strategy.hasWorked) return result;
      strategy.rejectedUntilMs = clock.nowMs() + RECHECK_MS;
    }
    return null;
  };
  return {
    async callWithOverride(block, { code, data, gasMax = OVERRIDE_GAS_MAX }, signal, joined) {
      const to = OVERRIDE_ADDRESS;
      const send: Send<AccountResults> = async (node, at) => {
        const call = contractCall({ to, data, gasMax, codeOverride: code, block: at });
        return { returnData: await node.request(call, { signal }), plainResults: [] };
      };
      return (await callWith(block, send, signal, joined))?.returnData ?? null;
    },
    callAsAccount: (block, call, signal) =>
      callWith(block, (node, at) => sendAsAccount(node, at, call, signal), signal),
  };
}

async function sendAsAccount(
  node: Rpc,
  block: BlockReference,
  { account: from, code, data, gasMax = OVERRIDE_GAS_MAX, plainCalls }: AccountCall,
  signal: AbortSignal,
): Promise<AccountResults> {
  const own = contractCall({ from, to: from, data, gasMax, codeOverride: code, block });
  const others = plainCalls.map((call) => contractCall({ ...call, from, block }));
  const [result, ...plainResults] = await node.batch([own, ...others], { signal });
  if ("error" in result) throw result.error;
  return { returnData: result.ok, plainResults: plainResults.map(toPlainResult) };
}

/** Null for a failure of the node: what someone's contract does to its own call must not fail the others. */
function toPlainResult(result: RpcResult<Hex>): ContractCallResult | null {
  if ("ok" in result) return result;
  const { kind, revertData } = result.error;
  return kind === "reverted" || kind === "response-too-large" ? { reverted: revertData } : null;
}

async function resultOrFailure<T>(call: Promise<T>): Promise<T | "rejected" | "failed"> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RpcError && UNSUPPORTED.has(error.kind)) return "rejected";
    if (error instanceof RpcError && CALL_FAILURES.has(error.kind)) return "failed";
    throw error;
  }
}

const callByHash: OverrideStrategy = (rpc, block, send) => send(rpc, { blockHash: block.hash });

// A reorg may put another block under the number, so the header is checked afterwards. Not in a batch with the call: a
// gateway that rejects a whole batch for one member would seem to support no batches at all.
const callByNumber: OverrideStrategy = (rpc, block, send, signal) =>
  rpc.pinned(
    async (node) => {
      const result = await send(node, block.number);
      await node.request(canonicalHeaderCall(block.number, block.hash), { signal });
      return result;
    },
    { signal },
  );
