// A paid snapshot is correct: every number matches plain reads of the chains at the named blocks.

import { priceFeedAbi } from "@sextant/contracts/generated/price-feed";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import type { LocalAccountName } from "@sextant/local-chain/accounts";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PortfolioSnapshot } from "../../src/schema/portfolio/snapshot.ts";
import { casesOf } from "../support/test-depth.ts";
import {
  type ExpectedChain,
  formatMicroUsd,
  formatUnits,
  parseMicroUsd,
  readExpectedChain,
} from "./expected-portfolio.ts";
import { sendHostileTokens, sendLyingToken, sendPlainToken, sendTransaction } from "./hostile-tokens.ts";
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
let service: PortfolioService;
let customer: Awaited<ReturnType<typeof openPayingClient>>;

beforeAll(async () => {
  stage = await openServiceStage();
  service = await stage.serve();
  customer = await openPayingClient(stage);
  // Prices with all digits used, different on the two chains.
  for (const [market, ether, dollar] of [
    [stage.base, 3_123_45678901n, 99_987_654n],
    [stage.ethereum, 3_119_00000007n, 1_00012345n],
  ] as const) {
    const { native, tokens } = market.feeds;
    for (const [feed, price] of [
      [native?.feed, ether],
      [tokens[listedTokenOf(market, "USDC")]?.feed, dollar],
    ] as const) {
      await sendTransaction(market, feed ?? "0x", priceFeedAbi, "setAnswer", [price]);
    }
  }
});

afterAll(async () => {
  await stage?.close();
});

const accounts = () => stage.paid.chain.accounts;
const lower = (address: Hex) => address.toLowerCase() as Hex;
const marketOf = (slug: string) => (slug === "base" ? stage.base : stage.ethereum);

function snapshotOf(address: Hex, more = ""): Promise<PortfolioSnapshot> {
  return customer.snapshot(service.url, `address=${address}${more}`);
}

/** The block that the snapshot names. */
function pinnedBlock({ access }: StagedMarket, { summary }: PortfolioSnapshot): Hex {
  const { name } = access.chain;
  const [warning] = summary.warnings.filter((warning) => warning.startsWith(`${name} was read at block `));
  const [, hash] = /\((0x[0-9a-f]{64})\)\.$/.exec(warning ?? "") ?? [];
  if (hash === undefined) throw new Error(`the snapshot names no block of ${name}`);
  return hash as Hex;
}

/** The whole snapshot read again, from nothing but the blocks it names. */
async function readExpected(snapshot: PortfolioSnapshot): Promise<ReadonlyMap<string, ExpectedChain>> {
  const chains = new Map<string, ExpectedChain>();
  for (const slug of snapshot.chains) {
    const market = marketOf(slug);
    chains.set(slug, await readExpectedChain(market, snapshot.address as Hex, pinnedBlock(market, snapshot)));
  }
  return chains;
}

const sum = (values: Iterable<bigint>) => [...values].reduce((total, value) => total + value, 0n);

/** Larger values first, then the order of the chains, then the native coin and contracts in their order. */
function expectedTokens(plain: ReadonlyMap<string, ExpectedChain>) {
  return [...plain]
    .flatMap(([slug, { tokens }]) =>
      [...tokens]
        .sort((a, b) => ((a.contract ?? "") < (b.contract ?? "") ? -1 : 1))
        .map((token) => ({ slug, token })),
    )
    .sort((a, b) => (a.token.value === b.token.value ? 0 : a.token.value > b.token.value ? -1 : 1))
    .map(({ slug, token: { contract, raw, decimals, price, value } }) => ({
      ...{ chain: slug, chainId: `eip155:${marketOf(slug).chainId}`, contract, decimals },
      rawBalance: raw.toString(),
      balance: formatUnits(raw, decimals),
      priceUsd: formatUnits(price, 8),
      valueUsd: formatMicroUsd(value),
    }));
}

async function expectTruth(snapshot: PortfolioSnapshot): Promise<void> {
  const plain = await readExpected(snapshot);
  const { summary, tokens, positions } = snapshot;
  const counted = tokens.filter(({ spam }) => !spam);
  expect(counted).toMatchObject(expectedTokens(plain));
  expect(counted.length).toBe(expectedTokens(plain).length);
  expect(positions.map(({ chain, valueUsd }) => [chain, valueUsd]).sort()).toEqual(
    [...plain]
      .flatMap(([slug, chain]) => chain.positions.map((value) => [slug, formatMicroUsd(value)]))
      .sort(),
  );
  expect(summary.totalValueUsd).toBe(formatMicroUsd(sum([...plain.values()].map(({ total }) => total))));
  expect(summary.stablecoinValueUsd).toBe(
    formatMicroUsd(sum([...plain.values()].map(({ stable }) => stable))),
  );
  expect(summary.chains.map(({ chain }) => chain)).toEqual(snapshot.chains);
  const spamOn = (slug: string) => tokens.filter(({ chain, spam }) => spam && chain === slug).length;
  expect(summary.chains).toEqual(
    [...plain].map(([chain, { tokens: known, total }]) => ({
      chain,
      totalValueUsd: formatMicroUsd(total),
      tokenCount: known.length + spamOn(chain),
      pricedTokenCount: known.length,
      unpricedTokenCount: spamOn(chain),
    })),
  );
  const inPositions = positions
    .filter(({ kind }) => kind !== "borrowed")
    .map((position) => ({ ...position, symbol: position.assets[0]?.symbol ?? null }));
  expect(summary.topHoldings).toEqual(
    [...counted, ...inPositions]
      .map(({ chain, contract, symbol, name, valueUsd }) => ({ chain, contract, symbol, name, valueUsd }))
      .sort((a, b) => Number(parseMicroUsd(b.valueUsd ?? "0") - parseMicroUsd(a.valueUsd ?? "0"))),
  );
  expectAddsUp(snapshot);
}

/** With nothing but the response. */
function expectAddsUp({ tokens, positions, summary }: PortfolioSnapshot): void {
  const counted = tokens.filter(({ spam }) => !spam);
  const values = (chain?: string) =>
    [...counted, ...positions]
      .filter((each) => chain === undefined || each.chain === chain)
      .flatMap(({ valueUsd }) => (valueUsd === null ? [] : [parseMicroUsd(valueUsd)]));
  expect(parseMicroUsd(summary.totalValueUsd ?? "0")).toBe(sum(values()));
  for (const { chain, totalValueUsd } of summary.chains)
    expect(parseMicroUsd(totalValueUsd ?? "0")).toBe(sum(values(chain)));
  expect(summary.tokenCount).toBe(tokens.length);
  expect(summary.pricedTokenCount + summary.unpricedTokenCount).toBe(summary.tokenCount);
  expect(BigInt(summary.tokenCount)).toBe(sum(summary.chains.map(({ tokenCount }) => BigInt(tokenCount))));
}

describe("a paid snapshot", () => {
  it.each(casesOf<LocalAccountName>("payer", "agent", "solver", "merchant", "guardian"))(
    "a paid snapshot is correct for the %s",
    async (name) => {
      const { address } = accounts()[name];
      const snapshot = await snapshotOf(address);
      expect(snapshot.address).toBe(lower(address));
      expect(snapshot.chains).toEqual(["base", "ethereum"]);
      await expectTruth(snapshot);
    },
  );

  it("counts vault shares once, as their assets", async () => {
    const { tokens, positions } = await snapshotOf(accounts().solver.address);
    for (const market of [stage.base, stage.ethereum]) {
      const vault = listedTokenOf(market, "vUSDC");
      expect(tokens.filter(({ contract }) => contract === vault)).toEqual([]);
      const found = positions.filter(({ chain, contract }) => chain === market.slug && contract === vault);
      expect(found).toMatchObject([
        {
          ...{ protocol: "erc-4626", kind: "vault", name: "USD Coin Vault" },
          assets: [
            { contract: listedTokenOf(market, "USDC"), rawBalance: "100000000001", balance: "100000.000001" },
          ],
        },
      ]);
    }
  });

  it("lists its chains in the order of the request, each once", async () => {
    const snapshot = await snapshotOf(accounts().attestor.address, "&chains=eth,base,eth");
    expect(snapshot.chains).toEqual(["ethereum", "base"]);
    expect(snapshot.summary.chains.map(({ chain }) => chain)).toEqual(["ethereum", "base"]);
    await expectTruth(snapshot);
    const one = await snapshotOf(accounts().attestor.address, "&chains=%20ETHEREUM%20");
    expect(one.chains).toEqual(["ethereum"]);
    expect(new Set(one.tokens.map(({ chain }) => chain))).toEqual(new Set(["ethereum"]));
    await expectTruth(one);
  });

  it("lists the transfers of the wallet, newest first", async () => {
    const wallet = lower(accounts().payer.address);
    const { recentActivity } = await snapshotOf(wallet, "&chains=base");
    expect(recentActivity.length).toBeGreaterThanOrEqual(3);
    const blocks = recentActivity.map(({ blockNumber }) => Number(blockNumber));
    expect(blocks).toEqual([...blocks].sort((a, b) => b - a));
    for (const { hash, from, to, blockNumber } of recentActivity) {
      expect([from, to]).toContain(wallet);
      const receipt = await callNode<{ blockNumber: Hex }>(stage.base, "eth_getTransactionReceipt", [hash]);
      expect(Number(receipt.blockNumber)).toBe(blockNumber);
    }
  });
});

describe("unsolicited tokens", () => {
  // Used by no other test, so that no cached snapshot serves it.
  const wallet: Hex = `0x${"51".repeat(20)}`;
  let hostile: readonly Hex[];
  let lure: Hex;
  let copy: Hex;
  let liar: Hex;
  let snapshot: PortfolioSnapshot;

  beforeAll(async () => {
    await sendTransaction(stage.base, listedTokenOf(stage.base, "USDC"), usdCoinAbi, "mint", [
      wallet,
      1_234_567n,
    ]);
    hostile = await sendHostileTokens(stage.base, wallet);
    lure = await sendPlainToken(stage.base, wallet, "Visit https://claim.example", "CLAIM", 10n ** 24n);
    copy = await sendPlainToken(stage.base, wallet, "USD Coin", "USDC", 10n ** 12n);
    liar = await sendLyingToken(stage.base, wallet, 5_000n);
    snapshot = await snapshotOf(wallet, "&chains=base");
  });

  it("unsolicited tokens do not affect other holdings", async () => {
    await expectTruth(snapshot);
    expect(snapshot.summary).toMatchObject({
      ...{ tokenCount: 4, pricedTokenCount: 1, totalValueUsd: formatMicroUsd(1_234_415n) },
    });
  });

  it("a warning names unsolicited tokens that return no balance", () => {
    const [warning] = snapshot.summary.warnings.filter((text) => text.includes("returned no balance"));
    expect(warning).toContain(`${hostile.length} unlisted tokens returned no balance and are left out`);
    expect(hostile.filter((address) => warning?.includes(address)).length).toBe(3);
    const shown = snapshot.tokens.map(({ contract }) => contract);
    for (const address of hostile) expect(shown).not.toContain(address);
  });

  it("lists unsolicited tokens as spam, without a value, with the reasons in the warnings", () => {
    const spam = snapshot.tokens.filter((token) => token.spam);
    expect(spam.map(({ contract }) => contract).sort()).toEqual([lure, copy, liar].sort());
    for (const token of spam) expect([token.priceUsd, token.valueUsd]).toEqual([null, null]);
    const about = (address: Hex) =>
      snapshot.summary.warnings.filter((warning) => warning.includes(address)).join(" ");
    expect(about(lure)).toContain("The name or symbol contains a web address.");
    expect(about(copy)).toContain("The symbol reads like that of another, known asset.");
    expect(about(liar)).toContain("It is in no token list and no source has a price for it.");
    // 274 does not fit a byte: it is not truncated to 18, and only the raw balance is shown.
    const lying = spam.find(({ contract }) => contract === liar);
    expect(lying).toMatchObject({ decimals: null, rawBalance: "5000", balance: null });
  });

  it("spam=exclude leaves out spam, and keeps other tokens and the total", async () => {
    const without = await snapshotOf(wallet, "&chains=base&spam=exclude");
    expect(without.tokens).toEqual(snapshot.tokens.filter(({ spam }) => !spam));
    expect(without.summary.totalValueUsd).toBe(snapshot.summary.totalValueUsd);
    const included = await snapshotOf(wallet, "&chains=base&spam=include");
    expect(included.tokens).toEqual(snapshot.tokens);
  });
});
