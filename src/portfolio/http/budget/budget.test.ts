// Budgets: every cut is a cut of the full snapshot, a summary has at most 2 kB, and hostile parameters are rejected.
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../../../../tests/support/any-character.ts";
import { walletArbitrary } from "../../../../tests/support/portfolio/arbitrary-wallet.ts";
import { makeSnapshot } from "../../../../tests/support/portfolio/portfolio-parts.ts";
import { compareDecimals, parseDecimal } from "../../../lib/decimal.ts";
import { exampleSnapshot } from "../../../schema/portfolio/examples.ts";
import { type PortfolioSnapshot, portfolioSnapshotSchema } from "../../../schema/portfolio/snapshot.ts";
import { SUPPORTED_CHAINS } from "../../query.ts";
import type { RouteServices } from "../routes/paid-route.ts";
import { WALLET_ROUTES } from "../routes/paid-routes.ts";
import { portfolioHoldingsSchema, portfolioOverviewSchema, portfolioRoute } from "../routes/portfolio.ts";
import { OVERVIEW_BYTES_MAX } from "./budget.ts";

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const isValid = {
  full: ajv.compile(portfolioSnapshotSchema),
  tokens: ajv.compile(portfolioHoldingsSchema),
  summary: ajv.compile(portfolioOverviewSchema),
};
type Detail = keyof typeof isValid;

const query = portfolioRoute.createQuery([...SUPPORTED_CHAINS]);
const ADDRESS = `0x${"ab".repeat(20)}`;

/** As the router parses them. */
function parse(given: Readonly<Record<string, string>>) {
  const values = Object.entries({ address: ADDRESS, ...given }).map(([name, text]) => {
    const parameter = query.parameters.find((each) => each.name === name);
    return [name, parameter?.kind.parse(text, name)];
  });
  return query.parse(Object.fromEntries(values));
}

async function cut<Body = Record<string, unknown>>(
  snapshot: PortfolioSnapshot,
  given: Readonly<Record<string, string>>,
): Promise<Body> {
  const services = { snapshots: { read: async () => snapshot } } as unknown as RouteServices;
  return (await parse(given).read(services, new AbortController().signal)) as Body;
}

const snapshots = walletArbitrary.map((chains) => makeSnapshot(...chains));
const details = fc.constantFrom<Detail>("full", "tokens", "summary");
const minUsd = fc
  .tuple(fc.bigInt(0n, 10n ** 12n), fc.integer({ min: 0, max: 6 }))
  .map(([units, decimals]) => {
    const digits = units.toString().padStart(decimals + 1, "0");
    const at = digits.length - decimals;
    return decimals === 0 ? digits : `${digits.slice(0, at)}.${digits.slice(at)}`;
  });

describe("a budget", () => {
  it("returns the snapshot itself without a budget", async () => {
    expect(await cut(exampleSnapshot, {})).toBe(exampleSnapshot);
    expect(await cut(exampleSnapshot, { detail: "full" })).toBe(exampleSnapshot);
  });

  it("a budget leaves values as the full snapshot has them, and follows its schema", async () => {
    await fc.assert(
      fc.asyncProperty(snapshots, details, fc.option(minUsd), async (snapshot, detail, min) => {
        const given = { detail, ...(min === null ? {} : { min_usd: min }) };
        const body = await cut(snapshot, given);
        expect(
          isValid[detail](JSON.parse(JSON.stringify(body))),
          ajv.errorsText(isValid[detail].errors),
        ).toBe(true);
        for (const [name, value] of Object.entries(body)) {
          if (name in snapshot) expectPart(name, value, snapshot[name as keyof PortfolioSnapshot]);
        }
      }),
    );
  });

  it("min_usd omits exactly what is worth less, counts it, and keeps every total", async () => {
    await fc.assert(
      fc.asyncProperty(snapshots, minUsd, async (snapshot, min) => {
        const body = await cut<PortfolioSnapshot>(snapshot, { min_usd: min });
        const isEnough = (value: string | null) =>
          value !== null &&
          compareDecimals(parseDecimal(value.replace("-", ""), ""), parseDecimal(min, "")) >= 0;
        expect(body.tokens).toEqual(snapshot.tokens.filter(({ valueUsd }) => isEnough(valueUsd)));
        const kept = snapshot.positions.filter(
          ({ valueUsd, partial }) => partial || valueUsd === null || isEnough(valueUsd),
        );
        expect(body.positions).toEqual(kept);
        expect(body.summary).toEqual(snapshot.summary);
        expect(body.omitted).toMatchObject({
          tokens: snapshot.tokens.length - body.tokens.length,
          unpricedTokens: snapshot.tokens.filter(({ valueUsd }) => valueUsd === null).length,
          positions: snapshot.positions.length - body.positions.length,
        });
      }),
    );
  });

  it("fields returns the named fields and no others, in every form", async () => {
    const body = await cut(exampleSnapshot, {
      fields: "tokens.symbol,summary.totalValueUsd,address,tokens.symbol,positions.assets.symbol",
    });
    const { address, summary, tokens, positions } = exampleSnapshot;
    expect(body).toEqual({
      address,
      summary: { totalValueUsd: summary.totalValueUsd },
      tokens: tokens.map(({ symbol }) => ({ symbol })),
      positions: positions.map(({ assets }) => ({ assets: assets.map(({ symbol }) => ({ symbol })) })),
    });
    expect(await cut(exampleSnapshot, { fields: "tokens,tokens.symbol" })).toEqual({
      tokens,
    });
    expect(await cut(exampleSnapshot, { detail: "summary", fields: "warningCount" })).toEqual({
      warningCount: summary.warnings.length,
    });
  });

  it.each(WALLET_ROUTES.map((route) => [route.path, route] as const))(
    "describes fields by one that the response has: %s",
    (_path, { createQuery, exampleQuery }) => {
      const { parameters, parse: parseRoute } = createQuery([...SUPPORTED_CHAINS]);
      const { description } = parameters.find(({ name }) => name === "fields") ?? { description: "" };
      const fields = /such as `([\w.]+)`/.exec(description)?.[1] ?? "";
      const values = Object.entries({ ...exampleQuery, fields }).map(([name, text]) => {
        return [name, parameters.find((each) => each.name === name)?.kind.parse(text, name)];
      });
      expect(parseRoute(Object.fromEntries(values)).query).toMatchObject({ fields });
    },
  );

  it("binds a payment to its budget, in one form for equal budgets", () => {
    const base = { address: ADDRESS, chains: "base,ethereum" };
    expect(parse({ detail: "full" }).query).toEqual(base);
    expect(parse({ detail: "summary" }).query).toEqual({ ...base, detail: "summary" });
    expect(parse({ min_usd: "1.50" }).query).toEqual({ ...base, min_usd: "1.5" });
    expect(parse({ fields: "tokens.symbol,address,tokens.chain" }).query).toEqual({
      ...base,
      fields: "address,tokens.chain,tokens.symbol",
    });
    expect(parse({ fields: "tokens.symbol,tokens" }).query).toEqual({ ...base, fields: "tokens" });
  });

  it.each([
    [{ detail: "everything" }, /detail/],
    [{ min_usd: "-1" }, /min_usd/],
    [{ min_usd: "1e3" }, /min_usd/],
    [{ min_usd: "9".repeat(40) }, /min_usd/],
    [{ fields: "" }, /fields/],
    [{ fields: "tokens." }, /fields/],
    [{ fields: "tokens..symbol" }, /fields/],
    [{ fields: "address,".repeat(400) }, /fields/],
    [{ fields: "nothing" }, /nothing is not in the response; the known are address, timestamp, chains, /],
    [{ fields: "tokens.nothing" }, /tokens\.nothing is not .* tokens\.chain, tokens\.chainId, /],
    [{ fields: "address.first" }, /address has no fields/],
    [{ fields: "tokens,tokens.nothing" }, /tokens\.nothing/],
    [{ fields: "constructor" }, /constructor is not/],
    [{ detail: "summary", fields: "tokens" }, /the known are .*topHoldings/],
  ])("rejects the budget %j", (given, message) => {
    expect(() => parse(given as Record<string, string>)).toThrow(message);
  });
});

/** A value of the cut is in the full one: equal, or a record or list with less in it. */
function expectPart(name: string, part: unknown, whole: unknown): void {
  // The overview lists the totals of chains under a name that has their slugs in the snapshot.
  if (name === "chains" && Array.isArray(part) && typeof part[0] === "object") return;
  if (Array.isArray(part) && Array.isArray(whole)) {
    const texts = whole.map((each) => each as unknown);
    for (const each of part) expect(texts.some((other) => isPart(each, other))).toBe(true);
  } else {
    expect(isPart(part, whole)).toBe(true);
  }
}

function isPart(part: unknown, whole: unknown): boolean {
  if (typeof part !== "object" || part === null || Array.isArray(part)) {
    return JSON.stringify(part) === JSON.stringify(whole);
  }
  return Object.entries(part).every(([name, value]) =>
    isPart(value, (whole as Record<string, unknown> | null)?.[name]),
  );
}

// The largest that can be: an amount and a price of 78 digits each.
const LARGEST = `-${"9".repeat(156)}.999999`;
const hostileText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 400 }),
  fc.constantFrom("\u0000".repeat(500), "💣".repeat(300), "\ud800".repeat(300), '"\\'.repeat(200)),
);
const hostileSnapshots = fc
  .record({
    snapshot: snapshots,
    texts: fc.array(hostileText, { minLength: 12, maxLength: 40 }),
    usd: fc.constantFrom("1", LARGEST),
  })
  .map(({ snapshot, texts, usd }): PortfolioSnapshot => {
    const counts = { tokenCount: 99_999, pricedTokenCount: 99_999, unpricedTokenCount: 99_999 };
    return {
      ...snapshot,
      summary: {
        ...counts,
        totalValueUsd: usd,
        stablecoinValueUsd: usd,
        chains: SUPPORTED_CHAINS.map((chain) => ({ chain, ...counts, totalValueUsd: usd })),
        topHoldings: texts.slice(0, 10).map((text) => ({
          ...{ chain: "optimism", contract: null, symbol: text, name: text, valueUsd: usd },
        })),
        warnings: texts,
        unlistedValueUsd: usd,
      },
    };
  });

describe("a summary", () => {
  it("a summary has at most 2,048 bytes, whatever the wallet holds", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(snapshots, hostileSnapshots), fc.option(minUsd), async (snapshot, min) => {
        const body = await cut(snapshot, { detail: "summary", ...(min === null ? {} : { min_usd: min }) });
        expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(OVERVIEW_BYTES_MAX);
      }),
    );
  });

  it("says what matters first, and how much it does not list", async () => {
    const routine = `Base was read at block 12 (0x${"ab".repeat(32)}).`;
    const missing = "The prices of three tokens could not be read.";
    const { summary, ...rest } = exampleSnapshot;
    const snapshot = { ...rest, summary: { ...summary, warnings: [...Array(9).fill(routine), missing] } };
    const body = await cut<{ warnings: string[]; warningCount: number; totalValueUsd: string }>(snapshot, {
      detail: "summary",
    });
    expect(body.warnings[0]).toBe(missing);
    expect(body.warnings.length).toBeLessThanOrEqual(5);
    expect([body.warningCount, body.totalValueUsd]).toEqual([10, summary.totalValueUsd]);
  });
});
