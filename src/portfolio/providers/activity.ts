// A wallet's activity from any provider: which counterparties look like others, who sent what, which entries are shown.
import type { Hex } from "../../lib/hex.ts";
import { ACTIVITY_MAX } from "../../schema/portfolio/snapshot.ts";
import { BUDGET_MS, runWithinBudget } from "../time-budgets.ts";
import type { PinnedChain, WalletActivity } from "../types.ts";

const ZERO_ADDRESS: Hex = `0x${"00".repeat(20)}`;

// The digits of an address that wallets and explorers show: 0x14dc…9955.
const SHOWN_DIGITS = 4;

export type ProviderActivity = {
  readonly activity: readonly WalletActivity[];
  readonly warnings: readonly string[];
};

export const NO_ACTIVITY: ProviderActivity = { activity: [], warnings: [] };

type Parties = Pick<WalletActivity, "from" | "to">;

/**
 * Counterparties that read like another one, or like the wallet: an address poisoner hopes that the wrong one is
 * copied. If the wallet paid exactly one of those that look alike, that one is not marked: no third party can make the
 * wallet pay.
 */
export function findLookalikes(wallet: Hex, transfers: readonly Parties[]): ReadonlySet<Hex> {
  const paid = new Set(transfers.flatMap(({ from, to }) => (from === wallet && to !== null ? [to] : [])));
  const groups = new Map<string, Set<Hex>>();
  for (const address of [wallet, ZERO_ADDRESS, ...transfers.flatMap(({ from, to }) => [from, to])]) {
    if (address === null) continue;
    const key = shownPart(address);
    groups.set(key, (groups.get(key) ?? new Set<Hex>()).add(address));
  }
  const lookalikes = [...groups.values()].flatMap((group) => {
    if (group.size === 1) return [];
    const others = [...group].filter((address) => address !== wallet && address !== ZERO_ADDRESS);
    const known = others.filter((address) => paid.has(address));
    const genuine = known.length === 1 && others.length === group.size ? known[0] : null;
    return others.filter((address) => address !== genuine);
  });
  return new Set(lookalikes);
}

export function shownPart(address: Hex): string {
  return address.slice(2, 2 + SHOWN_DIGITS) + address.slice(-SHOWN_DIGITS);
}

/** The other side of a transfer; the wallet itself when it paid itself, null when unknown. */
export function getCounterparty(wallet: Hex, { from, to }: Parties): Hex | null {
  return from === wallet ? to : from;
}

/**
 * Whether the wallet signed the transaction, or its own tokens moved with its permission. A third party can do neither;
 * it can only send something to the wallet.
 */
function isOwnActivity(wallet: Hex, { sender, from }: Pick<WalletActivity, "sender" | "from">): boolean {
  return sender === wallet || from === wallet;
}

/** Half of the places: payments from others neither push out what the wallet did, nor the other way round. */
const RECEIVED_PLACES = Math.floor(ACTIVITY_MAX / 2);

/**
 * The newest entries, in the order given. Entries that the wallet caused and entries that it received each have their
 * quota, and get what the other leaves. Transfers from a lookalike only get what both leave.
 */
export function keepNewest<T extends Pick<WalletActivity, "sender" | "from" | "lookalike">>(
  wallet: Hex,
  newestFirst: readonly T[],
): readonly T[] {
  if (newestFirst.length <= ACTIVITY_MAX) return newestFirst;
  const own = newestFirst.filter((entry) => isOwnActivity(wallet, entry));
  const others = newestFirst.filter((entry) => !isOwnActivity(wallet, entry));
  const received = others.filter(({ lookalike }) => !lookalike);
  const ownPlaces = ACTIVITY_MAX - Math.min(received.length, RECEIVED_PLACES);
  const kept = new Set(
    [
      ...own.slice(0, ownPlaces),
      ...received,
      ...own.slice(ownPlaces),
      ...others.filter(({ lookalike }) => lookalike),
    ].slice(0, ACTIVITY_MAX),
  );
  return newestFirst.filter((entry) => kept.has(entry));
}

type ReadSenders = {
  readonly senders: ReadonlyMap<Hex, Hex>;
  readonly warnings: readonly string[];
};

/** In one request; who sent a transaction that could not be read stays unknown, with a warning. */
export async function readSenders(
  at: PinnedChain,
  hashes: readonly Hex[],
  signal: AbortSignal,
): Promise<ReadSenders> {
  const warnings = [`${at.chain.name}: who sent some transactions of recent activity could not be read.`];
  if (hashes.length === 0) return { senders: new Map(), warnings: [] };
  const outcome = await runWithinBudget((stop) => at.senders(hashes, stop), BUDGET_MS.activity, signal);
  if ("failure" in outcome) return { senders: new Map(), warnings };
  const { value: senders } = outcome;
  return { senders, warnings: hashes.every((hash) => senders.has(hash)) ? [] : warnings };
}
