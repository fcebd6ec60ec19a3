// Tables and texts of a terminal: what fits, what is cut, and what is never printed.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDisplay } from "./display.ts";
import { hangText, shortenText, toPlainJson, toPlainText, widthOf, wrapText } from "./plain-text.ts";
import { formatHead, formatRow, layOutTable } from "./table.ts";

const UNSAFE = /[\p{C}\p{Zl}\p{Zp}]/u;
const ADDRESS = "0x1234567890abcdef1234567890abcdef1234abcd";
// Every code point but halves of pairs; the unit of the library that does the same takes seconds to build.
const anyText = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff })), {
    maxLength: 15,
  })
  .map((points) => String.fromCodePoint(...points));
const silent = { write: () => true };

describe("a table", () => {
  it("narrows addresses before it leaves out columns", () => {
    const columns = [
      { title: "id" },
      { title: "owner" },
      { title: "worth", isWhole: true },
      { title: "last" },
    ] as const;
    const row = ["1", ADDRESS, "12345.678", "rest"];
    const at = (width: number | null) => formatRow(layOutTable(columns, [row], width), row);
    expect(at(null)).toBe(`1   ${ADDRESS}  12345.678  rest`);
    expect(at(80)).toBe(at(null));
    expect(at(40)).toBe("1   0x1234567890ab…abcd  12345.678  rest");
    expect(at(32)).toBe("1   0x1234…abcd  12345.678  rest");
    expect(at(31)).toBe("1   0x123456789…abcd  12345.678");
    expect(at(1)).toBe("1");
  });

  it("never exceeds the terminal, nor cuts what must stay whole", () => {
    const cell = fc.oneof(anyText, fc.constant(ADDRESS), fc.constant("日本語🧭"));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell, fc.stringMatching(/^[0-9]{1,9}$/)), { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 40, max: 120 }),
        (rows, width) => {
          const columns = [{ title: "a" }, { title: "b" }, { title: "c", isWhole: true }] as const;
          const layout = layOutTable(columns, rows, width);
          for (const row of rows) {
            const line = formatRow(layout, row);
            expect(widthOf(line)).toBeLessThanOrEqual(width);
            expect(line).not.toMatch(UNSAFE);
            expect(line).toContain(row[2]);
          }
        },
      ),
    );
  });

  it("prints a table's head without colours if NO_COLOR is set or nothing shows them", () => {
    const layout = layOutTable([{ title: "id" }], [["1"]], 80);
    const head = (isTTY: boolean, environment: Record<string, string>) =>
      formatHead(layout, createDisplay({ out: { ...silent, isTTY }, err: silent, environment }));
    expect(head(true, {})).toBe("\u001b[2mid\u001b[0m");
    expect(head(true, { NO_COLOR: "" })).toBe("\u001b[2mid\u001b[0m");
    for (const plain of [head(true, { NO_COLOR: "1" }), head(true, { TERM: "dumb" }), head(false, {})]) {
      expect(plain).toBe("id");
    }
  });
});

describe("third-party text", () => {
  it("takes unsafe characters out of text, and escapes them in JSON", () => {
    fc.assert(
      fc.property(anyText, fc.jsonValue(), (text, value) => {
        expect(toPlainText(text)).not.toMatch(UNSAFE);
        const json = toPlainJson({ text, value });
        expect(json).not.toMatch(UNSAFE);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify({ text, value })));
        expect(JSON.parse(toPlainJson({ text }, 2))).toEqual({ text });
      }),
    );
    expect(toPlainText("\u001b[31m\u009b1m\u202e\u200f\r\n\u2028\u{e0041}x")).toBe("·[31m·1m······x");
    expect(toPlainJson("\u0085\u{e0041}")).toBe('"\\u0085\\udb40\\udc41"');
  });

  it("wraps text below its first line, without its colours, and keeps commands whole", () => {
    const text = "one two three `run this --now` four";
    expect(hangText(text, null)).toEqual([text]);
    expect(hangText(text, 80)).toEqual([text]);
    expect(hangText(text, 20)).toEqual(["one two three", "  `run this --now`", "  four"]);
    expect(hangText("one two three", 8, 4)).toEqual(["one two", "    three"]);
    expect(wrapText("\u001b[1mone\u001b[0m \u001b[2mtwo\u001b[0m", 7)).toHaveLength(1);
  });

  it("cuts text by columns, keeping both ends of an address", () => {
    expect(shortenText("abcdef", 6)).toBe("abcdef");
    expect(shortenText("abcdefg", 6)).toBe("abcde…");
    expect(shortenText(ADDRESS, 11)).toBe("0x1234…abcd");
    expect(shortenText("日本語", 5)).toBe("日本…");
    expect([widthOf("日本語"), widthOf("e\u0301"), widthOf("🧭"), widthOf("…")]).toEqual([6, 1, 2, 1]);
  });
});

describe("progress", () => {
  it("shows progress only while something is waited for, and notes only on a terminal", async () => {
    let written = "";
    const err = { isTTY: true, write: (text: string) => (written += text) };
    const quick = createDisplay({ out: silent, err, environment: {} }).progress("Reading");
    quick();
    expect(written).toBe("");
    const slow = createDisplay({ out: silent, err, environment: {} }).progress("Reading");
    await expect.poll(() => written).toContain("Reading");
    slow();
    expect(written.endsWith("\r\u001b[2K")).toBe(true);
    written = "";
    const unseen = createDisplay({ out: silent, err: { ...err, isTTY: false }, environment: {} });
    unseen.progress("Reading")();
    unseen.note("for people");
    expect(written).toBe("");
    unseen.report("for all");
    expect(written).toBe("for all\n");
  });
});
