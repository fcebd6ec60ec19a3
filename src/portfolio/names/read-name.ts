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
const nameForAddr = createCallEncoder("function nameForAddr(address) view returns (string)");

type NameResult = { readonly name: string | null; readonly warnings: readonly string[] };

/**
 * At most four requests one after another, alongside the balances, and two more where the newer of two records does not
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
  const [resolver, newer] = await at.read(
    [
      resolverOf(registry, [node]),
      ...(reverseRegistrar === undefined ? [] : [nameForAddr(reverseRegistrar, [wallet], RESOLVER_GAS_MAX)]),
    ],
    signal,
  );
  const claimed = decodeName(newer ?? null);
  if (claimed !== null && (await leadsBack(query, registry, claimed, signal))) return claimed;
  const older = decodeName(await callRecord(at, decodeAddress(resolver), name, node, signal));
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
  const [resolver] = await at.read([resolverOf(registry, [node])], signal);
  return decodeAddress(await callRecord(at, decodeAddress(resolver), addressOf, node, signal)) === wallet;
}

/** Null without a resolver, and when that reverts: a lookup outside of the chain (CCIP-Read) is never followed. */
async function callRecord(
  at: PinnedChain,
  target: Hex | null,
  record: typeof name,
  node: Hex,
  signal: AbortSignal,
): Promise<Hex | null> {
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
