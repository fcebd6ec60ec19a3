// Examples of the paid routes: blocks that exist on the real chains, and others for chains that have none of those.
import { describe, expect, it } from "vitest";
import { EXAMPLE_BLOCKS } from "../../query.ts";
import { showExamples, WALLET_ROUTES } from "./paid-routes.ts";

const SERVED = ["base", "ethereum"];
/** The block in which Multicall3 was deployed: before it nothing can be read. */
const FIRST_BLOCKS: Readonly<Record<string, number>> = { base: 5_022, ethereum: 14_353_601 };

const examplesOf = (routes: typeof WALLET_ROUTES) =>
  routes.map(({ createQuery, exampleQuery }) => {
    const { parameters } = createQuery(SERVED);
    const ofParameters = parameters.map(({ name, example }) => [name, example] as const);
    return { exampleQuery, parameters: Object.fromEntries(ofParameters) };
  });

describe("examples of paid routes", () => {
  it("examples of blocks are of the real chains, after the deployment of what reads them", () => {
    const [snapshot, diff, exposure] = examplesOf(WALLET_ROUTES).map(({ parameters }) => parameters);
    expect([snapshot?.block, exposure?.block, diff?.from]).toEqual(Array(3).fill(EXAMPLE_BLOCKS));
    for (const text of [EXAMPLE_BLOCKS, String(diff?.to)]) {
      const blocks = text.split(",").map((pair) => pair.split(":") as [string, string]);
      expect(blocks.map(([slug]) => slug)).toEqual(SERVED);
      for (const [slug, block] of blocks) {
        expect(Number(block)).toBeGreaterThan(FIRST_BLOCKS[slug] ?? Number.NaN);
      }
    }
  });

  it("a service of other chains shows its own blocks, and the other examples as they are", () => {
    const [from, to, block] = ["base:1", "base:2", "base:3"] as const;
    const [snapshot, diff] = examplesOf(showExamples({ block, from, to }));
    const [real, realDiff] = examplesOf(WALLET_ROUTES);
    expect(snapshot).toEqual({ ...real, parameters: { ...real?.parameters, block } });
    expect(diff).toEqual({
      exampleQuery: { ...realDiff?.exampleQuery, from, to },
      parameters: { ...realDiff?.parameters, from, to },
    });
  });
});
