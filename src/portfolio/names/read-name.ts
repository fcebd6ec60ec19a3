// The name of a wallet: its reverse record in ENS or Basenames, shown only when the name leads back to the wallet.
import { namehash } from "viem";
import { decodeAddress, decodeByteString } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { createCallEncoder } from "../multicall.ts";
import { ACCOUNT_MS_MAX, runWithinBudget } from "../time-budgets.ts";
import type { PinnedChain, WalletQuery } from "../types.ts";

/** Where a chain keeps names: its registry, and the parent of the records by address. */
type NameService = { readonly registry: Hex; readonly reverse: string };

const NAME_SERVICES: ReadonlyMap<number, NameService> = new Map([
  [1, { registry: "0x00000000000c2e074ec69a0dfb2997ba6c7d2e1e", reverse: "addr.reverse" }],
  // Basenames; the number is that of the chain as a type of coin (ENSIP-11).
  [8453, { registry: "0xb94704422c2a1e396835a571837aa5ae53285a95", reverse: "80002105.reverse" }],
]);

const resolver = createCallEncoder("function resolver(bytes32) view returns (address)");
const name = createCallEncoder("function name(bytes32) view returns (string)");
const addr = createCallEncoder("function addr(bytes32) view returns (address)");

// Anyone may set a resolver of their own.
const RESOLVER_GAS_MAX = 300_000;
// As long as DNS allows; each label costs a hash.
const NAME_BYTES_MAX = 255;

type NameResult = { readonly name: string | null; readonly warnings: readonly string[] };

/** At most four calls one after another, beside the balances; a name that cannot be verified is null. */
export async function readName(
  query: WalletQuery,
  signal: AbortSignal,
  budgetMs: number = ACCOUNT_MS_MAX,
): Promise<NameResult> {
  const service = NAME_SERVICES.get(query.at.chain.chainId);
  if (service === undefined) return { name: null, warnings: [] };
  const outcome = await runWithinBudget((stop) => readVerified(query, service, stop), budgetMs, signal);
  if ("value" in outcome) return { name: outcome.value, warnings: [] };
  return {
    name: null,
    warnings: [`The name of the wallet is unknown on ${query.at.chain.name}: it could not be read.`],
  };
}

async function readVerified(
  { at, wallet }: WalletQuery,
  { registry, reverse }: NameService,
  signal: AbortSignal,
): Promise<string | null> {
  const node = namehash(`${wallet.slice(2)}.${reverse}`);
  const claimed = decodeName(await callResolver(at, registry, node, name, signal));
  if (claimed === null || !(await isNormalized(claimed))) return null;
  const owner = decodeAddress(await callResolver(at, registry, namehash(claimed), addr, signal));
  return owner === wallet ? claimed : null;
}

/** Null without a resolver, and when that reverts: a lookup outside of the chain (CCIP-Read) is never followed. */
async function callResolver(
  at: PinnedChain,
  registry: Hex,
  node: Hex,
  record: typeof name,
  signal: AbortSignal,
): Promise<Hex | null> {
  const [found] = await at.read([resolver(registry, [node])], signal);
  const target = decodeAddress(found);
  if (target === null) return null;
  const [result] = await at.read([record(target, [node], RESOLVER_GAS_MAX)], signal);
  return result ?? null;
}

function decodeName(result: Hex | null): string | null {
  const bytes = decodeByteString(result, NAME_BYTES_MAX);
  const text = bytes?.toString("utf8") ?? "";
  // Invalid bytes would not survive the round trip.
  return text !== "" && bytes?.equals(Buffer.from(text, "utf8")) ? text : null;
}

/** Lower-case letters, digits and hyphens, without the mark of an encoded label (`xn--`): always normalized. */
const PLAIN = /^(?!..--)[a-z0-9-]+(\.(?!..--)[a-z0-9-]+)*$/;

/** By ENSIP-15: any other spelling could look like someone else's name. */
export async function isNormalized(text: string): Promise<boolean> {
  if (PLAIN.test(text)) return true;
  // Only now: its tables of characters take longer to load than all the calls, and few names need them.
  const { normalize } = await import("./normalize.ts");
  try {
    return normalize(text) === text;
  } catch {
    return false;
  }
}
