// The requests of a simulation to one node: what stands at the addresses and a first run, then the simulator itself.

import { baseFeeCall, canonicalHeaderCall } from "../../chain/headers.ts";
import { type TokenTransfer, transfersCall } from "../../chain/logs/get-logs.ts";
import { codeCall } from "../../chain/proofs/proof-calls.ts";
import { readBigQuantity, toQuantity } from "../../chain/rpc/hex-values.ts";
import { batchGroups, type PinnedRpc, type RpcCall, type RpcResult } from "../../chain/rpc/types.ts";
import type { Hex } from "../../lib/hex.ts";
import { findDelegate, IMPLEMENTATION_SLOT, toStoredAddress } from "../account/kind.ts";
import type { ChainConfig, PinnedBlock } from "../types.ts";
import { type Preview, type PreviewRun, realisticCall, simulateCall, traceCall } from "./preview.ts";
import type { TransactionsQuery } from "./request.ts";
import { callResales, judgeResales, listResales, type ResaleFindings, watchResales } from "./resale.ts";
import { type SimulatorResult, simulatorCall } from "./run-simulator.ts";
import { createWatchList, mergeViews, type WatchList } from "./watch-list.ts";

/** A called contract or account. */
type Target = {
  readonly address: Hex;
  readonly code: Hex;
  readonly implementation: Hex | null;
  /** The block that it was compared with; null if no state of it could be read. */
  readonly comparedBlock: number | null;
  readonly changed: boolean | null;
};

export type NodeRun = {
  readonly ownCode: Hex;
  readonly targets: readonly Target[];
  readonly preview: Preview | null;
  /** The first transaction at a real gas price; null if the node did not run it, or the wallet cannot pay for it. */
  readonly realistic: PreviewRun | null;
  readonly watched: WatchList;
  readonly result: SimulatorResult;
  readonly resale: ResaleFindings;
  readonly baseFee: bigint | null;
  /** Recent transfers of the wallet; null if the node does not search as many blocks. */
  readonly transfers: readonly TokenTransfer[] | null;
  /** The code of each account that gets a permission or a token; missing for one that could not be read. */
  readonly codes: ReadonlyMap<Hex, Hex>;
};

// Within the 128 blocks of which every node has the state.
const EARLIER_BLOCKS = 100;
// Public nodes search no more.
const SEARCHED_BLOCKS = 10_000;
const CODES_MAX = 32;

type NodeQuery = {
  readonly query: TransactionsQuery;
  readonly block: PinnedBlock;
  readonly chain: ChainConfig;
};

/** Two requests. Null if the node cannot override code, so that another one may. */
export async function runOnNode(
  node: PinnedRpc,
  asked: NodeQuery,
  signal: AbortSignal,
): Promise<NodeRun | null> {
  const { query, block, chain } = asked;
  const { wallet, calls } = query;
  const stage = await readStage(node, asked, signal);
  const resales = listResales(wallet, stage.preview, chain.tokens);
  const found = createWatchList({ wallet, calls, preview: stage.preview, tokens: chain.tokens });
  // Views of the resales come first, so that both runs have them at the same positions.
  const resaleViews = watchResales(wallet, resales);
  const watched = { ...found, views: mergeViews(resaleViews, found.views) };
  const common = { wallet, block: block.number, ownCode: stage.ownCode };
  const run = simulatorCall({ ...common, calls, watched });
  const again = simulatorCall({
    ...{ ...common, calls: [...calls, ...callResales(resales)] },
    watched: { accounts: [], views: resaleViews },
  });
  const others = listOthers(wallet, watched);
  const [[simulated], [resold], [header], codes, [realistic]] = await batchGroups(
    node,
    [
      [run],
      resales.length === 0 ? [] : [again],
      [canonicalHeaderCall(block.number, block.hash)],
      others.map((each) => codeCall(each, block.number)),
      listRealistic(query, block, stage),
    ],
    { signal },
  );
  if (header !== undefined && "error" in header) throw header.error;
  if (simulated === undefined || "error" in simulated) return null;
  const known = [...stage.targets.map(({ address, code }) => [address, code] as const)];
  const read = others.flatMap((address, index) => {
    const code = codes[index];
    return code !== undefined && "ok" in code ? [[address, code.ok] as const] : [];
  });
  const result = simulated.ok;
  const tried = resultOf(resold);
  const resale =
    tried === null
      ? { unsellable: resales.map(({ token }) => token), taxed: [] }
      : judgeResales(resales, calls.length, result, tried);
  return {
    ...stage,
    realistic: resultOf(realistic),
    watched,
    result,
    resale,
    codes: new Map([...read, ...known]),
  };
}

// Any price will do: code can tell a simulation by one of zero.
const TIP = 1n;

function listRealistic({ wallet, calls }: TransactionsQuery, { number }: PinnedBlock, stage: Stage) {
  const [[call], [run]] = [calls, stage.preview?.runs ?? []];
  if (call === undefined || run == null || stage.baseFee === null || stage.preview?.exactCount === 0)
    return [];
  return [realisticCall({ wallet, block: number, gasPrice: stage.baseFee + TIP }, call, run)];
}

/** Accounts and spenders that the simulation may name. */
function listOthers(wallet: Hex, { accounts, views }: WatchList): readonly Hex[] {
  const named = views.map((view) => (view.kind === "balance" ? view.account : view.spender));
  return [...new Set([...named, ...accounts])].filter((each) => each !== wallet).slice(0, CODES_MAX);
}

type Stage = Pick<NodeRun, "ownCode" | "targets" | "preview" | "baseFee" | "transfers">;

async function readStage(node: PinnedRpc, { query, block }: NodeQuery, signal: AbortSignal): Promise<Stage> {
  const { wallet, calls } = query;
  const { number, hash } = block;
  const addresses = [...new Set(calls.map(({ to }) => to))];
  const earlier = Math.max(0, number - EARLIER_BLOCKS);
  const describe = (address: Hex, at: number) => [codeCall(address, at), implementationCall(address, at)];
  const range = { wallet, fromBlock: Math.max(0, number - SEARCHED_BLOCKS), toBlock: number };
  const groups = [
    [canonicalHeaderCall(number, hash)],
    [codeCall(wallet, number)],
    [baseFeeCall(hash)],
    addresses.flatMap((address) => describe(address, number)),
    addresses.flatMap((address) => describe(address, earlier)),
    [simulateCall({ wallet, calls, block: number })],
    calls.map((call) => traceCall({ wallet, block: number }, call)),
    [transfersCall({ ...range, side: "from" }), transfersCall({ ...range, side: "to" })],
  ] as const;
  const [[header], [own], [fee], now, before, [simulated], traces, found] = await batchGroups(node, groups, {
    signal,
  });
  if (header !== undefined && "error" in header) throw header.error;
  if (own !== undefined && "error" in own) throw own.error;
  const targets = addresses.map((address, index) => {
    const [current, past] = [now, before].map((side) => side.slice(2 * index, 2 * index + 2));
    return describeTarget(address, { current: current ?? [], past: past ?? [], earlier });
  });
  const transfers = found.map(resultOf);
  return {
    ownCode: resultOf(own) ?? "0x",
    targets,
    preview: choosePreview(resultOf(simulated), traces.map(resultOf)),
    baseFee: resultOf(fee),
    transfers: transfers.includes(null) ? null : transfers.flatMap((each) => each ?? []),
  };
}

function resultOf<T>(result: RpcResult<T> | undefined): T | null {
  return result !== undefined && "ok" in result ? result.ok : null;
}

function choosePreview(simulated: Preview["runs"] | null, traces: Preview["runs"]): Preview | null {
  if (simulated !== null) return { method: "eth_simulateV1", runs: simulated, exactCount: simulated.length };
  if (traces.every((each) => each === null)) return null;
  return { method: "debug_traceCall", runs: traces, exactCount: traces[0] === null ? 0 : 1 };
}

function implementationCall(address: Hex, block: number): RpcCall<Hex> {
  return {
    method: "eth_getStorageAt",
    params: [address, `0x${IMPLEMENTATION_SLOT.toString(16)}`, toQuantity(block)],
    parse: (word) => toStoredAddress(readBigQuantity(word, "the implementation")) ?? "0x",
  };
}

type TargetReads = {
  readonly current: readonly RpcResult<Hex>[];
  readonly past: readonly RpcResult<Hex>[];
  readonly earlier: number;
};

function describeTarget(address: Hex, { current, past, earlier }: TargetReads): Target {
  const [code, implementation] = current.map(resultOf);
  const [pastCode, pastImplementation] = past.map(resultOf);
  const isCompared = pastCode != null && pastImplementation != null;
  // New code is not changed code: an account that had none was nothing to rely on.
  const changed =
    isCompared && pastCode !== "0x" ? pastCode !== code || pastImplementation !== implementation : null;
  return {
    address,
    code: code ?? "0x",
    implementation: implementation == null || implementation === "0x" ? null : implementation,
    comparedBlock: isCompared ? earlier : null,
    changed,
  };
}

/** The delegate of an account, by its code. */
export function delegateOf({ code }: Pick<Target, "code">): Hex | null {
  return findDelegate(code);
}
