// Addresses that look like another one that the wallet has used, or that our lists have: in what wallets show of them.
import type { TokenTransfer } from "../../chain/logs/get-logs.ts";
import type { Hex } from "../../lib/hex.ts";
import type { ChainSpenders } from "../exposure/spenders.ts";
import { shownPart } from "../providers/activity.ts";
import type { ChainConfig } from "../types.ts";

/** As much of a transfer as tells who was paid, and whether with something. */
type PastTransfer = Pick<TokenTransfer, "from" | "to"> & {
  readonly log: Pick<TokenTransfer["log"], "address" | "data">;
};

/** Finds for each suspect the address that it looks like. */
export function findAlike(
  suspects: readonly Hex[],
  {
    wallet,
    chain,
    spenders,
    transfers,
  }: {
    readonly wallet: Hex;
    readonly chain: ChainConfig;
    readonly spenders: Pick<ChainSpenders, "byAddress">;
    readonly transfers: readonly PastTransfer[];
  },
): ReadonlyMap<Hex, Hex> {
  // Anyone can write a transfer of nothing, or of a token of their own, that names the wallet as its sender.
  const paid = transfers.filter(
    ({ log, from }) => from === wallet && chain.tokens.has(log.address) && isSomething(log.data),
  );
  const genuine = new Set<Hex>([wallet, ...paid.map(({ to }) => to)]);
  const isGenuine = (address: Hex) =>
    genuine.has(address) || spenders.byAddress.has(address) || chain.tokens.has(address);
  const used = transfers.flatMap(({ from, to }) => (from === wallet ? [to] : [from]));
  const ofWallet = new Map([...used, ...genuine].map((address) => [shownPart(address), address]));
  const parts = [partsOf(chain.tokens), partsOf(spenders.byAddress), ofWallet];
  return new Map(
    suspects.flatMap((suspect) => {
      const part = shownPart(suspect);
      const other = parts.flatMap((known) => known.get(part) ?? [])[0];
      return other === undefined || other === suspect || isGenuine(suspect)
        ? []
        : [[suspect, other] as const];
    }),
  );
}

/** Lists are of thousands, and stay the same. */
const knownParts = new WeakMap<ReadonlyMap<Hex, unknown>, ReadonlyMap<string, Hex>>();

function partsOf(list: ReadonlyMap<Hex, unknown>): ReadonlyMap<string, Hex> {
  const known =
    knownParts.get(list) ?? new Map([...list.keys()].map((address) => [shownPart(address), address]));
  knownParts.set(list, known);
  return known;
}

function isSomething(data: Hex): boolean {
  return /[1-9a-f]/.test(data.slice(2, 66));
}
