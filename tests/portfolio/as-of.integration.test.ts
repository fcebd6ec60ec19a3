// Paid snapshots as of blocks, and differences between them, on real chains: the same from any process at any time.
// In main, src/portfolio/past-blocks.test.ts and dates.test.ts fail for the same broken rules.
import { priceFeedAbi } from "@sextant/contracts/generated/price-feed";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Hex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { applyDiff } from "../../src/portfolio/diff/apply-diff.ts";
import { addUsd, extractFigures } from "../../src/portfolio/diff/figures.ts";
import { FREE_READ_LIMITS } from "../../src/portfolio/free-reads.ts";
import { diffRoute } from "../../src/portfolio/http/routes/diff.ts";
import { exposureRoute } from "../../src/portfolio/http/routes/exposure.ts";
import { portfolioRoute } from "../../src/portfolio/http/routes/portfolio.ts";
import type { PortfolioDiff } from "../../src/schema/portfolio/diff.ts";
import type { Exposure } from "../../src/schema/portfolio/exposure.ts";
import type { PortfolioSnapshot, SnapshotBlock } from "../../src/schema/portfolio/snapshot.ts";
import { sendPlainToken, sendTransaction } from "./hostile-tokens.ts";
import {
  callNode,
  listedTokenOf,
  openPayingClient,
  openServiceStage,
  type PortfolioService,
  type ServiceStage,
  type StagedMarket,
} from "./service-stage.ts";

let stage: ServiceStage;
let [first, second]: PortfolioService[] = [];
let customer: Awaited<ReturnType<typeof openPayingClient>>;
let wallet: Hex;

beforeAll(async () => {
  stage = await openServiceStage();
  first = await stage.serve();
  second = await stage.serve();
  customer = await openPayingClient(stage, 10n);
  wallet = stage.paid.chain.accounts.payer.address.toLowerCase() as Hex;
  await sendPlainToken(stage.base, wallet, "Plain", "PLN", 5n);
});
afterAll(() => stage?.close());

const headOf = async (market: StagedMarket) => Number(await callNode<Hex>(market, "eth_blockNumber", []));
const heads = async () => `base:${await headOf(stage.base)},ethereum:${await headOf(stage.ethereum)}`;

async function buy(service: PortfolioService | undefined, path: string): Promise<string> {
  const response = await customer.fetch(`${service?.url}${path}`);
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  return text;
}

const setPrice = (market: StagedMarket, price: bigint) =>
  sendTransaction(market, market.feeds.native?.feed ?? "0x", priceFeedAbi, "setAnswer", [price]);
const giveDollars = (market: StagedMarket, amount: bigint) =>
  sendTransaction(market, listedTokenOf(market, "USDC"), usdCoinAbi, "mint", [wallet, amount]);

// Shorter than the chain, but not a block alone: the process that learned it reads all logs of later tests in ranges.
const RANGE_BLOCKS_MAX = 8;

/** The node rejects long ranges of logs, of which a process learns the length. */
const rejectLongRanges: StagedMarket["plan"] = (calls) =>
  calls.some(
    ({ method, params }) =>
      method === "eth_getLogs" &&
      Number((params[0] as { toBlock: Hex }).toBlock) - Number((params[0] as { fromBlock: Hex }).fromBlock) >=
        RANGE_BLOCKS_MAX,
  )
    ? { kind: "error", code: -32_005, message: "query returned more than 10000 results" }
    : null;

describe("a snapshot as of blocks", () => {
  it("two servers send a byte-equal snapshot as of blocks, whatever happened in between", async () => {
    const path = `/portfolio?address=${wallet}&block=${await heads()}`;
    const before = await buy(first, path);
    expect(await headOf(stage.base)).toBeGreaterThan(RANGE_BLOCKS_MAX);
    stage.base.plan = rejectLongRanges;
    await buy(first, `/portfolio?address=${wallet}`);
    stage.base.plan = () => null;
    await giveDollars(stage.base, 77_000_000n);
    await setPrice(stage.ethereum, 2_500_00000000n);
    await sendPlainToken(stage.base, wallet, "Later", "LTR", 9n);
    expect(await buy(second, path)).toBe(before);
    const { chains, timestamp, tokens } = JSON.parse(before) as PortfolioSnapshot;
    expect(chains).toEqual(["base", "ethereum"]);
    expect(tokens.map(({ symbol }) => symbol)).toContain("PLN");
    expect(tokens.map(({ symbol }) => symbol)).not.toContain("LTR");
    const [block] = await Promise.all(
      [stage.base, stage.ethereum].map((market) =>
        callNode<{ timestamp: Hex }>(market, "eth_getBlockByNumber", ["latest", false]),
      ),
    );
    expect(Date.parse(timestamp)).toBeLessThanOrEqual(Number(block?.timestamp) * 1_000);
  });

  it.each([
    ["base:1,base:2", "block must name each chain once."],
    ["base:-1", "block must be a comma-separated list"],
    ["base:1e3", "block must be a comma-separated list"],
    ["base:9999999999999999", "block must be a comma-separated list"],
    ["bitcoin:1", "block must be a comma-separated list"],
    ["base", "block must be a comma-separated list"],
    [
      "base:1&chains=base,ethereum",
      "block must name a block of every chain of the request; it lacks ethereum.",
    ],
    ["base:1,eth:2&chains=base", "block names ethereum, which is not a chain of the request."],
  ])("rejects %s", async (block, message) => {
    const response = await fetch(`${first?.url}/portfolio?address=${wallet}&block=${block}`);
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: string }).error).toContain(message);
  });

  it("rejects a snapshot of a later block with a 400 that names the head, without a charge", async () => {
    const { account, fetch: pay } = await openPayingClient(stage);
    const head = await headOf(stage.base);
    const response = await pay(`${first?.url}/portfolio?address=${wallet}&block=base:${head + 50}`);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(`is ${head}; ${head + 50} is later.`);
    expect(await stage.paid.transfersFrom(account.address)).toEqual([]);
  });
});

describe("a difference", () => {
  it("a difference between two blocks leads from one snapshot to the other, split into parts", async () => {
    const from = await heads();
    const ether = (await callNode<Hex>(stage.base, "eth_getBalance", [wallet, "latest"])) as Hex;
    await giveDollars(stage.base, 100_000_000n);
    await setPrice(stage.base, 4_000_00000000n);
    const to = await heads();
    // One after the other: a payer that has settled nothing yet may have one payment in progress.
    const buyFigures = async (blocks: string) =>
      extractFigures(JSON.parse(await buy(first, `/portfolio?address=${wallet}&block=${blocks}`)));
    const a = await buyFigures(from);
    const b = await buyFigures(to);
    const text = await buy(first, `/portfolio/diff?address=${wallet}&from=${from}&to=${to}`);
    const diff = JSON.parse(text) as PortfolioDiff;
    expect(applyDiff(a, { ...diff, timestamp: diff.to.timestamp })).toEqual(b);
    const dollars = diff.tokens.find(({ contract }) => contract === listedTokenOf(stage.base, "USDC"));
    expect(dollars).toMatchObject({ chain: "base", priceUsd: "0" });
    expect(dollars?.quantityUsd).toBe(dollars?.changeUsd);
    const coin = diff.tokens.find(({ chain, contract }) => chain === "base" && contract === null);
    expect(coin).toMatchObject({
      quantityUsd: "0",
      after: { rawBalance: BigInt(ether).toString(), priceUsd: "4000" },
    });
    expect(coin?.priceUsd).toBe(coin?.changeUsd);
    const { beforeUsd, afterUsd, changeUsd, quantityUsd, priceUsd, otherUsd } = diff.total;
    expect(addUsd(beforeUsd, changeUsd)).toBe(afterUsd);
    expect(addUsd(addUsd(quantityUsd, priceUsd), otherUsd)).toBe(changeUsd);
    expect(diff.chains.map(({ chain }) => chain)).toEqual(["base", "ethereum"]);
    expect(diff.chains[1]?.changeUsd).toBe("0");
    // The same from another process, after more has happened.
    await setPrice(stage.base, 4_100_00000000n);
    expect(await buy(second, `/portfolio/diff?address=${wallet}&from=${from}&to=${to}`)).toBe(text);
  });

  it("ends at the newest blocks unless it names others, and covers a vault and a loan", async () => {
    const from = `base:${await headOf(stage.base)}`;
    await setPrice(stage.base, 2_900_00000000n);
    await sendTransaction(
      stage.base,
      stage.base.feeds.tokens[listedTokenOf(stage.base, "USDC")]?.feed ?? "0x",
      priceFeedAbi,
      "setAnswer",
      [99_000_000n],
    );
    const diff = JSON.parse(
      await buy(first, `/portfolio/diff?address=${wallet}&from=${from}`),
    ) as PortfolioDiff;
    expect(diff.to.blocks).toEqual([{ chain: "base", number: await headOf(stage.base) }]);
    // Both prices fall: what is saved and the collateral lose, and the debt weighs less.
    const changes = diff.positions.map(({ kind, quantityUsd, priceUsd }) => [
      ...[kind, quantityUsd, priceUsd?.startsWith("-") ? "falls" : "rises"],
    ]);
    expect(changes.sort()).toEqual([
      ["borrowed", "0", "rises"],
      ["supplied", "0", "falls"],
      ["vault", "0", "falls"],
    ]);
  });

  it("starts from a stored snapshot, in any process, without its state", async () => {
    const bought = JSON.parse(await buy(first, `/portfolio?address=${wallet}&chains=base&spam=exclude`));
    expect(bought.snapshotId).toMatch(/^[0-9a-f]{64}$/);
    await giveDollars(stage.base, 5_000_000n);
    const path = `/portfolio/diff?address=${wallet}&from=${bought.snapshotId}`;
    const diff = JSON.parse(await buy(second, path)) as PortfolioDiff;
    expect(diff.from).toEqual({
      timestamp: bought.timestamp,
      snapshotId: bought.snapshotId,
      blocks: bought.blocks.map(({ chain, number }: SnapshotBlock) => ({ chain, number })),
      warnings: ["The warnings of the stored snapshot are not repeated here."],
    });
    expect(diff.total.beforeUsd).toBe(bought.summary.totalValueUsd);
    expect(diff.tokens.map(({ contract }) => contract)).toEqual([listedTokenOf(stage.base, "USDC")]);
    expect(diff.tokens[0]).toMatchObject({ priceUsd: "0", quantityUsd: diff.total.changeUsd });
    const { account, fetch: pay } = await openPayingClient(stage);
    for (const [query, status] of [
      [`address=${stage.paid.chain.accounts.agent.address}&from=${bought.snapshotId}`, 404],
      [`address=${wallet}&from=${"0".repeat(64)}`, 404],
      [`address=${wallet}&from=${bought.snapshotId}&chains=ethereum`, 400],
      [`address=${wallet}&from=${bought.snapshotId}&to=base:1`, 400],
    ] as const) {
      expect((await pay(`${first?.url}/portfolio/diff?${query}`)).status).toBe(status);
    }
    expect(await stage.paid.transfersFrom(account.address)).toEqual([]);
  });

  it.each([
    ["", "from"],
    ["from=base:5&to=base:4", "from must not be later than to: base from 5 to 4."],
    ["from=base:5&to=ethereum:6", "to must name a block of every chain"],
    ["from=base:5&chains=base,ethereum", "from must name a block of every chain"],
  ])("rejects %j", async (query, message) => {
    const response = await fetch(`${first?.url}/portfolio/diff?address=${wallet}&${query}`);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(message);
  });
});

describe("before a price is named", () => {
  const unpaid = async (service: PortfolioService | undefined, path: string) => {
    const response = await fetch(`${service?.url}${path}`);
    return { status: response.status, text: await response.text() };
  };

  it.each([
    "/portfolio?block=",
    "/exposure?block=",
    "/portfolio/diff?from=",
    "/portfolio/diff?from=base:1&to=",
  ])("rejects a block in the future at %s", async (path) => {
    const later = (await headOf(stage.base)) + 1_000;
    const { status, text } = await unpaid(first, `${path}base:${later}&address=${wallet}`);
    expect([status, text]).toEqual([400, expect.stringContaining(`; ${later} is later.`)]);
  });

  it.each([
    [`from=${"0".repeat(64)}`, 404, "no snapshot of that id"],
    ["from=base:1&to=base:0", 400, "from must not be later than to"],
  ])("rejects a difference with %s", async (query, status, sentence) => {
    const response = await unpaid(first, `/portfolio/diff?address=${wallet}&${query}`);
    expect(response).toEqual({ status, text: expect.stringContaining(sentence) });
  });

  it("asks no node about a block that an earlier request has shown to be readable", async () => {
    const head = await headOf(stage.base);
    const path = (block: number) => `/portfolio?address=${wallet}&block=base:${block}`;
    expect((await unpaid(first, path(1))).status).toBe(402);
    const before = stage.base.node.requests.length;
    for (const block of [1, 2, head]) expect((await unpaid(first, path(block))).status).toBe(402);
    expect(stage.base.node.requests.length).toBe(before);
  });

  it("costs nodes a bounded number of requests, and then leaves the block to the paid read", async () => {
    const flooded = await stage.serve();
    const before = stage.base.node.requests.length;
    const path = `/portfolio?address=${wallet}&block=base:999999999`;
    const statuses = [];
    for (let count = 0; count < 3 * FREE_READ_LIMITS.perClientPerMinute; count += 1) {
      statuses.push((await unpaid(flooded, path)).status);
    }
    expect([...new Set(statuses)]).toEqual([400, 402]);
    const rejected = statuses.filter((status) => status === 400).length;
    expect(rejected).toBeLessThan(2 * FREE_READ_LIMITS.perClientPerMinute);
    // The first asks the node for its chain.
    expect(stage.base.node.requests.length - before).toBeLessThanOrEqual(1 + rejected);
    await flooded.close();
  });

  it("names the price while no node responds, because an outage says nothing about the block", async () => {
    const cut = await stage.serve();
    stage.base.plan = () => ({ kind: "status", status: 503 });
    try {
      expect((await unpaid(cut, `/portfolio?address=${wallet}&block=base:1`)).status).toBe(402);
    } finally {
      stage.base.plan = () => null;
      await cut.close();
    }
  });
});

describe("a chain that cannot be read", () => {
  const fail = () => {
    stage.ethereum.plan = () => ({ kind: "status", status: 503 });
  };
  const query = () => `address=${wallet}&chains=base,ethereum`;
  const schemas = new Ajv2020({ strict: false, validateFormats: false, code: { optimize: false } });
  afterEach(() => {
    stage.ethereum.plan = () => null;
  });

  it.each([
    { route: portfolioRoute, more: "" },
    { route: exposureRoute, more: "" },
    { route: diffRoute, more: "&from=base:1,ethereum:1" },
    { route: diffRoute, more: "&from=base:1,ethereum:1&to=base:2,ethereum:2" },
  ])("fails the request unless it may be left out: $route.path $more", async ({ route, more }) => {
    const { path, response } = route;
    const { account, fetch: pay } = await openPayingClient(stage);
    fail();
    const rejected = await pay(`${first?.url}${path}?${query()}${more}`);
    expect([rejected.status, rejected.headers.get("x-error-code")]).toEqual([500, "PROVIDER_FAILED"]);
    expect(await stage.paid.transfersFrom(account.address)).toEqual([]);
    const allowed = await pay(`${first?.url}${path}?${query()}${more}&partial=allow`);
    const body = (await allowed.json()) as Record<string, unknown>;
    expect([allowed.status, body.failedChains]).toEqual([200, ["ethereum"]]);
    const validate = schemas.compile(response);
    expect([validate(body), validate.errors]).toEqual([true, null]);
    expect(await stage.paid.transfersFrom(account.address)).toHaveLength(1);
  });

  it("makes totals unknown instead of smaller, and stores nothing to start a difference from", async () => {
    const whole = JSON.parse(await buy(first, `/portfolio?${query()}&partial=allow`)) as PortfolioSnapshot;
    expect(whole).not.toHaveProperty("failedChains");
    fail();
    const partial = JSON.parse(await buy(second, `/portfolio?${query()}&partial=allow`)) as PortfolioSnapshot;
    expect(partial).not.toHaveProperty("snapshotId");
    const { summary } = partial;
    const { totalValueUsd, stablecoinValueUsd, unlistedValueUsd } = summary;
    expect([totalValueUsd, stablecoinValueUsd, unlistedValueUsd]).toEqual([null, null, null]);
    expect(summary.chains).toEqual([
      whole.summary.chains[0],
      { chain: "ethereum", tokenCount: 0, pricedTokenCount: 0, unpricedTokenCount: 0, totalValueUsd: null },
    ]);
    expect(summary.warnings[0]).toMatch(/^Ethereum.* could not be read and is missing/);
    expect(partial.blocks.map(({ chain }) => chain)).toEqual(["base"]);
  });

  it("a difference leaves out the chain on both sides", async () => {
    const path = `/portfolio/diff?${query()}&from=${await heads()}&partial=allow`;
    await giveDollars(stage.base, 3_000_000n);
    fail();
    const diff = JSON.parse(await buy(first, path)) as PortfolioDiff;
    expect(diff.total).toMatchObject({ beforeUsd: null, afterUsd: null, changeUsd: null });
    expect(diff.chains.map(({ chain, afterUsd }) => [chain, afterUsd === null])).toEqual([
      ["base", false],
      ["ethereum", true],
    ]);
    expect(new Set(diff.tokens.map(({ chain }) => chain))).toEqual(new Set(["base"]));
    expect(diff.to.warnings[0]).toBe("ethereum could not be read at both ends and is left out.");
  });

  it("an exposure says that at least so much can be taken", async () => {
    fail();
    const exposure = JSON.parse(await buy(first, `/exposure?${query()}&partial=allow`)) as Exposure;
    expect(exposure.summary.partial).toBe(true);
    expect(exposure.summary.chains[1]).toMatchObject({
      ...{ chain: "ethereum", blockNumber: null, valueAtRiskUsd: null, partial: true },
    });
  });

  it("fails a request of which no chain can be read", async () => {
    fail();
    const response = await customer.fetch(
      `${first?.url}/portfolio?address=${wallet}&chains=ethereum&partial=allow`,
    );
    expect([response.status, response.headers.get("x-error-code")]).toEqual([500, "PROVIDER_FAILED"]);
  });
});

describe("nodes without the state", () => {
  it("responds with 400 without a charge if no node has the state", async () => {
    stage.ethereum.plan = (calls) =>
      calls.some(({ method, params }) => method === "eth_call" && isHashed(params[1]))
        ? { kind: "error", code: -32_000, message: "missing trie node 1f: state is not available" }
        : null;
    try {
      const { account, fetch: pay } = await openPayingClient(stage);
      const fresh = await stage.serve();
      const path = `${fresh.url}/portfolio?address=${wallet}&block=ethereum:3`;
      for (const send of [fetch, pay]) {
        const response = await send(path);
        expect([response.status, response.headers.get("x-error-code")]).toEqual([400, "STATE_UNAVAILABLE"]);
      }
      expect(await stage.paid.transfersFrom(account.address)).toEqual([]);
    } finally {
      stage.ethereum.plan = () => null;
    }
  });
});

function isHashed(block: unknown): boolean {
  return typeof block === "object" && block !== null && "blockHash" in block;
}
