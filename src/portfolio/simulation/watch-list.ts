// Lists what a simulation reads before and after: balances, allowances, operators and allowances in Permit2, with a limit on each.

import { TRANSFER_TOPIC } from "../../chain/logs/get-logs.ts";
import { topicToAddress } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import { PERMIT2 } from "../exposure/revocations.ts";
import { type Grant, listGrants } from "./grants.ts";
import {
  APPROVAL,
  APPROVAL_FOR_ALL,
  findFunction,
  listAddresses,
  listTokensWithin,
  PERMIT2_APPROVAL,
  PERMIT2_PERMIT,
  readArgument,
  TRANSFERS_OF_ITEMS,
} from "./known-calls.ts";
import type { CallLog, Preview } from "./preview.ts";
import type { WalletCall } from "./request.ts";

/** A value that a view tells: a balance of an account, or what the wallet permits a spender. */
export type Watched =
  | { readonly kind: "balance"; readonly token: Hex; readonly account: Hex }
  | Grant
  | { readonly kind: "permit2"; readonly token: Hex; readonly spender: Hex };

export type WatchList = {
  /** Accounts whose native balance is read; the wallet first. */
  readonly accounts: readonly Hex[];
  readonly views: readonly Watched[];
  /** Something was left out, because there was too much of it. */
  readonly isCut: boolean;
  /** Items of ERC-1155 moved, which are not counted. */
  readonly movesItems: boolean;
};

// The gas of a call suffices for as many views before and after, if none of them burns its share.
const VIEWS_MAX = 160;
const ACCOUNTS_MAX = 32;

type WatchOptions = {
  readonly wallet: Hex;
  readonly calls: readonly WalletCall[];
  readonly preview: Preview | null;
  readonly tokens: ReadonlyMap<Hex, unknown>;
};

export function createWatchList({ wallet, calls, preview, tokens }: WatchOptions): WatchList {
  const runs = (preview?.runs ?? []).flatMap((run) => run ?? []);
  const logs = runs.flatMap((run) => run.logs);
  const found = distinct([
    ...calls.flatMap((call) => watchCall(wallet, call)),
    ...logs.flatMap((log) => watchLog(wallet, log)),
    ...calls.flatMap(listGrants),
    ...calls.flatMap((call) => guessTokens(call, tokens).map((token) => balanceOf(token, wallet))),
  ]);
  const views = distinct([...found, ...watchTargets(wallet, calls, found)]);
  const accounts = [
    ...new Set([
      wallet,
      ...calls.map(({ to }) => to),
      ...runs.flatMap(({ payments }) => listPayees(payments)),
    ]),
  ];
  return {
    accounts: accounts.slice(0, ACCOUNTS_MAX),
    views: views.slice(0, VIEWS_MAX),
    isCut: views.length > VIEWS_MAX || accounts.length > ACCOUNTS_MAX || runs.some(({ isCut }) => isCut),
    movesItems: logs.some(({ topics: [event] }) => TRANSFERS_OF_ITEMS.includes(event as Hex)),
  };
}

function listPayees(payments: readonly { readonly from: Hex; readonly to: Hex }[]): readonly Hex[] {
  return payments.flatMap(({ from, to }) => [from, to]);
}

const balanceOf = (token: Hex, account: Hex): Watched => ({ kind: "balance", token, account });

/** The meaning of a call that we know, at its target. */
function watchCall(wallet: Hex, call: WalletCall): readonly Watched[] {
  const { spender, operator, permit2, receiver } = findFunction(call) ?? {};
  const [spends, operates, receives] = [spender, operator, receiver].map((each) => readArgument(call, each));
  const [token, taker] = (permit2 ?? []).map((each) => readArgument(call, each));
  return [
    balanceOf(call.to, wallet),
    ...(spends ? [{ kind: "allowance", token: call.to, spender: spends } as const] : []),
    ...(operates ? [{ kind: "operator", token: call.to, spender: operates } as const] : []),
    ...(receives ? [balanceOf(call.to, receives)] : []),
    ...(token && taker && call.to === PERMIT2 ? watchPermit2(wallet, token, taker) : []),
  ];
}

function watchPermit2(wallet: Hex, token: Hex, spender: Hex): readonly Watched[] {
  return [{ kind: "permit2", token, spender }, balanceOf(token, wallet)];
}

function watchLog(wallet: Hex, { address, topics }: CallLog): readonly Watched[] {
  const [event, ...indexed] = topics;
  const [first, second, third] = indexed.map(topicToAddress);
  if (!first || !second) return [];
  if (event === TRANSFER_TOPIC) {
    return [first, second]
      .filter((account) => account !== ZERO)
      .map((account) => balanceOf(address, account));
  }
  if (first !== wallet) return [];
  if (event === APPROVAL && indexed.length === 2) {
    return [{ kind: "allowance", token: address, spender: second }, balanceOf(address, wallet)];
  }
  if (event === APPROVAL && indexed.length === 3) {
    return [{ kind: "item", token: address, spender: second, tokenId: BigInt(indexed[2] ?? 0) }];
  }
  if (event === APPROVAL_FOR_ALL) {
    return [{ kind: "operator", token: address, spender: second }, balanceOf(address, wallet)];
  }
  const isPermit2 = address === PERMIT2 && (event === PERMIT2_APPROVAL || event === PERMIT2_PERMIT);
  return isPermit2 && third ? watchPermit2(wallet, second, third) : [];
}

const ZERO: Hex = `0x${"0".repeat(40)}`;

/** The target, and what stands in the call data, may be tokens of which the logs say nothing. */
function guessTokens(call: WalletCall, tokens: ReadonlyMap<Hex, unknown>): readonly Hex[] {
  return [...listTokensWithin(call, tokens), ...listAddresses(call)];
}

// A list that touches more is cut anyway.
const SPENT_TOKENS_MAX = 16;

/** A token that a target takes is spent from its allowance, mostly without a log, and may stay with it. */
function watchTargets(
  wallet: Hex,
  calls: readonly WalletCall[],
  found: readonly Watched[],
): readonly Watched[] {
  const held = found.filter((view) => view.kind === "balance" && view.account === wallet);
  const tokens = [...new Set(held.map(({ token }) => token))].slice(0, SPENT_TOKENS_MAX);
  const targets = new Set(calls.map(({ to }) => to));
  return [...targets].flatMap((spender) =>
    tokens
      .filter((token) => token !== spender)
      .flatMap((token) => [{ kind: "allowance", token, spender } as const, balanceOf(token, spender)]),
  );
}

/** Each once, the first ones first. */
export function mergeViews(first: readonly Watched[], others: readonly Watched[]): readonly Watched[] {
  return distinct([...first, ...others]);
}

function distinct(views: readonly Watched[]): readonly Watched[] {
  return [...new Map(views.map((view) => [keyOf(view), view])).values()];
}

function keyOf({ kind, token, ...view }: Watched): string {
  return [kind, token, ...Object.values(view)].join(" ");
}
