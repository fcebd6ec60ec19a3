// Computes the cost of transactions on a chain at the pinned block: base fee, an assumed tip, and the fee for data on the parent chain.
import { findChainById } from "../../chain/chains/chains.ts";
import { decodeWord, decodeWords } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { readGroups } from "../contract-reads/read-groups.ts";
import { defineRead } from "../contract-reads/reads.ts";
import { ACCOUNT_MS_MAX, runWithinBudget } from "../time-budgets.ts";
import type { PinnedChain } from "../types.ts";

/** In wei. */
export type GasCosts = {
  readonly gasPrice: bigint;
  readonly transferCost: bigint;
  readonly tokenTransferCost: bigint;
};
type GasResult = { readonly gas: GasCosts | null; readonly warnings: readonly string[] };

const TRANSFER = { gas: 21_000n, dataBytes: 120n } as const;
/** To an account that did not hold the token; most tokens need less. */
const TOKEN_TRANSFER = { gas: 65_000n, dataBytes: 190n } as const;

/** On a chain of which nothing is known. */
const TIP_ELSEWHERE = 1_000_000n;

const OP_GAS_PRICE_ORACLE: Hex = "0x420000000000000000000000000000000000000f";
const ARBITRUM_NODE_INTERFACE: Hex = "0x00000000000000000000000000000000000000c8";
/** Any address with digits that do not compress well. */
const SAMPLE_ADDRESS: Hex = "0x5e87a9705ca99e12c0de1e97b3d5a4f9c1c0de37";
const SAMPLE_TOKEN_TRANSFER: Hex = `0xa9059cbb${SAMPLE_ADDRESS.slice(2).padStart(64, "0")}${"9a7c".padStart(64, "0")}`;

/** More than calls may use that are bundled: the interface of Arbitrum exists for calls from outside only. */
const SINGLE_CALL_GAS = 10_000_000;

/** Declares a view that tells the fee in wei, if need be by the base fee. */
function defineFee(signature: string, toFee: (data: Hex | null, baseFee: bigint) => bigint | null) {
  return defineRead(
    signature,
    // Without any code there it is a copy of the chain that has no parent, such as a local one.
    (data) => (baseFee: bigint) => (data === "0x" ? 0n : toFee(data, baseFee)),
    SINGLE_CALL_GAS,
  );
}

const getL1FeeUpperBound = defineFee("function getL1FeeUpperBound(uint256)", decodeWord);
const gasEstimateL1Component = defineFee(
  "function gasEstimateL1Component(address, bool, bytes)",
  (data, baseFee) => {
    const [gas] = decodeWords(data, 3) ?? [];
    return gas === undefined ? null : gas * baseFee;
  },
);

const OP_STACK = {
  transfer: getL1FeeUpperBound(OP_GAS_PRICE_ORACLE, [TRANSFER.dataBytes]),
  tokenTransfer: getL1FeeUpperBound(OP_GAS_PRICE_ORACLE, [TOKEN_TRANSFER.dataBytes]),
};
const ARBITRUM: typeof OP_STACK = {
  transfer: gasEstimateL1Component(ARBITRUM_NODE_INTERFACE, [SAMPLE_ADDRESS, false, "0x"]),
  tokenTransfer: gasEstimateL1Component(ARBITRUM_NODE_INTERFACE, [
    SAMPLE_ADDRESS,
    false,
    SAMPLE_TOKEN_TRANSFER,
  ]),
};
const DATA_FEES = { "op-stack": OP_STACK, arbitrum: ARBITRUM };

/** The same for the same block: nothing here moves with the node's pool of transactions. */
export async function readGas(
  at: PinnedChain,
  signal: AbortSignal,
  budgetMs: number = ACCOUNT_MS_MAX,
): Promise<GasResult> {
  const outcome = await runWithinBudget((stop) => readCosts(at, stop), budgetMs, signal);
  const gas = "value" in outcome ? outcome.value : null;
  const warning = `What transactions cost on ${at.chain.name} is unknown: its fees could not be read.`;
  return { gas, warnings: gas === null ? [warning] : [] };
}

async function readCosts(at: PinnedChain, signal: AbortSignal): Promise<GasCosts | null> {
  const info = findChainById(at.chain.chainId);
  const [baseFee, fees] = await Promise.all([
    at.baseFee(signal),
    readGroups(at, signal, info?.dataFee ? DATA_FEES[info.dataFee] : null),
  ]);
  if (baseFee === null) return null;
  const transferFee = fees === null ? 0n : fees.transfer(baseFee);
  const tokenTransferFee = fees === null ? 0n : fees.tokenTransfer(baseFee);
  if (transferFee === null || tokenTransferFee === null) return null;
  const gasPrice = baseFee + (info?.usualTip ?? TIP_ELSEWHERE);
  return {
    gasPrice,
    transferCost: TRANSFER.gas * gasPrice + transferFee,
    tokenTransferCost: TOKEN_TRANSFER.gas * gasPrice + tokenTransferFee,
  };
}
