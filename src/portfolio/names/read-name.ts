// The name of a wallet: its reverse record in ENS or Basenames, shown only when the name leads back to the wallet.
import { namehash } from "viem";
import { decodeByteString } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { readGroups } from "../contract-reads/read-groups.ts";
import { type ContractFunction, defineRead } from "../contract-reads/reads.ts";
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

const name = defineRead("function name(bytes32)", decodeName, RESOLVER_GAS_MAX);
const nameForAddr = defineRead("function nameForAddr(address)", decodeName, RESOLVER_GAS_MAX);

type NameResult = { readonly name: string | null; readonly warnings: readonly string[] };

/**
 * At most four requests one after another, alongside the balances, and two more if the newer of two records does not
 * lead back; a name that cannot be verified is null.
 */
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
  query: WalletQuery,
  service: NameService,
  signal: AbortSignal,
): Promise<string | null> {
  const { at, wallet } = query;
  const { registry, reverse, reverseRegistrar } = service;
  const node = namehash(`${wallet.slice(2)}.${reverse}`);
  const { resolver, claimed } = await readGroups(at, signal, {
    resolver: resolverOf(registry, [node]),
    claimed: reverseRegistrar === undefined ? null : nameForAddr(reverseRegistrar, [wallet]),
  });
  if (claimed !== null && (await leadsBack(query, registry, claimed, signal))) return claimed;
  const older = await readRecord(at, resolver, name, node, signal);
  // The newer record has been checked already.
  if (older === null || older === claimed) return null;
  return (await leadsBack(query, registry, older, signal)) ? older : null;
}

async function leadsBack(
  { at, wallet }: WalletQuery,
  registry: Hex,
  claimed: string,
  signal: AbortSignal,
): Promise<boolean> {
  if ((await normalizeName(claimed)) !== claimed) return false;
  const node = namehash(claimed);
  const resolver = await readGroups(at, signal, resolverOf(registry, [node]));
  return (await readRecord(at, resolver, addressOf, node, signal)) === wallet;
}

/** Null without a resolver, and when that reverts: a lookup outside of the chain (CCIP-Read) is never followed. */
async function readRecord<T>(
  at: PinnedChain,
  target: Hex | null,
  record: ContractFunction<T>,
  node: Hex,
  signal: AbortSignal,
): Promise<T | null> {
  return target === null ? null : readGroups(at, signal, record(target, [node]));
}

function decodeName(result: Hex | null): string | null {
  const bytes = decodeByteString(result, NAME_BYTES_MAX);
  const text = bytes?.toString("utf8") ?? "";
  // Invalid bytes would not survive the round trip.
  return text !== "" && bytes?.equals(Buffer.from(text, "utf8")) ? text : null;
}
