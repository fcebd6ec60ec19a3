// Hostile requests generated from an OpenAPI document: odd values wherever it has a parameter or a body.
import fc from "fast-check";
import type { OpenApiDocument, OpenApiOperation } from "../../../src/http/openapi/document.ts";

export type HostileRequest = {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
};

const ADDRESS = `0x${"ab".repeat(20)}`;
const HASH = `0x${"cd".repeat(32)}`;

/** Text as it appears in a URL, percent-encoded if necessary. */
const encodedArb = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "1",
      "2",
      "7",
      "true",
      "open",
      "provenance",
      ADDRESS,
      HASH,
      ADDRESS.toUpperCase(),
    ),
  },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(
        "",
        "-1",
        "-0",
        "00",
        "1.0",
        "1e3",
        "0x1",
        (10n ** 100n).toString(),
        (2n ** 256n).toString(),
        (2n ** 63n).toString(),
        "9".repeat(6_000),
        "٣",
        "１２",
        "NaN",
        "null",
        "[object Object]",
        "__proto__",
        "constructor",
        "' or 1=1 --",
        "1;drop table agents",
        "$1",
        "../../etc/passwd",
        "\u202e\ufeff😀",
        "\0",
        "a\0b",
        "\r\nx-evil: 1",
        ` ${ADDRESS} `,
        `${ADDRESS}0`,
        HASH.slice(0, -1),
      )
      .map(encodeURIComponent),
  },
  // Percent-encodings that are not text: a bare sign, half a character, overlong NUL, a surrogate, bytes beyond ASCII.
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "%",
      "%z",
      "%c3",
      "%c0%80",
      "%ed%a0%80",
      "%ff%fe",
      "%2e%2e%2f",
      "%00",
      "+",
      "&",
      "=",
      "#",
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 40 }).map(wellFormedEncoding) },
);

function wellFormedEncoding(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "?"));
}

const headerArb = fc.dictionary(
  fc.constantFrom(
    "if-none-match",
    "x-write-signature",
    "x-write-version",
    "x-write-deadline",
    "x-forwarded-for",
    "x-forwarded-host",
    "forwarded",
    "accept",
    "accept-encoding",
    "range",
    "cookie",
    "authorization",
    "x-http-method-override",
    "x-request-id",
  ),
  fc.oneof(
    fc.constantFrom("", "*", '"', 'W/"x", "y"', "-1", "0x", "9".repeat(3_000), "bytes=0-0", "gzip;q=2", "é"),
    fc.string({ unit: "grapheme-ascii", maxLength: 30 }),
  ),
  { maxKeys: 2 },
);

const contentTypeArb = fc.oneof(
  { weight: 6, arbitrary: fc.constant("application/json") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "",
      "application/json; charset=utf-8",
      "application/json; charset=utf-16",
      "text/plain",
      "multipart/form-data; boundary=x",
      "application/x-www-form-urlencoded",
      "application/jsonx",
      "a".repeat(2_000),
    ),
  },
);

const jsonValueArb: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    1e300,
    "",
    "0",
    "-1",
    "1e3",
    (10n ** 100n).toString(),
    "x".repeat(5_000),
    ADDRESS,
    HASH,
    `${HASH}zz`,
    "0x",
    "0xA",
    [],
    {},
    [[[[]]]],
    { toString: 1 },
    { constructor: { prototype: 1 } },
    "\u202e",
    "{",
    '{"a":1}',
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Bodies that are not JSON, or ambiguous JSON. */
const rawBodyArb = fc.oneof(
  fc
    .constantFrom(
      "",
      "null",
      "[]",
      '"text"',
      "{",
      "{}{}",
      '{"a":1,"a":2}',
      '{"a":"\\ud800"}',
      '{"a":"\\u0000"}',
      '{"a":9007199254740993}',
      '{"a":1e999}',
      '{"__proto__":{"x":1}}',
      "\ufeff{}",
      "[".repeat(50_000),
      "[".repeat(200) + "]".repeat(200),
      `{"a":"${"x".repeat(300_000)}"}`,
    )
    .map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
);

/** Requests for one operation: odd variations of a good one. */
export function hostileRequests(
  path: string,
  method: string,
  operation: OpenApiOperation,
  good: { readonly target: string; readonly body?: unknown },
): fc.Arbitrary<HostileRequest> {
  const names = operation.parameters.filter((each) => each.in === "query").map(({ name }) => String(name));
  const keyArb = fc.constantFrom(...names, "block", "limit", "unknown", "__proto__", "%00");
  const goodSegments = good.target.split("?", 1).join("").split("/");
  const segments = path
    .split("/")
    .flatMap((part, index) => (part.startsWith("{") ? [goodSegments[index] ?? ""] : []));
  const goodBody = operation.requestBody === undefined ? undefined : good.body;
  return fc
    .record({
      values: fc.tuple(
        ...segments.map((each) => fc.oneof(fc.constant(each), { weight: 3, arbitrary: encodedArb })),
      ),
      query: fc.array(fc.tuple(keyArb, encodedArb), { maxLength: 4 }),
      headers: headerArb,
      contentType: contentTypeArb,
      body: goodBody === undefined ? fc.constant(null) : bodyArb(goodBody),
      head: method === "get" ? fc.constantFrom(false, false, false, true) : fc.constant(false),
    })
    .map(({ values, query, headers, contentType, body, head }) => {
      let next = 0;
      const filled = path.replace(/\{\w+\}/g, () => String(values[next++]));
      const search = query.map(([key, value]) => `${key}=${value}`).join("&");
      return {
        method: head ? "HEAD" : method.toUpperCase(),
        target: (search === "" ? filled : `${filled}?${search}`).replaceAll("#", "%23"),
        headers: body === null ? headers : { ...headers, "content-type": contentType },
        body,
      };
    });
}

function bodyArb(good: unknown): fc.Arbitrary<Buffer> {
  const fields = Object.entries(good as Readonly<Record<string, unknown>>);
  const changed = fc
    .tuple(
      fc.subarray(fields),
      fc.dictionary(fc.constantFrom(...fields.map(([key]) => key), "other"), jsonValueArb, { maxKeys: 3 }),
    )
    .map(([unchanged, odd]) => Buffer.from(JSON.stringify({ ...Object.fromEntries(unchanged), ...odd })));
  const whole = fc.constant(Buffer.from(JSON.stringify(good)));
  return fc.oneof(
    { weight: 5, arbitrary: changed },
    { weight: 2, arbitrary: rawBodyArb },
    { weight: 1, arbitrary: whole },
  );
}

/** Every operation of the document. */
export function operationsOf(
  document: OpenApiDocument,
): { path: string; method: string; operation: OpenApiOperation }[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}
