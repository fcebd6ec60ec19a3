// The stage of a scenario: a chain with the contracts on it, people who can sign, chance, and time.

import type { LocalDeployment } from "@sextant/contracts/deploy/deployment";
import type { RpcRequestFunction } from "@sextant/contracts/deploy/rpc-request";
import {
  currentFees,
  type TransactionCall,
  type TransactionReceipt,
} from "@sextant/contracts/deploy/transaction";
import { LOCAL_ACCOUNT_NAMES, type LocalAccountName, localAccount } from "@sextant/local-chain/accounts";
import type { Address, PrivateKeyAccount, PublicClient } from "viem";
import { createPublicClient, custom } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { Random } from "./random.ts";
import { chainTimeline, type Timeline } from "./timeline.ts";
import { type TransactionCounters, TransactionSender } from "./transaction-sender.ts";

/** Who a call comes from: a person, or a contract that a person makes act. */
export type Actor = {
  readonly address: Address;
  /** Resolves when the call is in a block; rejects when it reverted. */
  send(call: TransactionCall): Promise<TransactionReceipt>;
};

/** A person with a key. */
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
  /** Where steps take what they were not given, such as nonces. */
  readonly random: Random;
  readonly timeline: Timeline;
  /** What was sent so far. */
  readonly counters: Readonly<TransactionCounters>;
  /** Runs tasks so that the first transaction of each is in the same block. */
  inOneBlock<T>(tasks: readonly (() => Promise<T>)[]): Promise<T[]>;
};

export type WorldOptions = {
  /** In process where there is a choice: it is several times faster than HTTP. */
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
  const outbox = new TransactionSender({ request, timeline, chainId, fees: await currentFees(request) });
  const wallets = new Map<number, Wallet>();
  const wallet = (index: number): Wallet => {
    const known = wallets.get(index);
    if (known) return known;
    const account = privateKeyToAccount(localAccount(index).privateKey);
    const created: Wallet = {
      address: account.address,
      account,
      send: (call) => outbox.send(account, call),
    };
    wallets.set(index, created);
    return created;
  };
  return {
    request,
    // An answer in process is either right or wrong at once: asking again would only hide it.
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
    counters: outbox.counters,
    inOneBlock: (tasks) => outbox.inOneBlock(tasks),
  };
}
