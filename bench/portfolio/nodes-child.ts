// The nodes of the snapshots as a child process: a real chain each, behind a cache.
import { sendToParent } from "../harness/progress.ts";
import { type CachingNode, startCachingNode } from "./caching-node.ts";
import { openTokenMarket, type TokenMarket } from "./token-market.ts";

export type NodesTask = {
  readonly chainIds: readonly number[];
  readonly listed: number;
  /** The number of wallets besides the first that hold tokens on the first chain; none if absent. */
  readonly otherWallets?: number;
  /** How many plain tokens the wallet holds; a handful if absent. */
  readonly heldPlain?: number;
  /** Delay of every response. */
  readonly delayMs: number;
};

export type ReadyNode = TokenMarket & { readonly url: string };
export type NodesReady = { readonly nodes: readonly ReadyNode[] };

const { chainIds, listed, otherWallets, heldPlain, delayMs } = JSON.parse(process.argv[2] ?? "") as NodesTask;
const opened: (Awaited<ReturnType<typeof openTokenMarket>> & { node: CachingNode })[] = [];
for (const [at, chainId] of chainIds.entries()) {
  const others = at === 0 ? otherWallets : 0;
  const { chain, market } = await openTokenMarket(chainId, listed, others, heldPlain);
  const node = await startCachingNode(chain.rpcUrl, delayMs);
  opened.push({ chain, node, market });
  sendToParent({ progress: `chain ${chainId} has ${listed} listed tokens` });
}
const ready: NodesReady = { nodes: opened.map(({ node, market }) => ({ ...market, url: node.url })) };
sendToParent(ready);

process.stdin.on("end", async () => {
  for (const { chain, node } of opened) {
    node.close();
    await chain.stop();
  }
});
process.stdin.resume();
