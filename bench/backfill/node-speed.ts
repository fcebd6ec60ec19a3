// How fast the replay node serves logs that are discarded: it must not be the bottleneck of a backfill.

export type NodeThroughput = { readonly ms: number; readonly bytes: number };

const BLOCKS_PER_REQUEST = 500;
const IN_FLIGHT = 4;

/** Requests the logs of every block once, with the indexer's own filters, and discards the responses. */
export async function measureNodeThroughput(
  url: string,
  blocks: { readonly from: number; readonly to: number },
  filters: readonly object[],
): Promise<NodeThroughput> {
  const startedMs = performance.now();
  let next = blocks.from;
  let bytes = 0;
  const drain = async (): Promise<void> => {
    while (next <= blocks.to) {
      const [from, to] = [next, Math.min(blocks.to, next + BLOCKS_PER_REQUEST - 1)];
      next = to + 1;
      const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` };
      const calls = filters.map((filter, id) => ({
        jsonrpc: "2.0",
        id,
        method: "eth_getLogs",
        params: [{ ...range, ...filter }],
      }));
      const response = await fetch(url, { method: "POST", body: JSON.stringify(calls) });
      const { byteLength } = await response.arrayBuffer();
      bytes += byteLength;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, drain));
  return { ms: performance.now() - startedMs, bytes };
}
