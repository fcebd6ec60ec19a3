// The reads behind each paid route, as the service does them, over nodes of the benchmark.
import { findChainById } from "../../src/chain/chains/chains.ts";
import type { Rpc } from "../../src/chain/rpc/types.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { Hex } from "../../src/lib/hex.ts";
import { createChainAccess } from "../../src/portfolio/chain-access.ts";
import { readDiff } from "../../src/portfolio/diff/read-diff.ts";
import { readExposure } from "../../src/portfolio/exposure/read-exposure.ts";
import { spenderList } from "../../src/portfolio/exposure/spenders.ts";
import { POSITION_READERS } from "../../src/portfolio/positions/readers.ts";
import { createPriceSources } from "../../src/portfolio/prices/sources.ts";
import { rpcHoldingsProvider } from "../../src/portfolio/providers/rpc/provider.ts";
import { createSnapshotReader } from "../../src/portfolio/snapshot.ts";
import type { ChainConfig, PortfolioChain } from "../../src/portfolio/types.ts";
import type { ReadyNode } from "./nodes-child.ts";
import { buildTokenList } from "./token-market.ts";

/** The chain of a node with so many listed tokens. */
export function describeChain({ chainId, held, stablecoin }: ReadyNode, tokens: number): ChainConfig {
  const facts = findChainById(chainId);
  if (!facts) throw new Error(`there is no chain ${chainId}`);
  const listed = buildTokenList(held, tokens).map((token) => [token.contract, token] as const);
  return { ...facts, tokens: new Map(listed), stablecoins: new Set([stablecoin]) };
}

type PaidReadsOptions = {
  readonly nodes: readonly (ReadyNode & { readonly rpc: Rpc })[];
  readonly tokens: number;
  /** Sees every read of the chain. */
  readonly observe?: (chain: PortfolioChain) => PortfolioChain;
};

/** Remembers nothing of earlier reads: a process that has just started, with its code compiled. */
export function createPaidReads({ nodes, tokens, observe = (chain) => chain }: PaidReadsOptions) {
  const ports = nodes.map((node) => observe(createChainAccess(node.rpc, describeChain(node, tokens))));
  const options = {
    chains: new Map(ports.map((port) => [port.chain.slug, port])),
    provider: rpcHoldingsProvider,
    priceSources: createPriceSources({ feeds: new Map(nodes.map((node) => [node.chainId, node.feeds])) }),
    positionReaders: POSITION_READERS,
    clock: systemClock,
    spenders: spenderList,
  };
  const snapshots = createSnapshotReader(options);
  const query = { wallet: nodes[0]?.wallet ?? "0x", slugs: ports.map(({ chain }) => chain.slug) } as const;
  const { signal } = new AbortController();
  const blocksAt = async (depth: number) =>
    new Map(
      await Promise.all(
        ports.map(async (port) => [port.chain.slug, (await port.pin(signal)).block.number - depth] as const),
      ),
    );
  return {
    snapshot: (wallet: Hex = query.wallet) => snapshots.read({ ...query, wallet }, signal),
    exposure: () => readExposure(options, query, signal),
    diff: async () =>
      readDiff(
        { ...options, snapshots, storedSnapshots: null },
        { ...query, from: await blocksAt(1), to: await blocksAt(0) },
        signal,
      ),
  };
}
