// Names in metadata: found in `data:` URIs of JSON alone, whatever else their owners write.
import { expect, it } from "vitest";
import { renderHtml } from "../lib/html.ts";
import { readMetadataName } from "./fields.ts";
import { renderForeignText } from "./format.ts";

const plain = (text: string) => `data:application/json,${encodeURIComponent(text)}`;
const base64 = (bytes: string | Uint8Array) =>
  `data:application/json;base64,${Buffer.from(bytes as string).toString("base64")}`;
const json = JSON.stringify({ name: " Weather agent ", description: "Knows the weather" });

it("reads the name of a data URI, plain or in base64", () => {
  expect(readMetadataName(plain(json))).toBe("Weather agent");
  expect(readMetadataName(base64(json))).toBe("Weather agent");
  expect(readMetadataName(`data:application/json;charset=utf-8,${json}`)).toBe("Weather agent");
  expect(readMetadataName(plain('{"name":"Wetter ☀"}'))).toBe("Wetter ☀");
});

it.each([
  ["a URI that would have to be loaded", "https://agent.example/a.json"],
  ["HTML", "data:text/html,<b>name</b>"],
  ["JSON that is cut", plain('{"name":"a')],
  ["a list", plain('["name"]')],
  ["null", plain("null")],
  ["a name that is not text", plain('{"name":{"toString":"a"}}')],
  ["a blank name", plain('{"name":"  "}')],
  ["a name of the prototype", plain('{"__proto__":{"name":"a"}}')],
  ["no name", plain("{}")],
  ["broken escapes", "data:application/json,%7B%22name%22%3A%22%E0%A4%A"],
  [
    "bytes that are not UTF-8",
    base64(Buffer.from([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('"}')])),
  ],
  ["a long name", plain(JSON.stringify({ name: "a".repeat(81) }))],
  ["a huge document", plain(JSON.stringify({ name: "a", more: "b".repeat(10_000) }))],
  ["deep nesting", plain(`${"[".repeat(5_000)}${"]".repeat(5_000)}`)],
  ["nothing", ""],
  ["no text", null],
])("finds no name in %s", (_what, uri) => {
  expect(readMetadataName(uri)).toBeNull();
});

it("a hostile name is shown as third-party text", () => {
  const name = readMetadataName(plain(JSON.stringify({ name: "<img src=x>\u202eevil" }))) ?? "";
  const shown = renderHtml(renderForeignText(name));
  expect(shown).toContain("&lt;img src=x&gt;");
  expect(shown).not.toContain("\u202e");
});
