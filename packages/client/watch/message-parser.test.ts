// Messages of a stream, in whatever pieces they arrive.
import fc from "fast-check";
import { expect, it } from "vitest";
import { MessageParser } from "./message-parser.ts";

function parse(parts: readonly string[], lengthMax = 1_000) {
  const parser = new MessageParser(lengthMax);
  return { messages: parts.flatMap((part) => [...parser.read(part)]), retryMs: parser.retryMs };
}

it.each<[string, string, readonly (readonly [string, string])[]]>([
  ["a message", "data: a\n\n", [["message", "a"]]],
  ["a name", "event: undo\ndata: a\n\n", [["undo", "a"]]],
  [
    "a name for one message only",
    "event: undo\ndata: a\n\ndata: b\n\n",
    [
      ["undo", "a"],
      ["message", "b"],
    ],
  ],
  ["several lines", "data: a\ndata:  b\ndata\n\n", [["message", "a\n b\n"]]],
  ["comments and unknown fields", ": keep-alive\n\nother: x\ndata:a\n\n", [["message", "a"]]],
  ["a name without data", "event: undo\n\ndata: a\n\n", [["message", "a"]]],
  [
    "every kind of line break",
    "data: a\r\rdata: b\r\n\r\ndata: c\n\n",
    [
      ["message", "a"],
      ["message", "b"],
      ["message", "c"],
    ],
  ],
  ["what was not completed", "data: a\n\ndata: b\n", [["message", "a"]]],
])("reads %s", (_what, text, expected) => {
  const found = parse([text]).messages.map(({ name, data }) => [name, data]);
  expect(found).toEqual(expected);
});

it("reads the same from any pieces", () => {
  const text = 'retry: 7\r\n\r\nevent: undo\r\ndata: {"a":1}\r\n\r\n: c\n\ndata: x\ndata: y\n\ndata: z\r\r';
  const whole = parse([text]);
  expect(whole.messages).toHaveLength(3);
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 30 }), (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), text.length];
      expect(parse(at.slice(1).map((end, index) => text.slice(at[index], end)))).toEqual(whole);
    }),
  );
});

it("takes the time to wait only from a valid retry field", () => {
  expect(parse(["retry: 500\n\n"]).retryMs).toBe(500);
  for (const text of ["-1", "1e9", "", "9".repeat(30), "soon"]) {
    expect(parse([`retry: ${text}\n\n`]).retryMs).toBeNull();
  }
});

it.each<[string, (n: number) => string]>([
  ["a line without an end", () => "x".repeat(99)],
  ["a message without an end", () => `data: ${"x".repeat(50)}\n`],
  ["empty lines of data", () => "data\n"],
  ["a name without an end", () => `event: ${"x".repeat(99)}`],
])("keeps no more than the limit of %s", (_what, piece) => {
  const parser = new MessageParser(10_000);
  const readAll = () => {
    for (let n = 0; n < 20_000; n += 1) for (const _ of parser.read(piece(n))) throw new Error("no message");
  };
  expect(readAll).toThrow("more than 10000 characters");
});

it("reads comments and messages without end if each is small", () => {
  const parser = new MessageParser(100);
  let count = 0;
  for (let n = 0; n < 10_000; n += 1) {
    for (const _ of parser.read(`: ${"x".repeat(80)}\nid: ${"y".repeat(80)}\ndata: ${n}\n\n`)) count += 1;
  }
  expect(count).toBe(10_000);
});
