// The name of a wallet: its reverse record in ENS or Basenames, shown only when the name leads back to the wallet.
import { namehash } from "viem";
import { decodeAddress, decodeByteString } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { createCallEncoder } from "../multicall.ts";
import { ACCOUNT_MS_MAX, runWithinBudget } from "../time-budgets.ts";
import type { PinnedChain, WalletQuery } from "../types.ts";
import {
  addressOf,
  findNameService,
  NAME_BYTES_MAX,
  type NameService,
  normalizeName,
  RESOLVER_GAS_MAX,
  resolverOf,
} from "./name-services.ts";

const name = createCallEncoder("function name(bytes32) view returns (string)");

type NameResult = { readonly name: string | null; readonly warnings: readonly string[] };

/** At most four calls one after another, beside the balances; a name that cannot be verified is null. */
export async function readName(
  query: WalletQuery,
  signal: AbortSignal,
  budgetMs: number = ACCOUNT_MS_MAX,
): Promise<NameResult> {
  const service = findNameService(query.at.chain.chainId);
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
  if (claimed === null || (await normalizeName(claimed)) !== claimed) return null;
  const owner = decodeAddress(await callResolver(at, registry, namehash(claimed), addressOf, signal));
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
  const [found] = await at.read([resolverOf(registry, [node])], signal);
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
