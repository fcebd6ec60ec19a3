// Options of paying by channel: how much is deposited, how often, and in how many channels.
import { SextantError } from "../errors.ts";
import { type Amount, toUnits } from "./amount.ts";
import { randomHex } from "./authorization.ts";
import type { ChannelUse } from "./standing.ts";

/** Deposits count as spent in the guard until the chain shows them returned. */
export interface ChannelOptions {
  /** The first deposit of a new channel, which the payee can only claim by vouchers of yours. */
  readonly deposit: Amount;
  /** The deposit that follows when a channel is used up; default: the deposit. "0": nothing. */
  readonly topUp?: Amount;
  /** Channels of the payer that may hold money at a time, each of which buys one thing at a time. Default: 1. */
  readonly maxOpen?: number;
  /** The longest time that a service may have for its claims after you begin to withdraw. Default: a day. */
  readonly withdrawSecondsMax?: number;
}

const WITHDRAW_SECONDS_MAX = 86_400;
// Each holds money at a service.
const OPEN_MAX = 100;

export function useChannels(options: ChannelOptions, decimals: number): ChannelUse {
  const { deposit, topUp = deposit, maxOpen = 1, withdrawSecondsMax = WITHDRAW_SECONDS_MAX } = options;
  if (!Number.isInteger(maxOpen) || maxOpen < 1 || maxOpen > OPEN_MAX) {
    throw new SextantError("NOT_CONFIGURED", `channel.maxOpen must be from 1 to ${OPEN_MAX}.`);
  }
  if (!Number.isSafeInteger(withdrawSecondsMax)) {
    throw new SextantError("NOT_CONFIGURED", "channel.withdrawSecondsMax must be a whole number.");
  }
  return {
    deposit: toUnits(deposit, decimals, "channel.deposit"),
    topUp: toUnits(topUp, decimals, "channel.topUp"),
    maxOpen,
    withdrawSecondsMax,
    owner: randomHex(8),
    sending: new Set(),
    inTurn: createTurns(maxOpen),
  };
}

/** At most so many run at a time, the others in the order in which they came. */
function createTurns(atOnce: number): ChannelUse["inTurn"] {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (act) => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      // The turn passes on.
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
