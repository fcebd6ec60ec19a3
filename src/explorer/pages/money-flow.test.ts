// The layout of money flows: nothing is lost, nothing overlaps, everything stays inside.
import fc from "fast-check";
import { expect, it } from "vitest";
import { renderHtml } from "../../lib/html.ts";
import { drawFlows, type FlowLink, type FlowNode, layoutFlows } from "./money-flow.ts";

const node = (id: string, column: number): FlowNode => ({ id, column, label: id });
const link = (from: string, to: string, value: bigint): FlowLink => ({ from, to, value, title: "" });

const flows = fc
  .array(fc.tuple(fc.nat(5), fc.nat(5), fc.nat(5), fc.bigInt({ min: 1n, max: 10n ** 30n })), {
    minLength: 1,
    maxLength: 20,
  })
  .map((paths) => {
    const ids = [0, 1, 2].map((column) => [...new Set(paths.map((path) => `${column}-${path[column]}`))]);
    const nodes = ids.flatMap((names, column) => names.map((id) => node(id, column)));
    const links = paths.flatMap(([payer, merchant, facilitator, value]) => [
      link(`0-${payer}`, `1-${merchant}`, value),
      link(`1-${merchant}`, `2-${facilitator}`, value),
    ]);
    return { nodes, links };
  });

it("every node stays inside, apart from the next, and is as high as what it carries", () => {
  fc.assert(
    fc.property(flows, ({ nodes, links }) => {
      const layout = layoutFlows(nodes, links);
      expect(layout.nodes).toHaveLength(nodes.length);
      expect(layout.links).toHaveLength(links.length);
      for (const column of [0, 1, 2]) {
        const placed = layout.nodes.filter((each) => each.column === column);
        for (const [index, { y, height }] of placed.entries()) {
          expect(y).toBeGreaterThanOrEqual(-0.001);
          expect(y + height).toBeLessThanOrEqual(layout.height + 0.001);
          const next = placed[index + 1];
          if (next !== undefined) expect(next.y).toBeGreaterThanOrEqual(y + height);
        }
        const sum = placed.reduce((total, { height }) => total + height, 0);
        const first = layout.nodes
          .filter((each) => each.column === 0)
          .reduce((all, { height }) => all + height, 0);
        expect(Math.abs(sum - first)).toBeLessThan(0.01);
      }
    }),
    { numRuns: 50 },
  );
});

it("draws labels as text, never as markup", () => {
  const nodes = [{ id: "a", column: 0, label: "<script>" }, node("b", 1)];
  const text = renderHtml(drawFlows(layoutFlows(nodes, [link("a", "b", 5n)]), "One payment"));
  expect(text).toContain("&lt;script&gt;");
  expect(text).not.toContain("<script>");
  expect(text).toContain('role="img"');
});

it("has a drawing for flows of nothing", () => {
  expect(layoutFlows([node("a", 0)], []).nodes).toEqual([expect.objectContaining({ height: 0 })]);
});
