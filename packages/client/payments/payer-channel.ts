// A payment channel as its payer sees it, and what becomes of the money in it.
import type { RequestOptions } from "../operation.ts";

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
  /** The prices of what was delivered and not free. */
  readonly bought: bigint;
  /** The largest sum that the payee can claim. */
  readonly signed: bigint;
  /** The sum that can be bought for or comes back. */
  readonly left: bigint;
  /** Null without `guard.node`. */
  readonly claimed: bigint | null;
  readonly withdrawal: { readonly amount: bigint; readonly availableAt: number } | null;
}

export interface RefundedChannel {
  /** Null unless `guard.node` shows it: only the service says so. */
  readonly amount: bigint | null;
  /** As the service names it. */
  readonly transaction: string | null;
}

export interface RestoreOptions extends RequestOptions {
  /** The block from which deposits are searched for; the first by default, which takes long on a node with small ranges. */
  readonly fromBlock?: bigint;
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
