// The actions of a payer on its channels; the program behind them is loaded at the first use.
import type { RequestOptions } from "../operation.ts";
import type {
  Channel,
  RefundedChannel,
  RestoreOptions,
  Withdrawal,
  WithdrawOptions,
} from "./payer-channel.ts";
import type { PurchaseContext } from "./standing.ts";

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
  /**
   * Finds the channels of the payer on the chain after the journal was lost, and returns those that it adds to the new one.
   * They can be withdrawn, and bought by. Needs `guard.node`.
   *
   * @example
   * ```ts
   * for (const { id, left } of await sextant.channels.restore()) console.log(id, left);
   * ```
   */
  restore(options?: RestoreOptions): Promise<readonly Channel[]>;
}

export function createChannels(context: PurchaseContext): Channels {
  const load = () => import("../channels/channels.ts");
  return {
    list: async (options) => (await load()).listChannels(context, options),
    refund: async (id, options) => (await load()).refundChannel(context, id, options),
    restore: async (options) =>
      (await import("../channels/restore-channels.ts")).restoreChannels(context, options),
    withdraw: async (id, options) => (await load()).withdrawChannel(context, id, options),
  };
}
