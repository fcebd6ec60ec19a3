// Everything a simulation acts on: a chain with the contracts, wallets, random numbers, and time.

import type { LocalDeployment } from "@sextant/contracts/deploy/deployment";
import type { RpcRequestFunction } from "@sextant/contracts/deploy/rpc-request";
import {
  currentFees,
  type TransactionCall,
  type TransactionReceipt,
} from "@sextant/contracts/deploy/transaction";
import { LOCAL_ACCOUNT_NAMES, type LocalAccountName, localAccount } from "@sextant/local-chain/accounts";
import { type Address, createPublicClient, custom, type PrivateKeyAccount, type PublicClient } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { Random } from "./random.ts";
import { chainTimeline, type Timeline } from "./timeline.ts";
import { type TransactionCounters, TransactionSender } from "./transaction-sender.ts";

/** Sender of a call: a wallet, or a contract that a wallet controls. */
export type Actor = {
  readonly address: Address;
  /** Resolves when the call is in a block; rejects when it reverted. */
  send(call: TransactionCall): Promise<TransactionReceipt>;
};

/** An account with a key. */
export type Wallet = Actor & { readonly account: PrivateKeyAccount };

export type World = {
  readonly request: RpcRequestFunction;
  readonly client: PublicClient;
  readonly chainId: number;
  readonly contracts: LocalDeployment["contracts"];
  readonly local: LocalDeployment["local"];
  /** The named accounts of the local chain. */
  readonly actors: Readonly<Record<LocalAccountName, Wallet>>;
  /** Any account of the local mnemonic by its index; the same one for the same index. */
  wallet(index: number): Wallet;
  /** Source of values that callers leave open, such as nonces. */
  readonly random: Random;
  readonly timeline: Timeline;
  /** Totals of what was sent so far. */
  readonly counters: Readonly<TransactionCounters>;
  /** Runs tasks so that the first transaction of each is in the same block. */
  inOneBlock<T>(tasks: readonly (() => Promise<T>)[]): Promise<T[]>;
};

export type WorldOptions = {
  /** In process if possible: several times faster than HTTP. */
  readonly request: RpcRequestFunction;
  readonly deployment: LocalDeployment;
  /** The chain's own by default. */
  readonly timeline?: Timeline;
  /** 1 by default. */
  readonly seed?: number;
};

export async function openWorld(options: WorldOptions): Promise<World> {
  const { request, deployment, timeline = chainTimeline(request) } = options;
  const { chainId } = deployment;
  const sender = new TransactionSender({ request, timeline, chainId, fees: await currentFees(request) });
  const wallets = new Map<number, Wallet>();
  const wallet = (index: number): Wallet => {
    const known = wallets.get(index);
    if (known) return known;
    const account = privateKeyToAccount(localAccount(index).privateKey);
    const created: Wallet = {
      address: account.address,
      account,
      send: (call) => sender.send(account, call),
    };
    wallets.set(index, created);
    return created;
  };
  return {
    request,
    // An in-process response is final: a retry would only hide a failure.
    client: createPublicClient({
      transport: custom({ request: ({ method, params }) => request(method, params) }, { retryCount: 0 }),
    }),
    chainId,
    contracts: deployment.contracts,
    local: deployment.local,
    actors: Object.fromEntries(LOCAL_ACCOUNT_NAMES.map((name, index) => [name, wallet(index)])) as Record<
      LocalAccountName,
      Wallet
    >,
    wallet,
    random: new Random(options.seed ?? 1),
    timeline,
    counters: sender.counters,
    inOneBlock: (tasks) => sender.inOneBlock(tasks),
  };
}
