// Simulates transactions of a wallet: a first run shows what to read, our simulator at its address measures, and rules judge.
import { findChainById } from "../../chain/chains/chains.ts";
import { toCaip2Network } from "../../lib/caip2.ts";
import { formatDecimal } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import { keepPresent } from "../../lib/lists.ts";
import type { Simulation } from "../../schema/portfolio/simulation.ts";
import type { SpenderList } from "../exposure/spenders.ts";
import { collectPrices, prefetchPrices } from "../prices/collect-prices.ts";
import { describeHoldings, readMetadata } from "../tokens/metadata.ts";
import type { Asset, PinnedChain, PortfolioChain, PriceSource } from "../types.ts";
import { isListed } from "../types.ts";
import { crossCheck } from "./cross-check.ts";
import {
  describeChange,
  describePermission,
  describeReceiver,
  type EffectContext,
  listReceived,
  type RawEffects,
  readEffects,
  sumValue,
  valueInUsd,
} from "./effects.ts";
import { findReasons } from "./judge.ts";
import { findAlike } from "./known-accounts.ts";
import { decodeRevert, findFunction } from "./known-calls.ts";
import type { TransactionsQuery } from "./request.ts";
import { delegateOf, type NodeRun, runOnNode } from "./run-on-node.ts";
import { createReason, decideVerdict } from "./verdict.ts";

type SimulationServices = {
  readonly chains: ReadonlyMap<string, PortfolioChain>;
  readonly priceSources: readonly (readonly PriceSource[])[];
  readonly spenders: SpenderList;
};

/** Rejects, and so costs nothing, if no node can run it. */
export async function simulateTransactions(
  services: SimulationServices,
  query: TransactionsQuery,
  signal: AbortSignal,
): Promise<Simulation> {
  const access = services.chains.get(query.slug);
  if (access === undefined) throw new Fault("INPUT_INVALID", `Chain ${query.slug} is not served.`);
  const at = await access.pin(signal, query.block, query.wallet);
  const place = { number: at.block.number, isPast: query.block !== undefined };
  const asked = { query, block: at.block, chain: at.chain };
  const run = await access.tryNodes?.(place, (node) => runOnNode(node, asked, signal), signal);
  if (run == null) {
    const message = `No node of ${at.chain.name} can simulate: each needs state overrides in eth_call.`;
    throw new Fault("NODE_REFUSED", message);
  }
  return describeRun(services, { at, query, run }, signal);
}

type Ran = { readonly at: PinnedChain; readonly query: TransactionsQuery; readonly run: NodeRun };

async function describeRun(services: SimulationServices, ran: Ran, signal: AbortSignal): Promise<Simulation> {
  const { at, query, run } = ran;
  const { wallet, calls } = query;
  const effects = readEffects(wallet, run.watched, run.result);
  const { context, warnings } = await readContext(services, ran, effects, signal);
  const checked = crossCheck(run.preview, {
    realistic: run.realistic,
    wallet,
    outcomes: run.result.outcomes,
    changes: effects.changes,
    isListed: (contract) => isListed(at.chain, { contract }),
  });
  const received = listReceived(wallet, effects.changes);
  const suspects = [
    ...received.map(({ account }) => account),
    ...effects.permissions.map(({ spender }) => spender),
  ];
  const lookalikes = findAlike(suspects, {
    ...{ wallet, chain: at.chain, spenders: context.spenders },
    transfers: run.transfers ?? [],
  });
  const gas = measureGas(context, ran);
  const evidence = {
    ...{ context, calls, effects, targets: run.targets, lookalikes },
    outcomes: run.result.outcomes,
    agrees: checked.agrees,
    ...run.resale,
    runs: run.preview?.runs.slice(0, run.preview.exactCount) ?? [],
    isPartial: run.watched.isCut || run.watched.movesItems || !run.result.isComplete,
  };
  const reasons = [
    ...findReasons(evidence),
    ...checked.reasons,
    ...(cannotPay(ran, gas.feeWei) ? [createReason("cannot-pay-gas")] : []),
  ];
  const isOwn = ({ account }: { readonly account: Hex }) => Number(account !== wallet);
  return {
    wallet,
    chain: at.chain.slug,
    chainId: toCaip2Network(at.chain.chainId),
    block: { number: at.block.number, hash: at.block.hash, timestamp: formatTime(at.block.timestamp) },
    ...decideVerdict(reasons),
    success: run.result.outcomes.every(({ success }) => success),
    transactions: describeTransactions(ran),
    message: null,
    gas,
    balanceChanges: [...effects.changes]
      .sort((a, b) => isOwn(a) - isOwn(b))
      .map((each) => describeChange(context, each)),
    permissionChanges: effects.permissions.map((each) => describePermission(context, each)),
    receivers: received.map((each) => describeReceiver(context, each, lookalikes.get(each.account) ?? null)),
    targets: run.targets.map((target) => describeTarget(context, target)),
    value: sumValue(context, effects.changes),
    crossCheck: { method: run.preview?.method ?? null, agrees: checked.agrees },
    warnings: [...describeLimits(ran), ...checked.warnings, ...warnings],
  };
}

function formatTime(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}

const UNKNOWN_TOKEN = { symbol: null, name: null, decimals: null, logo: null };

/** Names, decimals and prices of whatever the wallet gains, loses or permits. */
async function readContext(
  { priceSources, spenders }: SimulationServices,
  { at, query, run }: Ran,
  { changes, permissions }: RawEffects,
  signal: AbortSignal,
): Promise<{ readonly context: EffectContext; readonly warnings: readonly string[] }> {
  const contracts = [
    ...new Set([
      ...changes.flatMap(({ contract }) => contract ?? []),
      ...permissions.map(({ token }) => token),
    ]),
  ];
  const native = { contract: null, ...at.chain.native, logo: null };
  const holdings = contracts.map((contract) => ({ ...UNKNOWN_TOKEN, contract, rawBalance: 0n }));
  const [metadata] = await Promise.all([
    readMetadata(at, contracts, signal),
    // In the same request.
    prefetchPrices(priceSources, { at, assets: [native, ...holdings] }, signal),
  ]);
  const described = describeHoldings(at.chain, holdings, metadata);
  const known = new Map(described.holdings.map((holding) => [holding.contract, holding]));
  const assetOf = (contract: Hex | null): Asset =>
    contract === null ? native : (known.get(contract) ?? { ...UNKNOWN_TOKEN, contract });
  const assets = [null, ...contracts].map(assetOf);
  const { prices, warnings } = await collectPrices(priceSources, { at, assets }, signal);
  const context = {
    ...{ wallet: query.wallet, chain: at.chain, assetOf, prices, codes: run.codes },
    targets: new Set(query.calls.map(({ to }) => to)),
    spenders: spenders.onChain(at.chain.chainId),
  };
  return { context, warnings: [...described.warnings, ...warnings] };
}

// The base cost of a transaction, and of a byte of its data.
const BASE_GAS = 21_000n;
const ZERO_BYTE_GAS = 4n;
const BYTE_GAS = 16n;
/** On a chain of which nothing is known. */
const TIP_ELSEWHERE = 1_000_000n;

function baseCostOf(data: Hex): bigint {
  let cost = BASE_GAS;
  for (let at = 2; at < data.length; at += 2) cost += data.startsWith("00", at) ? ZERO_BYTE_GAS : BYTE_GAS;
  return cost;
}

/** Takes the first run if it started from the same state, else the simulator, whose reads make some of it cheaper. */
function gasOf({ query, run }: Ran, index: number): bigint {
  const previewed = index < (run.preview?.exactCount ?? 0) ? run.preview?.runs[index]?.gasUsed : undefined;
  const measured = (run.result.outcomes[index]?.gasUsed ?? 0n) + baseCostOf(query.calls[index]?.data ?? "0x");
  return previewed ?? measured;
}

function measureGas(context: EffectContext, ran: Ran): Simulation["gas"] {
  const { query, run } = ran;
  const used = query.calls.reduce((sum, _, index) => sum + gasOf(ran, index), 0n);
  const tip = findChainById(context.chain.chainId)?.usualTip ?? TIP_ELSEWHERE;
  const gasPrice = run.baseFee === null ? null : run.baseFee + tip;
  const fee = gasPrice === null ? null : used * gasPrice;
  const value = fee === null ? null : valueInUsd(context, null, fee);
  return {
    used: used.toString(),
    gasPriceWei: gasPrice === null ? null : gasPrice.toString(),
    feeWei: fee === null ? null : fee.toString(),
    feeUsd: value && formatDecimal(value),
  };
}

/** An account with code may have its fee paid by someone else. */
function cannotPay({ run }: Ran, feeWei: string | null): boolean {
  const [left = 0n] = run.result.after.balances;
  return run.ownCode === "0x" && feeWei !== null && left < BigInt(feeWei);
}

function describeTransactions(ran: Ran): Simulation["transactions"] {
  const { query, run } = ran;
  return run.result.outcomes.map(({ success, returnData }, index) => {
    const call = query.calls[index];
    return {
      to: call?.to ?? query.wallet,
      rawValue: (call?.value ?? 0n).toString(),
      function: (call && findFunction(call)?.name) ?? null,
      success,
      revert: success ? null : { reason: decodeRevert(returnData), data: returnData },
      gasUsed: gasOf(ran, index).toString(),
    };
  });
}

function describeTarget(
  { chain, spenders }: EffectContext,
  target: NodeRun["targets"][number],
): Simulation["targets"][number] {
  const { address, code, implementation, comparedBlock, changed } = target;
  const spender = spenders.byAddress.get(address);
  const token = chain.tokens.get(address);
  return {
    address,
    name: spender?.name ?? token?.symbol ?? null,
    listedAs: spender ? "spender" : token ? "token" : null,
    codeBytes: (code.length - 2) / 2,
    delegate: delegateOf(target),
    implementation,
    unchangedSinceBlock: changed === false ? comparedBlock : null,
    changed,
  };
}

function describeLimits({ run, at }: Ran): readonly string[] {
  const { preview, watched, ownCode, transfers } = run;
  return keepPresent(
    preview === null &&
      `${at.chain.name}: the node has neither eth_simulateV1 nor debug_traceCall, so that tokens come from the call data only, and nothing confirms the result.`,
    ownCode !== "0x" &&
      "The account has code: the calls are made as if it made them itself. Its own checks of signatures, owners and modules are not run.",
    watched.isCut && "More balances and permissions were touched than are read; some may be missing.",
    watched.movesItems && "Items of ERC-1155 moved; they are not counted.",
    transfers === null &&
      "Recent transfers of the wallet could not be searched: receivers were compared with our lists only.",
    "During the simulation the wallet seems to have code, and time stands still at the block.",
  );
}
