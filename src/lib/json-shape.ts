// Shapes of the data files that we ship: a shape checks a parsed value and gives it its type.
import { Fault } from "./fault.ts";
import type { Hex } from "./hex.ts";
import { isJsonObject } from "./json.ts";

/** Returns the value in its type, or throws a Fault that names the value by `path`. */
export type Shape<T> = (value: unknown, path: string) => T;
export type ShapeType<S> = S extends Shape<infer T> ? T : never;

type OptionalShape<T> = Shape<T> & { readonly isOptional: true };
type Fields = Readonly<Record<string, Shape<unknown>>>;
type ObjectOf<F extends Fields> = {
  readonly [K in keyof F as F[K] extends OptionalShape<unknown> ? never : K]: ShapeType<F[K]>;
} & { readonly [K in keyof F as F[K] extends OptionalShape<unknown> ? K : never]?: ShapeType<F[K]> };
type VariantOf<K extends string, C extends Readonly<Record<string, Fields>>> = {
  [N in keyof C]: { readonly [P in K]: N } & ObjectOf<C[N]>;
}[keyof C];

function fail(path: string, expected: string): never {
  throw new Fault("INTERNAL", `${path} must be ${expected}.`);
}

function matching<T extends string>(pattern: RegExp, expected: string): Shape<T> {
  const matches = (value: unknown): value is T => typeof value === "string" && pattern.test(value);
  return (value, path) => (matches(value) ? value : fail(path, expected));
}

function integer(value: unknown, path: string): number {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : fail(path, "a whole number");
}

function object<const F extends Fields>(fields: F): Shape<ObjectOf<F>> {
  return (value, path) => {
    if (!isJsonObject(value)) fail(path, "an object");
    const surplus = Object.keys(value).find((key) => !Object.hasOwn(fields, key));
    if (surplus !== undefined)
      fail(`${path}.${surplus}`, `absent: only ${Object.keys(fields).join(", ")} are known`);
    const entries = Object.entries(fields)
      .filter(([key, field]) => key in value || !("isOptional" in field))
      .map(([key, field]) => [key, field(value[key], `${path}.${key}`)]);
    return Object.fromEntries(entries) as ObjectOf<F>;
  };
}

export const shape = {
  text: matching<string>(/^\S(?:.*\S)?$/u, "text"),
  /** A day, or a month if the source does not say more. */
  date: matching<string>(/^\d{4}-\d{2}(?:-\d{2})?$/, "a date such as 2026-08-19"),
  address: matching<Hex>(/^0x[0-9a-f]{40}$/, "an address in lower case"),
  /** Lower case is not accepted: the checksum is the only sign of a mistyped digit. Tests compare it. */
  checksumAddress: matching<Hex>(/^0x(?=.*[A-F]|\d+$)[0-9a-fA-F]{40}$/, "an address with a checksum"),
  hash: matching<Hex>(/^0x[0-9a-f]{64}$/, "a hash in lower case"),
  integer,
  bigInteger: (value: unknown, path: string) => BigInt(integer(value, path)),
  flag: (value: unknown, path: string) => (typeof value === "boolean" ? value : fail(path, "true or false")),
  oneOf:
    <const T extends string | true>(...known: readonly T[]): Shape<T> =>
    (value, path) =>
      known.find((each) => each === value) ?? fail(path, `one of ${known.join(", ")}`),
  nullable:
    <T>(inner: Shape<T>): Shape<T | null> =>
    (value, path) =>
      value === null ? null : inner(value, path),
  optional: <T>(inner: Shape<T>): OptionalShape<T> =>
    Object.assign((value: unknown, path: string) => inner(value, path), { isOptional: true as const }),
  /** No two items may have the same key: the item itself, unless `keyOf` names another one. */
  list:
    <T>(inner: Shape<T>, keyOf: (item: T) => unknown = (item) => item): Shape<readonly T[]> =>
    (value, path) => {
      if (!Array.isArray(value)) fail(path, "a list");
      const keys = new Set<unknown>();
      return value.map((each, index) => {
        const item = inner(each, `${path}[${index}]`);
        if (keys.has(keyOf(item))) fail(`${path}[${index}]`, "another one: it is listed twice");
        keys.add(keyOf(item));
        return item;
      });
    },
  /** An object of named texts, such as reasons. */
  texts: (value: unknown, path: string): Readonly<Record<string, string>> => {
    if (!isJsonObject(value)) fail(path, "an object");
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, shape.text(each, `${path}.${key}`)]),
    );
  },
  object,
  /** A value that code keeps in another form than the file does. */
  mapped:
    <T, U>(inner: Shape<T>, convert: (value: T) => U): Shape<U> =>
    (value, path) =>
      convert(inner(value, path)),
  /** An object whose `key` says which other fields it has. */
  variant: <const K extends string, const C extends Readonly<Record<string, Fields>>>(
    key: K,
    cases: C,
  ): Shape<VariantOf<K, C>> => {
    const name = shape.oneOf(...Object.keys(cases));
    return (value, path) => {
      if (!isJsonObject(value)) fail(path, "an object");
      const fields = cases[name(value[key], `${path}.${key}`)] as Fields;
      return object({ [key]: name, ...fields })(value, path) as VariantOf<K, C>;
    };
  },
} as const;
