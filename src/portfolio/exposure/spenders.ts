// The list of known spenders: who may take tokens of many wallets, by chain. Ours, under the licence of this project.
import { readChainData } from "../../chain/chain-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { type ShapeType, shape } from "../../lib/json-shape.ts";

/** Raised with every change of the list; responses name it. */
const SPENDER_LIST_VERSION = "7 (2026-11-18)";

/** A contract that wallets give permissions to, in the file of one chain. */
const chainSpender = shape.object({
  name: shape.text,
  protocol: shape.text,
  kind: shape.oneOf(
    ...(["aggregator", "allowance-module", "bridge", "delegate", "derivatives", "fallback-handler"] as const),
    ...(["lending-pool", "marketplace", "permission-manager", "permit2", "pool"] as const),
    ...(["position-adapter", "position-manager", "router", "signed-module", "staking"] as const),
    ...(["trading-bot", "vault"] as const),
  ),
  /** It takes tokens through allowances in Permit2. */
  takesPermit2: shape.optional(shape.oneOf(true)),
  /** Wallets let it act on their positions in protocols: borrow for them, or move what they supplied. */
  takesPositions: shape.optional(shape.oneOf(true)),
  /**
   * A delegate that lets keys besides the owner's act: `keyCount()` counts them, or no view lists them. Without further keys
   * and implementations, by its published source, a delegate acts only on the signature of the account's own key, whatever
   * the account's storage has.
   */
  furtherKeys: shape.optional(shape.oneOf("counted", "unlisted")),
  /**
   * A delegate that runs the code which the account's ERC-1967 slot names: the published code, lower-case, which stores
   * owners that no view lists.
   */
  implementations: shape.optional(shape.list(shape.address)),
  /** The sources of the addresses: repositories on GitHub, each with a file or folder. */
  source: shape.text,
  /** Why it has this kind or these keys. */
  note: shape.optional(shape.text),
  addresses: shape.list(shape.checksumAddress),
});

export type Spender = Omit<ShapeType<typeof chainSpender>, "note" | "addresses"> & {
  /** Chain id and address, with checksum. A contract may have several addresses on a chain. */
  readonly deployments: readonly (readonly [chainId: number, address: Hex])[];
};

/** A spender on several chains stands here once for each of them. */
export const SPENDERS: readonly Spender[] = [
  ...readChainData(
    "spenders",
    "spenders",
    shape.list(chainSpender, ({ name }) => name),
  ),
].flatMap(([chainId, spenders]) =>
  spenders.map(({ addresses, note: _, ...spender }) => ({
    ...spender,
    deployments: addresses.map((address) => [chainId, address] as const),
  })),
);

/** They act on accounts, and no wallet approves tokens for them. */
const ACCOUNT_KINDS: ReadonlySet<Spender["kind"]> = new Set([
  ...(["delegate", "signed-module", "allowance-module", "fallback-handler", "permission-manager"] as const),
]);

/** The spenders of one chain; addresses are lower-case. */
export type ChainSpenders = {
  readonly byAddress: ReadonlyMap<Hex, Spender>;
  /** Spenders for which wallets approve tokens. */
  readonly ofTokens: readonly Hex[];
  /** Spenders that take tokens through Permit2. */
  readonly ofPermit2: readonly Hex[];
  /** Contracts that wallets make operators of NFTs. */
  readonly ofCollections: readonly Hex[];
  /** Contracts that wallets let act on their positions in protocols. */
  readonly ofPositions: readonly Hex[];
};

export type SpenderList = { readonly version: string; onChain(chainId: number): ChainSpenders };

export function createSpenderList(spenders: readonly Spender[], version: string): SpenderList {
  const chains = new Map<number, ChainSpenders>();
  return {
    version,
    onChain(chainId) {
      const known = chains.get(chainId) ?? selectChain(spenders, chainId);
      chains.set(chainId, known);
      return known;
    },
  };
}

export const spenderList: SpenderList = createSpenderList(SPENDERS, SPENDER_LIST_VERSION);

function selectChain(spenders: readonly Spender[], chainId: number): ChainSpenders {
  const deployed = spenders.flatMap((spender) =>
    spender.deployments
      .filter(([chain]) => chain === chainId)
      .map(([, address]) => [address.toLowerCase() as Hex, spender] as const),
  );
  const select = (isWanted: (spender: Spender) => boolean) =>
    deployed.filter(([, spender]) => isWanted(spender)).map(([address]) => address);
  return {
    byAddress: new Map(deployed),
    ofTokens: select(({ kind }) => !ACCOUNT_KINDS.has(kind)),
    ofPermit2: select(({ takesPermit2 }) => takesPermit2 === true),
    ofCollections: select(({ kind }) => kind === "marketplace"),
    ofPositions: select(({ takesPositions }) => takesPositions === true),
  };
}
