// Overviews of exposures and differences: at most 2 kB with hostile names and the largest numbers, and valid by schema.
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import type { PortfolioDiff } from "../../../schema/portfolio/diff.ts";
import { exampleDiff, exampleExposure } from "../../../schema/portfolio/examples.ts";
import type { Exposure } from "../../../schema/portfolio/exposure.ts";
import { SUPPORTED_CHAINS } from "../../query.ts";
import { DIFF_BUDGET } from "../routes/diff.ts";
import { EXPOSURE_BUDGET } from "../routes/exposure.ts";
import { OVERVIEW_BYTES_MAX } from "./budget.ts";

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const exposure = exampleExposure;
const diff = exampleDiff;

// The largest that can be: an amount and a price of 78 digits each.
const LARGEST = `${"9".repeat(156)}.999999`;
const TEXTS = ["name", "\u0000".repeat(500), "💣".repeat(300), "\ud800".repeat(300), '"\\'.repeat(200)];

function hostileExposure(text: string): Exposure {
  const [permission] = exposure.permissions;
  if (permission === undefined) throw new Error("the example has a permission");
  const counts = {
    permissionCount: 500,
    unlimitedCount: 500,
    unknownSpenderCount: 500,
    valueAtRiskUsd: LARGEST,
  };
  const [chain] = exposure.summary.chains;
  if (chain === undefined) throw new Error("the example has a chain");
  return {
    ...exposure,
    summary: {
      ...exposure.summary,
      ...counts,
      chains: SUPPORTED_CHAINS.map((slug) => ({ ...chain, ...counts, chain: slug })),
      warnings: Array(40).fill(text),
    },
    permissions: Array(500).fill({ ...permission, symbol: text, spenderName: text, valueAtRiskUsd: LARGEST }),
  };
}

function hostileDiff(text: string): PortfolioDiff {
  const [token] = diff.tokens;
  if (token?.before == null) throw new Error("the example has a token");
  const usd = { changeUsd: `-${LARGEST}`, quantityUsd: `-${LARGEST}`, priceUsd: LARGEST };
  const blocks = SUPPORTED_CHAINS.map((chain) => ({ chain, number: 999_999_999_999 }));
  const side = { ...diff.from, blocks, warnings: Array(40).fill(text) };
  const changed = { ...token, before: { ...token.before, symbol: text }, after: null, ...usd };
  return {
    ...diff,
    ...{ from: side, to: side, tokens: Array(2_000).fill(changed) },
    total: { ...diff.total, beforeUsd: LARGEST, afterUsd: LARGEST, ...usd, otherUsd: LARGEST },
  };
}

/** The overview as it is sent. */
function summarize<Body>({ shapes }: typeof EXPOSURE_BUDGET | typeof DIFF_BUDGET, body: Body) {
  const { summary } = shapes as unknown as Record<
    string,
    { schema: object; cut(body: Body): unknown } | undefined
  >;
  if (summary === undefined) throw new Error("there is a summary");
  const text = JSON.stringify(summary.cut(body));
  const isValid = ajv.compile(summary.schema);
  expect(isValid(JSON.parse(text)), ajv.errorsText(isValid.errors)).toBe(true);
  return { bytes: Buffer.byteLength(text), value: JSON.parse(text) as Record<string, unknown> };
}

describe("an overview of an exposure", () => {
  const [permission] = exposure.permissions as [Exposure["permissions"][number]];
  const listValues = (...values: readonly (string | null)[]) => {
    const permissions = values.map((valueAtRiskUsd) => ({ ...permission, valueAtRiskUsd }));
    const { value } = summarize(EXPOSURE_BUDGET, { ...exposure, permissions });
    return (value.permissions as Exposure["permissions"]).map(({ valueAtRiskUsd }) => valueAtRiskUsd);
  };

  it("lists the largest known values next to what is unknown", () => {
    expect(listValues(null, null, null, null, null, null, "9", "8", "7")).toEqual([
      null,
      null,
      null,
      "9",
      "8",
    ]);
    expect(listValues(null, "9", "8", null, null, "0")).toEqual([null, "9", "8", null, null]);
    expect(listValues(null, null, null, null, null, null)).toEqual(Array(5).fill(null));
  });
});

describe.each(TEXTS)("with names such as %j", (text) => {
  it("an overview of an exposure fits into 2,048 bytes", () => {
    const { bytes, value } = summarize(EXPOSURE_BUDGET, hostileExposure(text));
    expect(bytes).toBeLessThanOrEqual(OVERVIEW_BYTES_MAX);
    expect(value).toMatchObject({ permissionCount: 500, valueAtRiskUsd: LARGEST, warningCount: 40 });
  });

  it("an overview of a difference fits into 2,048 bytes", () => {
    const { bytes, value } = summarize(DIFF_BUDGET, hostileDiff(text));
    expect(bytes).toBeLessThanOrEqual(OVERVIEW_BYTES_MAX);
    expect(value).toMatchObject({ changedTokenCount: 2_000, warningCount: 80 });
  });
});

describe("an overview", () => {
  it("an overview of an exposure lists what is most at risk", () => {
    const { value } = summarize(EXPOSURE_BUDGET, exposure);
    const [permission] = exposure.permissions;
    expect(value.permissions).toMatchObject([{ spender: permission?.spender, valueAtRiskUsd: "1250.25" }]);
    expect(value.warnings).toHaveLength(1);
  });

  it("an overview of a difference lists the largest changes in either direction first", () => {
    const [token] = diff.tokens;
    if (token === undefined) throw new Error("the example has a token");
    const changes = ["1", "-20", "3", null, "19.5", "-0.1", "4"];
    const tokens = changes.map((changeUsd) => ({ ...token, changeUsd }));
    const { value } = summarize(DIFF_BUDGET, { ...diff, tokens });
    const listed = value.largestChanges as { changeUsd: string; symbol: string }[];
    expect(listed.map(({ changeUsd }) => changeUsd)).toEqual(["-20", "19.5", "4", "3", "1"]);
    expect(listed[0]?.symbol).toBe("ETH");
  });
});
