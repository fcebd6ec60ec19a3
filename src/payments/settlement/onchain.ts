// Settlement lookup over JSON-RPC: was an authorization used, and did its use move the money.

import { decodeAggregate3, encodeAggregate3, MULTICALL3 } from "../../chain/aggregate3.ts";
import { callContracts } from "../../chain/contract-calls.ts";
import { readFinalizedHeader } from "../../chain/head/finality.ts";
import { headerCall, readHeader } from "../../chain/headers.ts";
import { getLogsCall } from "../../chain/logs/get-logs.ts";
import { type NodeLog, parseLog } from "../../chain/logs/log.ts";
import { malformedResponse, missingResult } from "../../chain/rpc/errors.ts";
import { toQuantity } from "../../chain/rpc/hex-values.ts";
import type { PinnedRpc, Rpc, RpcCallOptions } from "../../chain/rpc/types.ts";
import { createSignatureCodec } from "../../lib/abi/codec.ts";
import { addressToTopic } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import type { BlockId, BlockSummary } from "../../schema/chain-log.ts";
import type {
  AuthorizationStates,
  BlockTransferQuery,
  ExpectedTransfer,
  LookupBlocks,
  LookupEffort,
  SettlementLookupResult,
  TransferFound,
} from "./lookup.ts";
import {
  AUTHORIZATION_CANCELED_TOPIC,
  AUTHORIZATION_USED_TOPIC,
  findAuthorizationUse,
  findAuthorizedTransfer,
  findBlocksOnChain,
  readAuthorizationTransfers,
  readTransactionLogs,
} from "./onchain-blocks.ts";

export const authorizationState = createSignatureCodec(
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
);

const balanceOf = createSignatureCodec("function balanceOf(address account) view returns (uint256)");
const isValidSignature = createSignatureCodec(
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
);
/** The magic value of ERC-1271 as a word: the selector of isValidSignature. */
const SIGNATURE_ACCEPTED = `0x1626ba7e${"0".repeat(56)}`;
// As much gas as the facilitator allows a whole transfer: the code of a payer must not keep a node busy.
const SIGNATURE_GAS_MAX = 300_000;

// Accepted by every vendor; reconciliation looks back over minutes, seldom over more than one such range.
const RANGE_MAX = 2_000;
// A brief lookup reads a day of blocks every two seconds: the longest that a payment on our terms is valid, on the
// chains that most payers use.
const BRIEF_RANGES_MAX = 22;
// A brief lookup goes to a second node if the first fails.
const BRIEF_ATTEMPTS_MAX = 2;

/** Reads the newest final block from any provider. */
type ReadFinal = () => Promise<BlockSummary>;

/** Every function throws if the chain cannot be read: an unknown state is not a state. */
export type SettlementLookup = ReturnType<typeof createSettlementLookup>;

export function createSettlementLookup(
  rpc: Rpc,
  options: { readonly finalityDepth: number; readonly finalityDepthMin: number },
) {
  const finality = { depthFallback: options.finalityDepth, depthMin: options.finalityDepthMin };
  const readFinal = (call: RpcCallOptions) => async () =>
    blockOf(await readFinalizedHeader(rpc, { ...finality, ...call }));
  return {
    findSettlement: (
      wanted: ExpectedTransfer,
      signal?: AbortSignal,
      effort: LookupEffort = "whole",
    ): Promise<SettlementLookupResult> => {
      const call = callOptions(signal);
      if (effort === "whole") return rpc.pinned((node) => findOn(node, wanted, readFinal(call), call), call);
      const pin = { ...call, attemptsMax: BRIEF_ATTEMPTS_MAX };
      return rpc.pinned((node) => findBriefly(node, wanted, options.finalityDepth, call), pin);
    },
    /** Many authorizations at once, without looking for the transfers. */
    readAuthorizationStates: (wanted: readonly ExpectedTransfer[], signal?: AbortSignal) => {
      const call = callOptions(signal);
      return rpc.pinned((node) => readStates(node, wanted, readFinal(call), call), call);
    },
    /** The effect of this transaction on the authorization; null while no node has its receipt. */
    findInTransaction: async (
      transaction: Hex,
      wanted: ExpectedTransfer,
      signal?: AbortSignal,
    ): Promise<TransferFound | { readonly kind: "other" } | null> => {
      const receipt = await readReceiptAnywhere(rpc, transaction, callOptions(signal));
      if (receipt === null) return null;
      const used = findAuthorizationUse(receipt, wanted);
      return (used && findAuthorizedTransfer(receipt, wanted, used)) ?? { kind: "other" };
    },
    /** The payer's balance of the token as of a block. */
    readBalance: async (
      { asset, from }: Pick<ExpectedTransfer, "asset" | "from">,
      at: BlockId | "latest",
      signal?: AbortSignal,
    ): Promise<bigint> => {
      const block = at === "latest" ? at : { blockHash: at.hash };
      const call = { to: asset, data: balanceOf.encodeCall([from]), block };
      const [result] = await callContracts(rpc, [call], callOptions(signal));
      if (!result || !("ok" in result)) throw malformedResponse("the token does not report a balance");
      return balanceOf.decodeResult(result.ok);
    },
    /** Whether the code of an account accepts a signature now (ERC-1271); false for an account without code. */
    isContractSignature: async (
      account: Hex,
      { hash, signature }: { readonly hash: Hex; readonly signature: Hex },
      signal?: AbortSignal,
    ): Promise<boolean> => {
      const data = isValidSignature.encodeCall([hash, signature]);
      const call = { to: account, data, block: "latest" as const, gasMax: SIGNATURE_GAS_MAX };
      const [result] = await callContracts(rpc, [call], callOptions(signal));
      return result !== undefined && "ok" in result && result.ok === SIGNATURE_ACCEPTED;
    },
    readFinalizedBlock: (signal?: AbortSignal) => readFinal(callOptions(signal))(),
    compareBlocks: (blocks: readonly BlockId[], signal?: AbortSignal) =>
      findBlocksOnChain(rpc, blocks, callOptions(signal)),
    /** For each block, the transaction of each transfer that the logs of that block prove; null for one they do not. */
    findTransfersInBlocks: (blocks: readonly BlockTransferQuery[], signal?: AbortSignal) =>
      readAuthorizationTransfers(rpc, blocks, callOptions(signal)),
  };
}

const callOptions = (signal: AbortSignal | undefined): RpcCallOptions => (signal ? { signal } : {});

/** Tries a second provider if the first does not have the receipt: one of them may be behind. */
async function readReceiptAnywhere(rpc: Rpc, transaction: Hex, options: RpcCallOptions) {
  const read = async (node: PinnedRpc) => ({
    provider: node.providerIndex,
    receipt: await readTransactionLogs(node, transaction, options),
  });
  const { provider, receipt } = await rpc.pinned(read, options);
  if (receipt !== null || rpc.providers().length === 1) return receipt;
  return (await rpc.pinned(read, { ...options, avoid: [provider] })).receipt;
}

const blockOf = ({ number, hash, timestamp }: BlockSummary): BlockSummary => ({ number, hash, timestamp });

/** Reads from one node as of one block, so that the results belong together. */
async function readStates(
  node: PinnedRpc,
  wanted: readonly ExpectedTransfer[],
  readFinal: ReadFinal,
  options: RpcCallOptions,
): Promise<AuthorizationStates> {
  const { at, used } = await readUsed(node, wanted, options);
  const isExpired = wanted.some(({ validBefore }, i) => !used[i] && at.timestamp >= validBefore);
  return { at, used, final: isExpired ? await finalBelow(node, at, readFinal, options) : null };
}

async function readUsed(
  node: PinnedRpc,
  wanted: readonly ExpectedTransfer[],
  options: RpcCallOptions,
): Promise<Pick<AuthorizationStates, "at" | "used">> {
  const at = blockOf(await readHeader(node, "latest", options));
  const calls = wanted.map(({ asset, from, nonce }) => ({
    to: asset,
    data: authorizationState.encodeCall([from, nonce]),
    block: { blockHash: at.hash },
  }));
  const results = await callTogether(node, calls, options);
  const used = results.map((result) => {
    if (result === null) throw malformedResponse("the token does not report the state of authorizations");
    return authorizationState.decodeResult(result);
  });
  return { at, used };
}

type BlockCall = { readonly to: Hex; readonly data: Hex; readonly block: { readonly blockHash: Hex } };

/** Vendors charge for each call of a batch: several go through Multicall3, if the chain has it. Null for one that failed. */
async function callTogether(
  node: PinnedRpc,
  calls: readonly BlockCall[],
  options: RpcCallOptions,
): Promise<readonly (Hex | null)[]> {
  const [first, second] = calls;
  if (first !== undefined && second !== undefined) {
    const all = { to: MULTICALL3, data: encodeAggregate3(calls), block: first.block };
    const [result] = await callContracts(node, [all], options);
    const results = result && "ok" in result ? decodeAggregate3(result.ok, calls.length) : null;
    if (results !== null) return results;
  }
  return (await callContracts(node, calls, options)).map((result) => ("ok" in result ? result.ok : null));
}

/** The newest final block, if this node has it on the branch of the given block; otherwise null. */
async function finalBelow(
  node: PinnedRpc,
  at: BlockSummary,
  readFinal: ReadFinal,
  options: RpcCallOptions,
): Promise<LookupBlocks["final"]> {
  const final = await readFinal();
  if (final.number > at.number) return null;
  const results = await node.batch([headerCall(final.number), headerCall(at.number)], options);
  const hashes = results.map((result) => ("ok" in result ? result.ok.hash : null));
  return hashes[0] === final.hash && hashes[1] === at.hash ? final : null;
}

async function findOn(
  node: PinnedRpc,
  wanted: ExpectedTransfer,
  readFinal: ReadFinal,
  options: RpcCallOptions,
): Promise<SettlementLookupResult> {
  const { at, used, final } = await readStates(node, [wanted], readFinal, options);
  if (used[0] === false) return { kind: "unused", at, final };
  const log = await findUse(node, wanted, at, "whole", options);
  if (log === null) {
    const final = await finalBelow(node, at, readFinal, options);
    if (final !== null && final.timestamp >= wanted.validBefore)
      return { kind: "used-without-log", at, final };
    // The token reports a use, so there is a log: the node lags behind itself, or the use is older than the row.
    throw missingResult("the use of an authorization is not in the logs");
  }
  const transfer =
    log.topics[0] === AUTHORIZATION_USED_TOPIC ? await transferOf(node, wanted, log, options) : null;
  if (transfer !== null) return transfer;
  const below = await finalBelow(node, at, readFinal, options);
  return { kind: "consumed-elsewhere", at, final: below !== null && log.blockNumber <= below.number };
}

/** Final is what is as deep as the fallback says: the final block itself would cost a call more. */
async function findBriefly(
  node: PinnedRpc,
  wanted: ExpectedTransfer,
  finalityDepth: number,
  options: RpcCallOptions,
): Promise<SettlementLookupResult> {
  const { at, used } = await readUsed(node, [wanted], options);
  if (used[0] === false) return { kind: "unused", at, final: null };
  const log = await findUse(node, wanted, at, "brief", options);
  if (log === null) return { kind: "used-without-log", at, final: null };
  const transfer =
    log.topics[0] === AUTHORIZATION_USED_TOPIC ? await transferOf(node, wanted, log, options) : null;
  const final = at.number - log.blockNumber >= finalityDepth;
  return transfer ?? { kind: "consumed-elsewhere", at, final };
}

async function transferOf(node: PinnedRpc, wanted: ExpectedTransfer, log: NodeLog, options: RpcCallOptions) {
  const receipt = await readTransactionLogs(node, log.transactionHash, options);
  if (receipt === null) throw missingResult("the transaction of a log is not there");
  return findAuthorizedTransfer(receipt, wanted, log);
}

/** The newest use or cancellation since `sinceSeconds`, within the ranges of the effort; null without one. */
async function findUse(
  node: PinnedRpc,
  wanted: ExpectedTransfer,
  at: BlockSummary,
  effort: LookupEffort,
  options: RpcCallOptions,
): Promise<NodeLog | null> {
  let ranges = effort === "brief" ? BRIEF_RANGES_MAX : Number.POSITIVE_INFINITY;
  for (let to = at.number; to >= 0 && ranges > 0; to -= RANGE_MAX, ranges -= 1) {
    const from = Math.max(0, to - RANGE_MAX + 1);
    const [log] = await readLogs(node, wanted, { from, to }, options);
    if (log) return log;
    const isPaced = effort === "brief" && to < at.number;
    if (isPaced || from === 0) continue;
    const lowest = await readHeader(node, from, options);
    if (lowest.timestamp < wanted.sinceSeconds) break;
    // The time between blocks hardly changes within a day, and a header for each range would double the calls.
    if (effort === "brief") ranges = Math.min(ranges, rangesSince(wanted.sinceSeconds, at, lowest));
  }
  return null;
}

/** The number of ranges back to a time, counted from the head, with one more for blocks that were slower. */
function rangesSince(
  sinceSeconds: number,
  at: BlockSummary,
  lowest: Pick<BlockSummary, "timestamp">,
): number {
  const secondsPerRange = Math.max(1, at.timestamp - lowest.timestamp);
  return Math.ceil((at.timestamp - sinceSeconds) / secondsPerRange) + 1;
}

async function readLogs(
  node: PinnedRpc,
  { asset, from: payer, nonce }: ExpectedTransfer,
  { from, to }: { from: number; to: number },
  options: RpcCallOptions,
): Promise<NodeLog[]> {
  const filter = {
    address: asset,
    topics: [[AUTHORIZATION_USED_TOPIC, AUTHORIZATION_CANCELED_TOPIC], addressToTopic(payer), nonce],
    fromBlock: toQuantity(from),
    toBlock: toQuantity(to),
  };
  const call = getLogsCall(filter, (list) => {
    const logs = list.map(parseLog);
    const isRequested = (log: NodeLog) =>
      log.address === asset && log.topics[1] === addressToTopic(payer) && log.topics[2] === nonce;
    if (!logs.every(isRequested)) throw malformedResponse("a log was not requested");
    return logs;
  });
  return node.request(call, options);
}
