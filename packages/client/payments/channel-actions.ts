// What a payer can do with its channels; the program behind it is loaded at the first use.
import type { RequestOptions } from "../operation.ts";
import type { PurchaseContext } from "./standing.ts";

/** Amounts in smallest units. */
export interface Channel {
  readonly id: string;
  readonly network: string;
  readonly asset: string;
  readonly payTo: string;
  /** `disputed`: the service contradicted what was signed, and nothing more is signed before the money is back. */
  readonly state: "open" | "closing" | "disputed" | "closed";
  readonly reason: string | null;
  readonly deposited: bigint;
  /** Deposits without what was returned: with `guard.node` as the chain shows it, otherwise as far as we know. */
  readonly held: bigint;
  /** The prices of what was delivered. */
  readonly bought: bigint;
  /** The largest sum that the payee can claim. */
  readonly signed: bigint;
  /** What can be bought for or comes back. */
  readonly left: bigint;
  /** Null without `guard.node`. */
  readonly claimed: bigint | null;
  readonly withdrawal: { readonly amount: bigint; readonly availableAt: number } | null;
}

export interface RefundedChannel {
  readonly amount: bigint;
  /** As the service names it. */
  readonly transaction: string | null;
}

export interface WithdrawOptions extends RequestOptions {
  /** Sends a transaction of the payer and resolves when it is mined. */
  readonly send: (call: {
    readonly to: `0x${string}`;
    readonly data: `0x${string}`;
    readonly chainId: number;
  }) => Promise<unknown>;
}

export interface Withdrawal {
  readonly state: "started" | "waiting" | "withdrawn";
  readonly amount: bigint;
  /** Unix seconds of the chain from which the next call gets the money. */
  readonly availableAt: number;
}

export interface Channels {
  /**
   * The channels of the journal. With `guard.node` as the chain shows them, and what came back is free in the budget.
   *
   * @example
   * ```ts
   * for (const { id, state, left } of await sextant.channels.list()) console.log(id, state, left);
   * ```
   */
  list(options?: RequestOptions): Promise<readonly Channel[]>;
  /**
   * Asks the service to return what was not bought for, at its cost.
   *
   * @example
   * ```ts
   * const { amount } = await sextant.channels.refund(id);
   * ```
   */
  refund(id: string, options?: RequestOptions): Promise<RefundedChannel>;
  /**
   * Takes it back without the service: call once to begin, and once more when `availableAt` has passed. Needs `guard.node`.
   *
   * @example
   * ```ts
   * const { state, availableAt } = await sextant.channels.withdraw(id, {
   *   send: async (call) => node.waitForTransactionReceipt({ hash: await wallet.sendTransaction(call) }),
   * });
   * ```
   */
  withdraw(id: string, options: WithdrawOptions): Promise<Withdrawal>;
}

export function createChannels(context: PurchaseContext): Channels {
  const load = () => import("../channels/channels.ts");
  return {
    list: async (options) => (await load()).listChannels(context, options),
    refund: async (id, options) => (await load()).refundChannel(context, id, options),
    withdraw: async (id, options) => (await load()).withdrawChannel(context, id, options),
  };
}
