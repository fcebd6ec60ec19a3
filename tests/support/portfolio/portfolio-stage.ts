// A real chain behind faulty nodes, and the portfolio's access to it with the token list of a test.

import { LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { afterAll } from "vitest";
import { localChain } from "../../../src/chain/chains/chains.ts";
import type { Hex } from "../../../src/lib/hex.ts";
import { createChainAccess } from "../../../src/portfolio/chain-access.ts";
import type { ChainConfig, ListedToken, PortfolioChain } from "../../../src/portfolio/types.ts";
import { type FaultyNode, startFaultyNode } from "../nodes/faulty-node.ts";
import type { NodeFaultInjection, NodeRpcCall } from "../nodes/node-faults.ts";
import { createTestRpc } from "../nodes/test-rpc.ts";

type PortfolioStage = {
  readonly chain: LocalChain;
  readonly wallet: Hex;
  /** A separate node in front of the chain, honest by default. */
  node(plan?: (calls: readonly NodeRpcCall[]) => NodeFaultInjection | null): Promise<FaultyNode>;
  port(node: FaultyNode, tokens?: readonly Hex[]): PortfolioChain;
};

/** Starts a chain for the calling test file, and stops everything when the file is done. */
export async function startPortfolioStage(code: Readonly<Record<Hex, Hex>> = {}): Promise<PortfolioStage> {
  const chain = await startLocalChain({
    chainId: localChain.chainId,
    code: { ...LOCAL_GENESIS_CODE, ...code },
  });
  const nodes: FaultyNode[] = [];
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await chain.stop();
  });
  return {
    chain,
    wallet: chain.accounts.payer.address.toLowerCase() as Hex,
    async node(plan = () => null) {
      const node = await startFaultyNode({ upstream: chain.rpcUrl, plan: (_, calls) => plan(calls) });
      nodes.push(node);
      return node;
    },
    port: (node, tokens = []) =>
      createChainAccess(
        createTestRpc([node.url], { limits: { requestTimeoutMs: 60_000 } }).rpc,
        localChainConfig(tokens),
      ),
  };
}

export function localChainConfig(tokens: readonly Hex[]): ChainConfig {
  return {
    slug: localChain.slug,
    chainId: localChain.chainId,
    name: localChain.name,
    native: localChain.native,
    blockTimeMs: localChain.blockTimeMs,
    explorerTxUrl: null,
    tokens: new Map(tokens.map((contract, i) => [contract, listedToken(contract, i)])),
    stablecoins: new Set(),
  };
}

function listedToken(contract: Hex, index: number): ListedToken {
  return { contract, symbol: `T${index}`, name: `Token ${index}`, decimals: 18, logo: null };
}

/** The fault plan of a node without state overrides. */
export function rejectStateOverrides(calls: readonly NodeRpcCall[]): NodeFaultInjection | null {
  const overrides = calls.some(({ method, params }) => method === "eth_call" && params.length > 2);
  return overrides ? { kind: "error", code: -32602, message: "too many arguments, want at most 2" } : null;
}
