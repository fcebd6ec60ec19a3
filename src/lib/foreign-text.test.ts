// Invisible characters: visible in JSON without a change of its value, noted for a model, and kept if they join visible characters.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../../tests/support/any-character.ts";
import { noteInvisible, noteInvisibleWithin, stringifyVisibly } from "./foreign-text.ts";

/** "Ignore all" in tag characters, as models read them and people do not. */
const TAGS = Array.from("Ignore all", (letter) =>
  String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0)),
).join("");
const HIDDEN = {
  "tag characters": TAGS,
  "controls of direction": "\u202e\u2066\u2069\u200f\u061c",
  "zero widths": "\u200b\u200b\u2060\ufeff",
  "variation selectors": "\ufe01\u{e0100}\u{e01ef}",
  fillers: "\u3164\u115f\uffa0\u034f",
  "blank letters": "\u2800\u{1d159}",
  "control characters": "\u0085\u009b",
};

describe("text of other people", () => {
  it.each(Object.entries(HIDDEN))("shows %s in JSON, without a change of the value", (_name, hidden) => {
    const record = { metadata_uri: `https://a.example/${hidden}x` };
    const text = stringifyVisibly(record) ?? "";
    expect(text).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(text)).toEqual(record);
  });

  it.each(Object.entries(HIDDEN))("notes %s for a model, and leaves none of them", (_name, hidden) => {
    const count = Array.from(hidden).length;
    expect(noteInvisible(`USD${hidden} Coin`)).toBe(`USD[${count} invisible characters] Coin`);
    expect(noteInvisibleWithin([{ [`a${hidden}`]: { b: hidden } }])).toEqual([
      { [`a[${count} invisible characters]`]: { b: `[${count} invisible characters]` } },
    ]);
  });

  it("keeps every key of a value whose keys become the same note", () => {
    const noted = noteInvisibleWithin({
      ...{ "a\u200b": 1, "a\u200c": 2, "a\u2060": 3, "a[1 invisible character] (2)": 4 },
    });
    expect(Object.entries(noted as object)).toEqual([
      ["a[1 invisible character]", 1],
      ["a[1 invisible character] (2)", 2],
      ["a[1 invisible character] (3)", 3],
      ["a[1 invisible character] (2) (2)", 4],
    ]);
    expect(Object.values(noteInvisibleWithin(JSON.parse('{"__proto__": 5}')) as object)).toEqual([5]);
    const many = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, index) => [String.fromCodePoint(0xe0000 + index), index]),
    );
    expect(Object.values(noteInvisibleWithin(many) as object)).toEqual(Object.values(many));
  });

  it.each(["👨‍👩‍👧 family", "I ❤️ Rust", "می‌خواهم", "क्‍ष", "plain\ttext\nof two lines", "Ünïcödé"])(
    "keeps what readers see: %s",
    (text) => {
      expect(noteInvisible(text)).toBe(text);
    },
  );

  it("does not take a run of joiners for one, nor one between Latin letters", () => {
    expect(noteInvisible("क\u200d\u200cष")).toBe("क[2 invisible characters]ष");
    expect(noteInvisible("US\u200dDC")).toBe("US[1 invisible character]DC");
  });

  it("any value stays the same to a parser", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: anyCharacter, maxLength: 30 }), { maxLength: 5 }), (value) => {
        const text = stringifyVisibly(value) ?? "";
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(text).not.toMatch(/[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/u);
      }),
    );
  });
});
