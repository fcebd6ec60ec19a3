// The list of known spenders: who may take tokens of many wallets, by chain. Ours, under the licence of this project.
import type { Hex } from "../../../lib/hex.ts";
import { ACCOUNT_EXTENSIONS } from "./account-extensions.ts";
import { AGGREGATORS } from "./aggregators.ts";
import { BRIDGES_AND_MARKETPLACES } from "./bridges-and-marketplaces.ts";
import { DELEGATES } from "./delegates.ts";
import { EXCHANGES } from "./exchanges.ts";
import { LENDING_AND_STAKING } from "./lending-and-staking.ts";
import { POSITION_ADAPTERS } from "./position-adapters.ts";
import type { Spender } from "./spender.ts";

/** Raised with every change of the list; responses name it. */
const SPENDER_LIST_VERSION = "7 (2026-11-18)";

export const SPENDERS: readonly Spender[] = [
  ...EXCHANGES,
  ...AGGREGATORS,
  ...LENDING_AND_STAKING,
  ...POSITION_ADAPTERS,
  ...BRIDGES_AND_MARKETPLACES,
  ...DELEGATES,
  ...ACCOUNT_EXTENSIONS,
];

/** They act on accounts, and no wallet approves tokens for them. */
const ACCOUNT_KINDS: ReadonlySet<Spender["kind"]> = new Set([
  ...(["delegate", "signed-module", "allowance-module", "fallback-handler", "permission-manager"] as const),
]);

/** The spenders of one chain; addresses are lower-case. */
export type ChainSpenders = {
  readonly byAddress: ReadonlyMap<Hex, Spender>;
  /** That wallets approve tokens for. */
  readonly ofTokens: readonly Hex[];
  /** That take tokens through Permit2. */
  readonly ofPermit2: readonly Hex[];
  /** That wallets make operators of NFTs. */
  readonly ofCollections: readonly Hex[];
  /** That wallets let act on their positions in protocols. */
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
