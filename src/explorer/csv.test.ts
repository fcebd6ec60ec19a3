// CSV: what a spreadsheet reads is what the API has, and nothing of it runs.
import { describe, expect, it } from "vitest";
import { closedObject, nullable } from "../schema/json-schema.ts";
import { fieldsOf, formatCell, formatCsvHead, formatCsvRows } from "./csv.ts";

describe("a cell", () => {
  it.each([
    ["=1+1", `"'=1+1"`],
    ["+1", `"'+1"`],
    ["-1", `"'-1"`],
    ["@SUM(A1)", `"'@SUM(A1)"`],
    ["\t=1", `"'\t=1"`],
    ["\r=1", `"'\r=1"`],
    ["|calc", `"'|calc"`],
    ["\t", `"'\t"`],
    ["値＝1", "値＝1"],
    [" 1", " 1"],
    ["0xab", "0xab"],
    ['a"b', '"a""b"'],
    ["a,b", '"a,b"'],
    ["a\nb", '"a\nb"'],
    ["", ""],
  ])("writes the cell %j as %j", (text, cell) => {
    expect(formatCell(text)).toBe(cell);
  });
});

describe("a cell that a spreadsheet may run", () => {
  it.each([
    // Full-width and small forms, which spreadsheets of some languages read as the plain ones; and the minus sign.
    ...["＝1+1", "＋1", "－1", "＠SUM(A1)", "｜calc", "％1", "﹦1", "﹢1", "﹣1", "﹫A1", "⁼1", "−1"],
    // Characters that spreadsheets leave out before a formula, or do not show.
    ...[" =1", "\u00a0=1", "\u3000＝1", "\ufeff=1", "\u200b=1", "\u202e=1", "\0=1", "\n=1"],
    `${"\u200b".repeat(999)}=1`,
  ])("is text although it begins with %j", (text) => {
    expect(formatCell(text)).toBe(`"'${text}"`);
  });
});

const text = { type: "string" };
const response = closedObject({
  rows: {
    type: "array",
    items: closedObject({
      id: text,
      fill: nullable(closedObject({ solver: text })),
      plan: { type: "object" },
    }),
  },
});

describe("a list", () => {
  it("has the fields of a list's description, those of objects by their own names", () => {
    expect(fieldsOf(response, "rows")).toEqual([["id"], ["fill", "solver"], ["plan"]]);
  });

  it("has the fields of all forms of a list's records", () => {
    const forms = {
      rows: {
        type: "array",
        items: { oneOf: [closedObject({ a: text }), closedObject({ a: text, b: text })] },
      },
    };
    expect(fieldsOf(closedObject(forms), "rows")).toEqual([["a"], ["b"]]);
  });

  it("leaves out fields that a record has only on request", () => {
    const item = closedObject({ id: text });
    const optional = { ...item, properties: { ...item.properties, rows: { type: "array" } } };
    const list = closedObject({ rows: { type: "array", items: optional } });
    expect(fieldsOf(list, "rows")).toEqual([["id"]]);
  });

  it("writes a head, and leaves absent values empty", () => {
    const fields = fieldsOf(response, "rows");
    const rows = [
      { id: "9007199254740993", fill: { solver: "0x1" }, plan: { a: 1 } },
      { id: "2", fill: null, plan: {} },
    ];
    expect(formatCsvHead(fields)).toBe("id,fill.solver,plan\r\n");
    expect(formatCsvRows(fields, rows)).toBe('9007199254740993,0x1,"{""a"":1}"\r\n2,,{}\r\n');
    expect(formatCsvRows(fields, [])).toBe("");
  });
});
