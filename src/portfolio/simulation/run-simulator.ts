// The call that puts our simulator at the wallet's address: it encodes what to do, and decodes what came of it.
import {
  transactionSimulatorAbi as abi,
  transactionSimulatorRuntimeBytecode as code,
} from "@sextant/contracts/generated/transaction-simulator";
import { malformedResponse } from "../../chain/rpc/errors.ts";
import { readData, toQuantity } from "../../chain/rpc/hex-values.ts";
import type { RpcCall } from "../../chain/rpc/types.ts";
import { createFunctionCodec, createSignatureCodec, type FunctionCodec } from "../../lib/abi/codec.ts";
import { nullIfMalformed } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import { findDelegate } from "../account/kind.ts";
import { PERMIT2, toAccountPrefix } from "../exposure/revocations.ts";
import type { PositionView } from "./grants.ts";
import { TRANSACTION_GAS_MAX } from "./preview.ts";
import type { WalletCall } from "./request.ts";
import type { Watched, WatchList } from "./watch-list.ts";

/** The address of the wallet's own code meanwhile; the contract has the same constant. */
const SHADOW: Hex = "0x5e87a9705ca99e12c0de1e970000000000005ad0";

// The block gas limit of Ethereum for years: no node rejects a call for it. The contract sees what a node gives it.
const SIMULATION_GAS_MAX = 30_000_000;
// Aave's tokens need about 60,000 behind their proxies.
const VIEW_GAS_MAX = 150_000;
const RETURNED_BYTES_MAX = 1_024;

export type SimulatedOutcome = {
  readonly success: boolean;
  /** Less than a transaction may use where others before it used the gas of the call. */
  readonly gasGiven: bigint;
  /** Without the base cost of a transaction. */
  readonly gasUsed: bigint;
  readonly returnData: Hex;
};

/** The words of a view; null if it failed or returned none. */
type Words = readonly [bigint, bigint, bigint] | null;

/** Balances by account, and words by view, in the order of the watch list. */
type WatchedState = { readonly balances: readonly bigint[]; readonly words: readonly Words[] };

export type SimulatorResult = {
  readonly before: WatchedState;
  readonly outcomes: readonly SimulatedOutcome[];
  readonly after: WatchedState;
  /** The gas of the call sufficed for every view. */
  readonly isComplete: boolean;
};

const simulate = createFunctionCodec(abi, "simulate");

const views = {
  balance: createSignatureCodec("function balanceOf(address) view returns (uint256)"),
  allowance: createSignatureCodec("function allowance(address,address) view returns (uint256)"),
  operator: createSignatureCodec("function isApprovedForAll(address,address) view returns (bool)"),
  item: createSignatureCodec("function getApproved(uint256) view returns (address)"),
  borrow: createSignatureCodec("function borrowAllowance(address,address) view returns (uint256)"),
  permit2: createSignatureCodec(
    "function allowance(address,address,address) view returns (uint160,uint48,uint48)",
  ),
};

const positions: Readonly<Record<PositionView, string>> = {
  comet: "isAllowed",
  morpho: "isAuthorized",
  venus: "approvedDelegates",
  balancer: "hasApprovedRelayer",
  maker: "can",
  erc6909: "isOperator",
  erc777: "isOperatorFor",
  euler: "getOperator",
};
const positionViews = new Map(
  Object.entries(positions).map(([view, name]) => [
    view,
    createSignatureCodec(
      `function ${name}(${view === "euler" ? "bytes19" : "address"},address) view returns (uint256)`,
    ) as FunctionCodec,
  ]),
);

function encodePosition(wallet: Hex, view: PositionView, spender: Hex): Hex {
  const first = view === "euler" ? toAccountPrefix(wallet) : wallet;
  const pair = view === "erc777" ? [spender, wallet] : [first, spender];
  return positionViews.get(view)?.encodeCall(pair) ?? "0x";
}

function encodeView(wallet: Hex, view: Watched): { readonly target: Hex; readonly data: Hex } {
  const { kind, token } = view;
  if (kind === "balance") return { target: token, data: views.balance.encodeCall([view.account]) };
  if (kind === "allowance")
    return { target: token, data: views.allowance.encodeCall([wallet, view.spender]) };
  if (kind === "operator") return { target: token, data: views.operator.encodeCall([wallet, view.spender]) };
  if (kind === "item") return { target: token, data: views.item.encodeCall([view.tokenId]) };
  if (kind === "borrow") return { target: token, data: views.borrow.encodeCall([wallet, view.spender]) };
  if (kind === "position") return { target: token, data: encodePosition(wallet, view.view, view.spender) };
  return { target: PERMIT2, data: views.permit2.encodeCall([wallet, token, view.spender]) };
}

type SimulatorOptions = {
  readonly wallet: Hex;
  readonly calls: readonly WalletCall[];
  readonly watched: Pick<WatchList, "accounts" | "views">;
  readonly block: number;
  /** The code that the wallet has by itself. */
  readonly ownCode: Hex;
};

export function simulatorCall(options: SimulatorOptions): RpcCall<SimulatorResult> {
  const { wallet, calls, watched, block, ownCode } = options;
  const request = {
    accounts: watched.accounts,
    reads: watched.views.map((view) => encodeView(wallet, view)),
    calls: calls.map(({ to, value, data }) => ({ target: to, value, data })),
    gasPerRead: BigInt(VIEW_GAS_MAX),
    gasPerCall: BigInt(TRANSACTION_GAS_MAX),
    bytesMax: BigInt(RETURNED_BYTES_MAX),
  };
  const call = {
    from: wallet,
    to: wallet,
    data: simulate.encodeCall([request]),
    gas: toQuantity(SIMULATION_GAS_MAX),
  };
  const shadow = ownCode === "0x" ? {} : { [SHADOW]: { code: forwardDelegate(ownCode) } };
  const overrides = { [wallet]: { code }, ...shadow };
  return {
    method: "eth_call",
    params: [call, toQuantity(block), overrides],
    parse: (result) => decodeSimulation(readData(result, "the simulation"), options),
  };
}

/** A delegation (EIP-7702) as a proxy (ERC-1167), which every node runs at an address of an override. */
function forwardDelegate(ownCode: Hex): Hex {
  const delegate = findDelegate(ownCode);
  if (delegate === null) return ownCode;
  return `0x363d3d373d3d3d363d73${delegate.slice(2)}5af43d82803e903d91602b57fd5bf3`;
}

type ReturnedState = {
  readonly balances: readonly bigint[];
  readonly views: readonly Readonly<Record<"size" | "first" | "second" | "third", bigint>>[];
};

function decodeSimulation(returnData: Hex, { calls, watched }: SimulatorOptions): SimulatorResult {
  const decoded = nullIfMalformed(() => simulate.decodeResult(returnData));
  if (decoded === null) throw malformedResponse("the simulation is not what our code returns");
  const [start, outcomes, end] = decoded;
  if (outcomes.length !== calls.length)
    throw malformedResponse("the simulation made another number of calls");
  const isComplete = [start, end].every(({ views }) => views.every(({ size }) => size !== NOT_MADE));
  return { before: readState(start, watched), outcomes, after: readState(end, watched), isComplete };
}

const WORD_BYTES = 32n;
// A view that failed says so with the largest number.
const FAILED = 2n ** 256n - 1n;
// One for which too little gas was left.
const NOT_MADE = FAILED - 1n;

function readState({ balances, views }: ReturnedState, watched: SimulatorOptions["watched"]): WatchedState {
  if (balances.length !== watched.accounts.length || views.length !== watched.views.length) {
    throw malformedResponse("the simulation read another number of views");
  }
  const words = views.map(
    ({ size, first, second, third }): Words =>
      size < WORD_BYTES || size >= NOT_MADE ? null : [first, second, third],
  );
  return { balances, words };
}
