// Kinds of environment variable values: how each is parsed and what it allows.
import { parseAmount } from "../lib/decimal.ts";
import type { Hex } from "../lib/hex.ts";
import { Secret } from "../lib/secret.ts";
import { splitPostgresUrl } from "./postgres-url.ts";

/** `parse` throws for an invalid value; `allowed` completes the sentence "X must be …". */
type SettingKind<T> = { readonly allowed: string; readonly parse: (text: string) => T };

export type Setting<T> = {
  readonly variable: string;
  readonly kind: SettingKind<T>;
  readonly description: string;
  readonly fallback: T;
};

export function setting<T>(
  variable: string,
  kind: SettingKind<T>,
  fallback: T,
  description: string,
): Setting<T> {
  return { variable, kind, description, fallback };
}

/** A setting that is null if its variable is not set. */
export function optionalSetting<T>(
  variable: string,
  kind: SettingKind<T>,
  description: string,
): Setting<T | null> {
  return { variable, kind, description, fallback: null };
}

/** The same kind, wrapped so that no log or error shows the value. */
export function secret<T>(kind: SettingKind<T>): SettingKind<Secret<T>> {
  return { allowed: kind.allowed, parse: (text) => new Secret(kind.parse(text)) };
}

/** One or several values of a kind, separated by commas. */
export function commaSeparated<T>(kind: SettingKind<T>): SettingKind<readonly T[]> {
  return {
    allowed: `comma-separated, each ${kind.allowed}`,
    parse: (text) => Object.freeze(text.split(",").map((part) => kind.parse(part.trim()))),
  };
}

export const textValue: SettingKind<string> = { allowed: "text", parse: (value) => value };

/** `T` is the text type that the pattern guarantees. */
export function matchingText<T extends string = string>(pattern: RegExp, allowed: string): SettingKind<T> {
  const matches = (value: string): value is T => pattern.test(value);
  return { allowed, parse: (value) => (matches(value) ? value : reject()) };
}

// The order of secp256k1.
const KEYS_END = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const KEY = "a private key: 0x followed by 64 hex digits";

export const privateKey = matchingText<Hex>(/^0x[0-9a-fA-F]{64}$/, KEY);

/** A key that an account can have. */
export const accountKey: SettingKind<Hex> = {
  allowed: KEY,
  parse: (value) => {
    const key = privateKey.parse(value);
    const number = BigInt(key);
    return number > 0n && number < KEYS_END ? key : reject();
  },
};

export const accountAddress = matchingText(/^0x[0-9a-fA-F]{40}$/, "an address: 0x followed by 40 hex digits");

export const booleanText: SettingKind<boolean> = {
  allowed: "true or false",
  parse: (value) => (value === "true" ? true : value === "false" ? false : reject()),
};

export function oneOf<const T extends string>(values: readonly T[]): SettingKind<T> {
  return {
    allowed: `one of ${values.join(", ")}`,
    parse: (value) => values.find((candidate) => candidate === value) ?? reject(),
  };
}

export function integer(min: number, max: number): SettingKind<number> {
  return {
    allowed: `an integer from ${min} to ${max}`,
    parse: (value) => {
      const number = /^[0-9]{1,15}$/.test(value) ? Number(value) : Number.NaN;
      return number >= min && number <= max ? number : reject();
    },
  };
}

// Zero lets the system choose a free port, for tests and second instances.
export const port: SettingKind<number> = { ...integer(0, 65_535), allowed: "a port number from 0 to 65535" };

/** A port, or the word for the port that another setting names. */
export const portOrShared: SettingKind<number | "shared"> = {
  allowed: "a port number from 0 to 65535, or shared",
  parse: (value) => (value === "shared" ? value : port.parse(value)),
};

// Decimals of the payment tokens.
const USD_DECIMALS = 6;

/** A positive amount of US dollars, as text. */
export const usdAmount: SettingKind<string> = {
  allowed: "US dollars above 0, at most 6 decimals",
  parse: (value) => (parseAmount(value, USD_DECIMALS, "amount") > 0n ? value : reject()),
};

const GWEI_DECIMALS = 9;

/** A positive fee per gas, as text. */
export const gweiAmount: SettingKind<string> = {
  allowed: "a positive number of gwei with at most 9 decimals, such as 0.5",
  parse: (value) => (parseAmount(value, GWEI_DECIMALS, "fee") > 0n ? value : reject()),
};

export function url(...protocols: readonly string[]): SettingKind<string> {
  return {
    allowed: `a URL starting with ${protocols.map((protocol) => `${protocol}://`).join(" or ")}`,
    parse: (value) => {
      const parsed = URL.canParse(value) ? new URL(value) : reject();
      return protocols.includes(parsed.protocol.slice(0, -1)) ? value : reject();
    },
  };
}

/** The URL of one server, or of several for fail-over, as libpq writes them. */
export const postgresUrl: SettingKind<string> = {
  allowed: "a URL starting with postgres:// or postgresql://, with one host or host:port,host:port",
  parse: (value) => {
    const one = url("postgres", "postgresql");
    for (const server of splitPostgresUrl(value)) one.parse(server);
    return value;
  },
};

/** Public URL of a service, without a trailing slash, so that paths can be appended. */
export const baseUrl: SettingKind<string> = {
  allowed: "an http:// or https:// URL without credentials, query or fragment",
  parse: (value) => {
    const { protocol, username, password, search, hash, href } = URL.canParse(value)
      ? new URL(value)
      : reject();
    const plain = !username && !password && !search && !hash && !/[?#]/.test(value);
    return /^https?:$/.test(protocol) && plain ? href.replace(/\/+$/, "") : reject();
  },
};

/** Public URL without a path. */
export const origin: SettingKind<string> = {
  allowed: "an http:// or https:// URL of a host and port, without a path",
  parse: (value) => {
    const url = baseUrl.parse(value);
    return new URL(url).origin === url ? url : reject();
  },
};

// The error never repeats the value: it may be a secret in the wrong variable.
function reject(): never {
  throw new TypeError("value not allowed");
}
