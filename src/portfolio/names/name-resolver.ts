// Resolves the names that requests give instead of addresses: cached, with one read for each name.
import type { Clock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import { LruMap } from "../../lib/lru-map.ts";
import type { FreeReads } from "../free-reads.ts";
import { runWithinBudget } from "../time-budgets.ts";
import type { PortfolioChain } from "../types.ts";
import {
  type FoundAddress,
  findAddress,
  type NameService,
  normalizeName,
  selectNameService,
} from "./names.ts";

export type ResolvedName = {
  /** Normalized. */
  readonly name: string;
  readonly address: Hex;
};

export type NameResolver = {
  /**
   * For a client, as limits count it. Rejects with INPUT_INVALID for a text that is not a name or cannot be resolved
   * here, with NOT_FOUND for a name without an address, and with RATE_LIMITED, OVERLOADED or NODE_UNAVAILABLE.
   */
  resolve(text: string, client: string): Promise<ResolvedName>;
};

type NameResolverOptions = {
  /** Chains by slug. */
  readonly chains: ReadonlyMap<string, PortfolioChain>;
  readonly freeReads: FreeReads;
  readonly clock: Clock;
};

/** Each name that is not in the cache costs a free read. */
const NAME_LIMITS = {
  /** About a kilobyte each at most. */
  cachedMax: 5_000,
  /** Who changes a name waits this long; a payment is bound to the address that its payer saw. */
  cachedMs: 120_000,
  /** Deeper names are a way to make us hash and call. */
  labelsMax: 10,
  readMs: 5_000,
} as const;

type NameSource = { readonly service: NameService; readonly chain: PortfolioChain };
type CachedName = { readonly found: FoundAddress; readonly untilMs: number };

export function createNameResolver({ chains, freeReads, clock }: NameResolverOptions): NameResolver {
  const cached = new LruMap<string, CachedName>(NAME_LIMITS.cachedMax);
  const running = new Map<string, Promise<FoundAddress>>();

  const findCached = (name: string): FoundAddress | null => {
    const known = cached.get(name);
    return known !== undefined && clock.nowMs() < known.untilMs ? known.found : null;
  };

  const find = (name: string, where: NameSource, client: string): Promise<FoundAddress> => {
    const reading =
      running.get(name) ??
      freeReads
        .run(client, () => read(name, where))
        .then((found) => {
          cached.set(name, { found, untilMs: clock.nowMs() + NAME_LIMITS.cachedMs });
          return found;
        })
        .finally(() => running.delete(name));
    running.set(name, reading);
    return reading;
  };

  return {
    async resolve(text, client) {
      const name = await checkName(text);
      const service = selectNameService(name);
      const chain = [...chains.values()].find((each) => each.chain.chainId === service.chainId);
      if (chain === undefined) {
        throw new Fault(
          "INPUT_INVALID",
          `${name} cannot be resolved here: this service reads no ${service.title}. Send the address, 0x followed by 40 hex digits.`,
        );
      }
      const found = findCached(name) ?? (await find(name, { service, chain }, client));
      if ("address" in found) return { name, address: found.address };
      throw explainMissing(name, service, found.missing);
    },
  };
}

async function checkName(text: string): Promise<string> {
  const name = await normalizeName(text);
  if (name === null) {
    throw new Fault(
      "INPUT_INVALID",
      "address is not a valid name: it must be normalizable by ENSIP-15, in at most 255 bytes.",
    );
  }
  if (name.split(".").length > NAME_LIMITS.labelsMax) {
    throw new Fault("INPUT_INVALID", `address must be a name of at most ${NAME_LIMITS.labelsMax} labels.`);
  }
  return name;
}

/** At the newest block. */
async function read(name: string, { service, chain }: NameSource): Promise<FoundAddress> {
  const outcome = await runWithinBudget(
    async (stop) => findAddress(await chain.pin(stop), service, name, stop),
    NAME_LIMITS.readMs,
    new AbortController().signal,
  );
  if ("value" in outcome) return outcome.value;
  throw new Fault("NODE_UNAVAILABLE", `${name} could not be read on ${chain.chain.name}.`);
}

function explainMissing(
  name: string,
  { title }: NameService,
  missing: Extract<FoundAddress, { missing: unknown }>["missing"],
): Fault {
  switch (missing) {
    case "unregistered":
      return new Fault("NOT_FOUND", `${name} leads to no address: it has no resolver in ${title}.`);
    case "empty":
      return new Fault(
        "NOT_FOUND",
        `${name} leads to no address: its resolver in ${title} gives none. A pointer to a server (CCIP-Read) is not followed.`,
      );
    case "offchain":
      return new Fault(
        "INPUT_INVALID",
        `${name} is not kept in ${title} itself, but by a server (CCIP-Read) or a wildcard, which are not followed. Send its address.`,
      );
  }
}
