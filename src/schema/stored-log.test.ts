// A packed log is exactly the log again, whatever bytes it has, and smaller than the plain one if those are ABI words.
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Hex } from "../lib/hex.ts";
import { packLog, unpackLog } from "./stored-log.ts";

const hex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString("hex")}`;
const bytes = (minLength: number, maxLength: number) => fc.uint8Array({ minLength, maxLength });
/** Words with zeros before, behind and around their bytes, small numbers, and a few that repeat. */
const word = fc.oneof(
  bytes(32, 32),
  bytes(0, 32).map((part) => Uint8Array.from([...new Uint8Array(32 - part.length), ...part])),
  bytes(0, 32).map((part) => Uint8Array.from([...part, ...new Uint8Array(32 - part.length)])),
  fc.nat(255).map((last) => new Uint8Array(32).fill(last, 31)),
  fc.nat(3).map((each) => new Uint8Array(32).fill(each)),
);
const wordsOf = (maxLength: number) =>
  fc.array(word, { maxLength }).map((words) => Uint8Array.from(words.flatMap((each) => [...each])));
const details = fc
  .tuple(bytes(0, 31), wordsOf(80))
  .map(([odd, words]) => Uint8Array.from([...odd, ...words]));
const topics = fc.array(word.map(hex), { minLength: 1, maxLength: 4 });

/** As the columns are read: hex without a prefix. */
function packAndUnpack(log: readonly [readonly Hex[], Hex, Hex | null]): unknown {
  const packed = packLog(...log);
  if (packed === null) return null;
  return unpackLog({ topics: hex(packed.topics).slice(2), data: hex(packed.data).slice(2) });
}

it("unpacks every log whose data is whole words to exactly what was packed", () => {
  fc.assert(
    fc.property(topics, wordsOf(80).map(hex), fc.option(details.map(hex)), (all, data, added) => {
      expect(packAndUnpack([all, data, added])).toEqual({
        topics: all.map((topic) => topic.slice(2)).join(""),
        data: data.slice(2),
        details: added === null ? null : added.slice(2),
      });
    }),
  );
});

it("packs logs up to 255 words of data and of details, and none that are larger", () => {
  const topic = hex(new Uint8Array(32).fill(7));
  const large = hex(new Uint8Array(255 * 32).fill(9));
  const odd: Hex = `${large}${"0a".repeat(31)}`;
  expect(packAndUnpack([[topic], large, odd])).toEqual({
    topics: topic.slice(2),
    data: large.slice(2),
    details: odd.slice(2),
  });
  expect(packLog([topic], `${large}${topic.slice(2)}`, null)).toBeNull();
  expect(packLog([topic], "0x", `${large}${topic.slice(2)}`)).toBeNull();
});

it("leaves a log plain that has no topic, an odd number of data bytes, or no hex", () => {
  const topic = hex(new Uint8Array(32).fill(7));
  const logs: readonly (readonly [readonly Hex[], Hex, Hex | null])[] = [
    [[], topic, null],
    [[topic, topic, topic, topic, topic], "0x", null],
    [[topic], "0x01", null],
    [[topic], `${topic}0`, null],
    [[topic, "0x07"], "0x", null],
    [[topic, "0x07", `${topic}${"07".repeat(31)}`], "0x", null],
    [[topic], topic.replace("07", "zz") as Hex, null],
    [[topic], "0x", "0x0"],
    [[topic], "0x", "0xzz"],
  ];
  for (const log of logs) expect([log, packLog(...log)]).toEqual([log, null]);
});

it("stores numbers, addresses, texts and repeated details in their bytes alone", () => {
  const number = "7f".padStart(64, "0");
  const large = "80".padStart(64, "0");
  const address = "ab".repeat(20).padStart(64, "0");
  const text = "61".repeat(5).padEnd(64, "0");
  const zero = "".padEnd(64, "0");
  const packed = packLog(
    [`0x${text}`, `0x${number}`],
    `0x${large}${address}${zero}`,
    `0x05${text}${address}`,
  );
  expect(hex(packed?.topics ?? new Uint8Array())).toBe(`0x${text}050302`);
  const stored = ["ff", "0180", `14${"ab".repeat(20)}`, "00", "05", `25${"61".repeat(5)}`, "42"];
  expect(hex(packed?.data ?? new Uint8Array())).toBe(`0x${stored.join("")}`);
});

it("returns the words before the damage of a packed log, and never throws", () => {
  const digits = bytes(0, 40).map((part) => hex(part).slice(2));
  fc.assert(
    fc.property(bytes(33, 35), digits, (damaged, data) => {
      expect(() => unpackLog({ topics: hex(damaged).slice(2), data })).not.toThrow();
    }),
  );
  const topic = hex(new Uint8Array(32).fill(7));
  const packed = packLog([topic, topic], topic, topic);
  const cut = hex(packed?.data.subarray(0, 33) ?? new Uint8Array()).slice(2);
  const found = unpackLog({ topics: hex(packed?.topics ?? new Uint8Array()).slice(2), data: cut });
  expect(found).toEqual({ topics: topic.slice(2).repeat(2), data: "", details: "" });
});
