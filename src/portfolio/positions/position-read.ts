// One read of a protocol's positions: its reads of the chain, and its warnings about what it could not read.
import type { Hex } from "../../lib/hex.ts";
import { readEach, readGroups } from "../contract-reads/read-groups.ts";
import type { ReadGroup } from "../contract-reads/reads.ts";
import type {
  Delegation,
  EarlyPositionQuery,
  PositionQuery,
  PositionReader,
  PositionResult,
  ProtocolPosition,
  WalletTokens,
} from "../types.ts";

/** The read of a reader that has begun to need the wallet's tokens. */
export type PositionReadWithTokens = PositionRead & Required<WalletTokens>;

/** Every step of a reader gets the same one. */
export class PositionRead {
  readonly at: PositionQuery["at"];
  readonly wallet: Hex;
  readonly signal: AbortSignal;
  /** The chain as warnings name it. */
  readonly chain: string;
  readonly warnings: string[] = [];
  readonly provenTokens = new Set<Hex>();
  readonly unmarketedTokens = new Set<Hex>();
  readonly incompleteContracts = new Set<Hex>();
  readonly #incompleteMarkets = new Set<string>();
  readonly #readMarkets = new Set<string>();
  readonly #tokens: WalletTokens | Promise<WalletTokens>;

  constructor(query: PositionQuery | EarlyPositionQuery, signal: AbortSignal) {
    const { at, wallet } = query;
    this.at = at;
    this.wallet = wallet;
    this.#tokens = "tokens" in query ? query.tokens : query;
    this.signal = signal;
    this.chain = at.chain.name;
  }

  /** Waits for the wallet's tokens: ask first what can be asked without them. */
  async withTokens(): Promise<PositionReadWithTokens> {
    const { holdings, transfers = [] } = await this.#tokens;
    return Object.assign(this, { holdings, transfers });
  }

  /** One round trip. */
  ask<const Group extends ReadGroup>(group: Group) {
    return readGroups(this.at, this.signal, group);
  }

  /** One round trip with the same reads of each item. */
  askEach<Item, const Group extends ReadGroup>(items: readonly Item[], declare: (item: Item) => Group) {
    return readEach(this.at, this.signal, items, declare);
  }

  warn(warning: string): void {
    this.warnings.push(warning);
  }

  /** Something of these lending markets could not be read. */
  warnOfMarkets(markets: readonly string[], warning: string): void {
    if (markets.length > 0) this.warnings.push(warning);
    for (const market of markets) this.#incompleteMarkets.add(market);
  }

  /** A balance of the wallet in a lending market could be read. */
  markRead(market: string): void {
    this.#readMarkets.add(market);
  }

  /** A debt may be missing if nothing of a market could be read. */
  toResult(positions: readonly ProtocolPosition[]): PositionResult {
    const { warnings, provenTokens, unmarketedTokens, incompleteContracts } = this;
    const incomplete = this.#incompleteMarkets;
    const hasUnreadDebt = [...incomplete].some((market) => !this.#readMarkets.has(market));
    return {
      positions: positions.map((position) =>
        incomplete.has(position.market ?? "") ? { ...position, incomplete: true } : position,
      ),
      warnings,
      ...(provenTokens.size > 0 && { provenTokens }),
      ...(unmarketedTokens.size > 0 && { unmarketedTokens }),
      ...(incompleteContracts.size > 0 && { incompleteContracts }),
      ...(hasUnreadDebt && { hasUnreadDebt }),
    };
  }
}

type ReaderDeclaration<Market> = {
  readonly protocol: string;
  /** Markets by chain id: on a chain without a market nothing is read. */
  readonly markets: ReadonlyMap<number, readonly Market[]>;
  /** Set for a protocol that lends: its markets may know debts of the wallet. */
  readonly readsDebt?: true;
  readonly delegationsOf?: (market: Market) => readonly Delegation[];
  read(run: PositionRead, markets: readonly Market[]): Promise<readonly ProtocolPosition[]>;
};

/** A position reader of a protocol with known markets. */
export function defineReader<Market>(declaration: ReaderDeclaration<Market>): PositionReader {
  const { markets, delegationsOf = () => [], read, ...facts } = declaration;
  return {
    ...facts,
    isOn: (chainId) => (markets.get(chainId)?.length ?? 0) > 0,
    delegations: (chainId) => (markets.get(chainId) ?? []).flatMap(delegationsOf),
    async read(query, signal) {
      const own = markets.get(query.at.chain.chainId) ?? [];
      const run = new PositionRead(query, signal);
      return run.toResult(own.length === 0 ? [] : await read(run, own));
    },
  };
}
