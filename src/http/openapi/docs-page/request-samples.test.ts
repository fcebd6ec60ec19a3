// Requests as code: a shell and the compiler read them as the request that they were made from, whatever is in it.
import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../../../../tests/support/any-character.ts";
import { runsOf } from "../../../../tests/support/test-depth.ts";

type Parameter = { name: string; in: string; type: string; value: string };
type Request = { method: string; path: string; parameters: Parameter[]; body: string | null };
type Samples = {
  buildTarget(request: Request): string;
  formatCurl(base: { origin: string } | { variable: string; fallback: string }, request: Request): string;
  formatClientCall(base: { origin: string }, call: object, request: Request): string;
};

// Imported by URL: the compiler of the tests does not include the modules of the page.
const { buildTarget, formatCurl, formatClientCall } = (await import(
  new URL("./request-samples.ts", import.meta.url).href
)) as Samples;

const ORIGIN = "http://127.0.0.1:3001";
const parameter = (name: string, place: string, value: string, type = "string"): Parameter => ({
  ...{ name, in: place, type, value },
});

const HOSTILE = ["$(id)", "`id`", "'; id; '", '"', "\\", "a\nb", "@/etc/passwd", "../..", "a&b=c#d?e,f+g"];

/** The arguments that a shell passes to curl. */
function readArguments(command: string, environment: Readonly<Record<string, string>> = {}): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}\n`;
  const output = execFileSync("/bin/sh", ["-c", script], { encoding: "utf8", env: environment });
  return output.split("\0").slice(0, -1);
}

describe("a curl command", () => {
  it("has method, URL, headers and body", () => {
    const request = {
      method: "PUT",
      path: "/intents/{id}/metadata",
      parameters: [parameter("id", "path", "7"), parameter("x-min-block", "header", "12")],
      body: '{"a": "it\'s"}',
    };
    expect(readArguments(formatCurl({ origin: ORIGIN }, request))).toEqual([
      ...["-X", "PUT", `${ORIGIN}/intents/7/metadata`, "-H", "x-min-block: 12"],
      ...["-H", "content-type: application/json", "--data-raw", '{"a": "it\'s"}'],
    ]);
  });

  it("takes the URL from a variable if the service does not know its own", () => {
    const request = {
      method: "GET",
      path: "/intents",
      parameters: [parameter("q", "query", "$HOME!")],
      body: null,
    };
    const command = formatCurl({ variable: "URL_OF_IT", fallback: "" }, request);
    expect(readArguments(command, { URL_OF_IT: ORIGIN })).toEqual([`${ORIGIN}/intents?q=%24HOME%21`]);
  });

  it("passes every value on and runs none of it", () => {
    const text = fc.string({ unit: anyCharacter }).map((value) => value.replaceAll("\0", ""));
    const property = fc.property(text, text, text, (inPath, inQuery, body) => {
      const parameters = [parameter("id", "path", inPath), parameter("q", "query", inQuery)];
      const request = { method: "POST", path: "/things/{id}", parameters, body };
      const passed = readArguments(formatCurl({ origin: ORIGIN }, request));
      expect([passed[0], passed[1], passed.length]).toEqual(["-X", "POST", 7]);
      expect(passed[6]).toBe(body);
      expect(passed[2]).toBe(ORIGIN + buildTarget(request));
      const { search } = new URL(passed[2] ?? "");
      expect(new URLSearchParams(search.replaceAll("+", "%2B")).get("q")).toBe(inQuery);
    });
    const examples = HOSTILE.map((each): [string, string, string] => [each, each, each]);
    fc.assert(property, { numRuns: runsOf(120), examples });
  });
});

describe("a call of the client", () => {
  const call = { action: "listIntents", option: "api", kind: "list", takesParameters: true };
  const last = (given: Partial<Request>, more: object = {}) => {
    const request = { method: "GET", path: "/intents", parameters: [], body: null, ...given };
    return formatClientCall({ origin: ORIGIN }, { ...call, ...more }, request)
      .split("\n")
      .at(-1);
  };

  it("passes parameters by name, and a block in the client's own way", () => {
    const parameters = [
      parameter("status", "query", 'o"pen'),
      parameter("limit", "query", "5", "integer"),
      parameter("offset", "query", "3", "integer"),
      parameter("block", "query", "327"),
      parameter("x-min-block", "header", "400"),
    ];
    expect(last({ parameters })).toBe(
      'for await (const record of sextant.at(327n).listIntents({ status: "o\\"pen", limit: 5 }, { minBlock: 400n })) console.log(record);',
    );
  });

  it("leaves nothing out before what comes later", () => {
    const parameters = [parameter("min_block", "query", "9x")];
    expect(last({ parameters }, { kind: "read" })).toBe(
      'console.log(await sextant.listIntents({}, { minBlock: BigInt("9x") }));',
    );
    expect(last({ parameters }, { kind: "read", takesParameters: false })).toBe(
      'console.log(await sextant.listIntents({ minBlock: BigInt("9x") }));',
    );
  });

  it("replaces half of a surrogate pair, which no URL can have", () => {
    const request = {
      method: "GET",
      path: "/{id}",
      parameters: [parameter("id", "path", "a\ud800")],
      body: null,
    };
    expect(buildTarget(request)).toBe("/a%EF%BF%BD");
  });

  it("keeps a number that JavaScript could not hold as text", () => {
    const parameters = [parameter("limit", "query", "9007199254740993", "integer")];
    expect(last({ parameters }, { kind: "read" })).toContain('limit: "9007199254740993"');
  });
});
