// Reads channels from our own node: the state of some as of one block, and which of them the events since another changed.
import { batchSettlementAbi } from "@sextant/contracts/generated/batch-settlement";
import type { Abi } from "viem";
import { decodeAggregate3, encodeAggregate3, MULTICALL3 } from "../../chain/aggregate3.ts";
import { callContracts } from "../../chain/contract-calls.ts";
import { readFinalizedHeader } from "../../chain/head/finality.ts";
import { readHeader } from "../../chain/headers.ts";
import { getLogsCall } from "../../chain/logs/get-logs.ts";
import { parseLog } from "../../chain/logs/log.ts";
import { malformedResponse } from "../../chain/rpc/errors.ts";
import { toQuantity } from "../../chain/rpc/hex-values.ts";
import type { PinnedRpc, Rpc, RpcCallOptions } from "../../chain/rpc/types.ts";
import { createFunctionCodec, findAbiEvent, hashEvent } from "../../lib/abi/codec.ts";
import { splitIntoChunks } from "../../lib/chunks.ts";
import type { Hex } from "../../lib/hex.ts";
import type { BlockSummary } from "../../schema/chain-log.ts";
import { CHANNEL_CONTRACT } from "./channel-config.ts";
import type { ChannelState, ScanPosition } from "./channel-row.ts";

const channels = createFunctionCodec(batchSettlementAbi, "channels");
const pendingWithdrawals = createFunctionCodec(batchSettlementAbi, "pendingWithdrawals");
const refundNonce = createFunctionCodec(batchSettlementAbi, "refundNonce");
const CALLS_PER_CHANNEL = 3;

const EVENTS = ["Deposited", "Claimed", "Refunded", "WithdrawInitiated", "WithdrawFinalized"].map((name) =>
  hashEvent(findAbiEvent(batchSettlementAbi as Abi, name)),
);

// Three calls each: below what nodes let one call cost.
const CHANNELS_PER_CALL = 100;
// Accepted by every vendor.
const RANGE_MAX = 2_000;
// A scan that is further behind reads every channel, which is cheaper than logs of hours of everyone's channels.
const RANGES_MAX = 10;

/** The state of channels as of one block of one node. */
export type ChannelView = {
  readonly at: BlockSummary;
  /** No reorg changes this block or those before it. */
  readonly finalNumber: number;
  readonly states: ReadonlyMap<Hex, ChannelState>;
};

/** Changes since a position. */
export type ChangedChannels = {
  readonly ids: ReadonlySet<Hex>;
  /** The block of the position is gone. */
  readonly isReorg: boolean;
  /** The position is too long ago for its events: any channel may have changed. */
  readonly isBehind: boolean;
};

export type ChannelReader = ReturnType<typeof createChannelReader>;

/** Every function throws if the chain cannot be read. */
export function createChannelReader(
  rpc: Rpc,
  finality: { readonly depthFallback: number; readonly depthMin: number },
) {
  const readFinal = async (call: RpcCallOptions) =>
    (await readFinalizedHeader(rpc, { ...finality, ...call })).number;
  return {
    /** The channels as of the head. */
    readNow: async (ids: readonly Hex[], signal?: AbortSignal): Promise<ChannelView> => {
      const call = optionsOf(signal);
      const finalNumber = await readFinal(call);
      return rpc.pinned(async (node) => {
        const at = summaryOf(await readHeader(node, "latest", call));
        return { at, finalNumber, states: await readStates(node, ids, at.hash, call) };
      }, call);
    },
    /**
     * Reads on from a position: the events up to the head say which channels have changed, `choose` which of them are
     * ours and which others to read, and all of it is read as of that head. Null if the node is behind the position.
     */
    readChanges: async (
      since: ScanPosition,
      choose: (changed: ChangedChannels) => Promise<readonly Hex[]>,
      signal?: AbortSignal,
    ): Promise<(ChannelView & { readonly isReorg: boolean }) | null> => {
      const call = optionsOf(signal);
      const finalNumber = await readFinal(call);
      return rpc.pinned(async (node) => {
        const at = summaryOf(await readHeader(node, "latest", call));
        if (at.number < since.number) return null;
        const changed = await findChanges(node, since, { head: at.number, finalNumber }, call);
        const states = await readStates(node, await choose(changed), at.hash, call);
        return { at, finalNumber, states, isReorg: changed.isReorg };
      }, call);
    },
  };
}

const optionsOf = (signal: AbortSignal | undefined): RpcCallOptions => (signal ? { signal } : {});
const summaryOf = ({ number, hash, timestamp }: BlockSummary): BlockSummary => ({ number, hash, timestamp });

async function readStates(
  node: PinnedRpc,
  ids: readonly Hex[],
  blockHash: Hex,
  options: RpcCallOptions,
): Promise<ReadonlyMap<Hex, ChannelState>> {
  const states = new Map<Hex, ChannelState>();
  for (const chunk of splitIntoChunks(ids, CHANNELS_PER_CALL)) {
    const calls = chunk.flatMap((id) =>
      [channels, pendingWithdrawals, refundNonce].map((codec) => ({
        to: CHANNEL_CONTRACT,
        data: codec.encodeCall([id]),
      })),
    );
    const call = { to: MULTICALL3, data: encodeAggregate3(calls), block: { blockHash } };
    const [result] = await callContracts(node, [call], options);
    const results = result && "ok" in result ? decodeAggregate3(result.ok, calls.length) : null;
    if (results === null) throw malformedResponse("Multicall3 does not respond");
    chunk.forEach((id, i) => {
      states.set(id, decodeState(results.slice(i * CALLS_PER_CHANNEL, (i + 1) * CALLS_PER_CHANNEL)));
    });
  }
  return states;
}

function decodeState([balances, withdrawal, nonce]: readonly (Hex | null)[]): ChannelState {
  if (!balances || !withdrawal || !nonce) {
    throw malformedResponse(`the contract of channels is not at ${CHANNEL_CONTRACT}`);
  }
  const [balance, totalClaimed] = channels.decodeResult(balances);
  const [withdrawAmount, started] = pendingWithdrawals.decodeResult(withdrawal);
  const withdrawStarted = Number(started);
  return {
    ...{ balance, totalClaimed, withdrawAmount, withdrawStarted },
    refundNonce: refundNonce.decodeResult(nonce),
  };
}

/** The channels that have an event after the position, or after the last final block if a reorg has undone the position. */
async function findChanges(
  node: PinnedRpc,
  since: ScanPosition,
  { head, finalNumber }: { readonly head: number; readonly finalNumber: number },
  options: RpcCallOptions,
): Promise<ChangedChannels> {
  const ids = new Set<Hex>();
  const isReorg = (await readHeader(node, since.number, options)).hash !== since.hash;
  const last = isReorg ? Math.min(since.finalNumber, finalNumber) : since.number;
  if (head - last > RANGE_MAX * RANGES_MAX) return { ids, isReorg, isBehind: true };
  for (let from = last + 1; from <= head; from += RANGE_MAX) {
    const filter = {
      address: CHANNEL_CONTRACT,
      topics: [EVENTS],
      fromBlock: toQuantity(from),
      toBlock: toQuantity(Math.min(head, from + RANGE_MAX - 1)),
    };
    const call = getLogsCall(filter, (logs) => logs.map(parseLog));
    for (const { address, topics } of await node.request(call, options)) {
      const [, id] = topics;
      if (address === CHANNEL_CONTRACT && id !== undefined) ids.add(id);
    }
  }
  return { ids, isReorg, isBehind: false };
}
