// The node requests and round trips of a snapshot: vendors bill each call, and a public node allows few requests a second.
import type { LocalChain } from "@sextant/local-chain/local-chain";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { createPaidReads } from "../../bench/portfolio/paid-reads.ts";
import { openTokenMarket, type TokenMarket } from "../../bench/portfolio/token-market.ts";
import { createRpc } from "../../src/chain/rpc/client.ts";
import { Secret } from "../../src/lib/secret.ts";
import type { NodeRpcCall } from "../support/nodes/node-faults.ts";
import { RoundNode, type RoundTrip } from "../support/nodes/round-node.ts";
import { silentLog } from "../support/quiet-log.ts";

// One chain stands in for all of them: what a snapshot asks follows from a chain's data and from what the wallet holds.
const CHAIN_IDS = [42161, 8453, 1, 10, 137];
const TOKENS = 1_000;

let chain: LocalChain;
let market: TokenMarket;

beforeAll(async () => {
  ({ chain, market } = await openTokenMarket(CHAIN_IDS[0] ?? 1, TOKENS));
});
afterAll(() => chain?.stop());

/** Each call reaches the chain once: it is slow, and what it has responded before comes at once. */
const known = new Map<string, Promise<unknown>>();

function callOnce(method: string, params: readonly unknown[] = []): Promise<unknown> {
  const key = JSON.stringify([method, params]);
  const response = known.get(key) ?? chain.request(method, params);
  known.set(key, response);
  return response;
}

type Chains = readonly (readonly RoundTrip[])[];

type OpenOptions = {
  readonly chainIds?: readonly number[];
  readonly tokens?: number;
  readonly isLate?: (calls: readonly NodeRpcCall[]) => boolean;
};

/** A process that has just started, and its nodes. */
async function openReads({ chainIds = CHAIN_IDS.slice(0, 1), tokens = TOKENS, isLate }: OpenOptions) {
  const opened = await Promise.all(
    chainIds.map(async (chainId) => {
      const node = new RoundNode({ upstream: callOnce, ...(isLate && { isLate }) });
      const { url, stop } = await node.listen();
      // Without a chain id, which the node would not confirm.
      const rpc = createRpc({ urls: [new Secret(url)], log: silentLog, onCall: null });
      onTestFinished(() => {
        rpc.close();
        return stop();
      });
      return { node, read: { ...market, chainId, url, rpc } };
    }),
  );
  const { snapshot, exposure, diff } = createPaidReads({ nodes: opened.map(({ read }) => read), tokens });
  const takeRoundTrips = () => opened.map(({ node }) => node.takeRoundTrips());
  return {
    /** Takes a snapshot; returns the round trips of each chain. */
    async takeSnapshot(): Promise<Chains> {
      const { tokens: found } = await snapshot();
      expect(found.length).toBeGreaterThanOrEqual(market.held.length);
      return takeRoundTrips();
    },
    /** The same for what can be taken from the wallet, which has approved nothing. */
    async takeExposure(): Promise<Chains> {
      const { permissions } = await exposure();
      expect(permissions).toEqual([]);
      return takeRoundTrips();
    },
    /** The same for the difference between the newest two blocks, whose numbers take a request and a round trip each. */
    async takeDiff(): Promise<Chains> {
      const { from, to } = await diff();
      expect(to.blocks[0]?.number).toBe((from.blocks[0]?.number ?? 0) + 1);
      return takeRoundTrips();
    },
  };
}

const RUNS_MAX = 6;

const countRequests = (chains: Chains) => chains.flat(2).length;
const costOf = (chains: Chains) => chains.flat().length + countRequests(chains);

/** The best snapshot of those that ask the chain for nothing new: while it is slow, calls are sent again. */
async function takeBestSnapshot(take: () => Promise<Chains>): Promise<Chains> {
  let best: Chains | null = null;
  for (let run = 1; run <= RUNS_MAX; run += 1) {
    const before = known.size;
    const chains = await take();
    if (known.size > before) continue;
    if (best !== null && costOf(chains) >= costOf(best)) return best;
    best = chains;
  }
  if (best === null) throw new Error("each snapshot asked the chain for something new");
  return best;
}

const takeFirstSnapshot = (options: OpenOptions) =>
  takeBestSnapshot(async () => (await openReads(options)).takeSnapshot());

const NEWEST = ["eth_getBlockByNumber", ["latest", false]] as const;
const setNewest = (block: unknown) => known.set(JSON.stringify(NEWEST), Promise.resolve(block));

/** The second snapshot of a wallet, at the block after that of the first. */
async function takeSecondSnapshot(options: OpenOptions): Promise<Chains> {
  const first = await callOnce(...NEWEST);
  await chain.mine();
  const second = await chain.request(...NEWEST);
  try {
    return await takeBestSnapshot(async () => {
      setNewest(first);
      const reads = await openReads(options);
      await reads.takeSnapshot();
      setNewest(second);
      return reads.takeSnapshot();
    });
  } finally {
    setNewest(first);
  }
}

it("takes at most eight requests in four round trips for the first snapshot with 1,000 tokens", async () => {
  const chains = await takeFirstSnapshot({});
  expect(chains.flat().length).toBeLessThanOrEqual(4);
  expect(countRequests(chains)).toBeLessThanOrEqual(8);
});

it("takes at most forty requests for the first snapshot on five chains", async () => {
  const chains = await takeFirstSnapshot({ chainIds: CHAIN_IDS, tokens: 10 });
  expect(countRequests(chains)).toBeLessThanOrEqual(40);
});

it("takes at most four requests in two round trips for the second snapshot of a wallet", async () => {
  const chains = await takeSecondSnapshot({});
  expect(chains.flat().length).toBeLessThanOrEqual(2);
  expect(countRequests(chains)).toBeLessThanOrEqual(4);
});

it("takes at most twenty requests for the second snapshot on five chains", async () => {
  const chains = await takeSecondSnapshot({ chainIds: CHAIN_IDS, tokens: 10 });
  expect(countRequests(chains)).toBeLessThanOrEqual(20);
});

it("takes at most sixteen requests in seven round trips for a difference between two blocks", async () => {
  const chains = await takeBestSnapshot(async () => (await openReads({})).takeDiff());
  expect(chains.flat().length).toBeLessThanOrEqual(7);
  expect(countRequests(chains)).toBeLessThanOrEqual(16);
});

const LATEST_ROUND_DATA = "feaf968c";

it("takes at most six requests in four round trips for an exposure, without senders and prices", async () => {
  const chains = await takeBestSnapshot(async () => (await openReads({})).takeExposure());
  expect(chains.flat().length).toBeLessThanOrEqual(4);
  expect(countRequests(chains)).toBeLessThanOrEqual(6);
  const calls = chains.flat(3);
  expect(calls.filter(({ method }) => method === "eth_getTransactionByHash")).toEqual([]);
  expect(JSON.stringify(calls)).not.toContain(LATEST_ROUND_DATA);
  expect(JSON.stringify((await takeFirstSnapshot({})).flat(3))).toContain(LATEST_ROUND_DATA);
});

it("asks for positions and prices while the node still searches transactions", async () => {
  const isLate = (calls: readonly NodeRpcCall[]) =>
    calls.some(({ method }) => method === "eth_getTransactionByHash");
  const [roundTrips = []] = await takeFirstSnapshot({ isLate });
  expect(roundTrips.findIndex((requests) => requests.some(isLate))).toBe(roundTrips.length - 1);
});
