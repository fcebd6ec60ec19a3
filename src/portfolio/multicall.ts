// Many calls as few requests: what protocols answer goes through Multicall3, strangers' contracts are asked alone.
import { splitIntoChunks } from "../lib/chunks.ts";
import type { Hex } from "../lib/hex.ts";
import { decodeAggregate3, encodeAggregate3, MULTICALL3 } from "./multicall-encoding.ts";
import type { ContractRead, PinnedChain } from "./types.ts";

/** About 6 million gas with the dearest of them, balances that accrue interest. */
const CALLS_PER_BUNDLE_MAX = 200;
const BUNDLE_GAS_MAX = 30_000_000;

type Answers = readonly (Hex | null)[];

/**
 * Answers in order, null for a revert, in one round trip; one more where the bundle can not be had. A call with a gas
 * limit of its own never travels with others: it could burn what they need.
 */
export async function readByMulticall(
  at: PinnedChain,
  calls: readonly ContractRead[],
  signal: AbortSignal,
): Promise<Answers> {
  if (calls.length === 0) return [];
  const trusted = calls.filter(({ gasMax }) => gasMax === undefined);
  const alone = calls.filter(({ gasMax }) => gasMax !== undefined);
  const bundles = splitIntoChunks(trusted, CALLS_PER_BUNDLE_MAX);
  const answers = await at.read([...bundles.map(bundled), ...alone], signal);

  const found = new Map<ContractRead, Hex | null>();
  const unopened: ContractRead[] = [];
  for (const [index, bundle] of bundles.entries()) {
    // Where Multicall3 is missing or gave out, or something else lives there, its calls have another way to go.
    const results = decodeAggregate3(answers[index] ?? "0x", bundle.length);
    if (results === null) unopened.push(...bundle);
    else for (const [place, call] of bundle.entries()) found.set(call, results[place] ?? null);
  }
  const again = unopened.length > 0 ? await at.read(unopened, signal) : [];
  for (const [index, call] of unopened.entries()) found.set(call, again[index] ?? null);
  for (const [index, call] of alone.entries()) found.set(call, answers[bundles.length + index] ?? null);
  return calls.map((call) => found.get(call) ?? null);
}

function bundled(calls: readonly ContractRead[]): ContractRead {
  return { to: MULTICALL3, data: encodeAggregate3(calls), gasMax: BUNDLE_GAS_MAX };
}
