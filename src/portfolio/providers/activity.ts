// A wallet's activity from any provider: which counterparties look like others, who sent what, which entries are shown.
import type { Hex } from "../../lib/hex.ts";
import { ACTIVITY_MAX, type PinnedChain, type WalletActivity } from "../types.ts";

const ZERO_ADDRESS: Hex = `0x${"00".repeat(20)}`;

// What wallets and explorers show of an address: 0x14dc…9955.
const SHOWN_DIGITS = 4;

type Parties = Pick<WalletActivity, "from" | "to">;

/**
 * Counterparties that read like another one, or like the wallet: an address poisoner hopes that the wrong one is
 * copied. Where the wallet paid exactly one of those that look alike, that one is not marked: a stranger cannot make
 * the wallet pay.
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

function shownPart(address: Hex): string {
  return address.slice(2, 2 + SHOWN_DIGITS) + address.slice(-SHOWN_DIGITS);
}

/** The other side of a transfer; the wallet itself when it paid itself, null when unknown. */
export function getCounterparty(wallet: Hex, { from, to }: Parties): Hex | null {
  return from === wallet ? to : from;
}

/**
 * The newest entries, in the order given. Lookalikes only get the places that others leave: a stranger can send as
 * many as he likes, and must not push out what the wallet did.
 */
export function keepNewest<T extends Pick<WalletActivity, "lookalike">>(
  newestFirst: readonly T[],
): readonly T[] {
  if (newestFirst.length <= ACTIVITY_MAX) return newestFirst;
  const others = newestFirst.filter(({ lookalike }) => !lookalike).slice(0, ACTIVITY_MAX);
  const places = ACTIVITY_MAX - others.length;
  const kept = new Set([...others, ...newestFirst.filter(({ lookalike }) => lookalike).slice(0, places)]);
  return newestFirst.filter((entry) => kept.has(entry));
}

// Optional: the balances must not wait for them for long.
const SENDERS_MS_MAX = 3_000;

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
  try {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(SENDERS_MS_MAX)]);
    const senders = await at.senders(hashes, deadline);
    return { senders, warnings: hashes.every((hash) => senders.has(hash)) ? [] : warnings };
  } catch {
    signal.throwIfAborted();
    return { senders: new Map(), warnings };
  }
}
