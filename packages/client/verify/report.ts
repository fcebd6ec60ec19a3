// Lists what can be proven in a response: its amounts, allowances and kinds of account, each with its JSON pointer.
import type { Hex } from "viem";
import { formatUnits, parseUsd, valueLimit } from "./decimals.ts";
import { Rejection } from "./rejection.ts";
import {
  ADDRESS,
  type JsonObject,
  memberOf,
  requireCount,
  requireHex,
  requireList,
  requireMatch,
  requireObject,
  requireUint,
  WORD,
} from "./strict-json.ts";

export type Side = "from" | "to" | null;
export type ClaimKind = "native" | "erc20" | "allowance" | "permit2" | "owner" | "code" | "nonce";

/** A value of the response that a proof may show. */
export type Field = {
  readonly path: string;
  /** Null for a value that version 1 of the format cannot prove. */
  readonly kind: ClaimKind | null;
  readonly chain: string;
  /** Null if the response names the chain by its slug only. */
  readonly chainId: string | null;
  readonly side: Side;
  readonly contract: Hex | null;
  readonly spender: Hex | null;
  /** The NFT whose owner is proven. */
  readonly tokenId: bigint | null;
  /** Null for a kind of account. */
  readonly value: bigint | null;
  /** The amount with the decimals and the symbol that the response states, and of an allowance its spender. */
  readonly stated: string | null;
  /** The end of an allowance in Permit2, as the response writes it. */
  readonly expiresAt: string | null;
  readonly account: { readonly kind: string | null; readonly delegate: unknown } | null;
  /** The value in units of 10^-18 US dollars that counts in the coverage; null if it does not count or is unknown. */
  readonly usd: bigint | null;
};

/** The block of a chain as the body states it. */
export type StatedBlock = {
  readonly path: string;
  readonly chain: string;
  readonly side: Side;
  readonly number: bigint;
  /** Null if the body states the number only. */
  readonly hash: Hex | null;
};

export type Report = {
  readonly kind: "snapshot" | "exposure" | "diff";
  readonly wallet: Hex;
  readonly chains: readonly string[];
  readonly blocks: readonly StatedBlock[];
  readonly fields: readonly Field[];
  /** The fields about spenders that the request names; null if the response has none of these. */
  readonly asked: readonly Field[] | null;
  /** Values without a proof that count in the total of the coverage. */
  readonly otherUsd: bigint;
  /** Absent if the response was bought without proofs. */
  readonly proofs: unknown;
};

/** At the same address on every chain. */
export const PERMIT2: Hex = "0x000000000022d473030f116ddee9f6b43ac78ba3";

const LIST_MAX = 5_000;
const SLUG = /^[a-z0-9-]{1,40}$/;
const CAIP2 = /^eip155:[1-9][0-9]{0,15}$/;

const NO_FIELD = {
  chainId: null,
  side: null,
  contract: null,
  spender: null,
  tokenId: null,
  value: null,
  stated: null,
  expiresAt: null,
  account: null,
  usd: null,
} as const;

/** Null for a response that has nothing to prove, such as a summary or a record of the index. */
export function readReport(report: JsonObject): Report | null {
  const isProvable = ["permissions", "total", "gas", "proofs"].some((name) => Object.hasOwn(report, name));
  if (!isProvable || !Object.hasOwn(report, "address")) return null;
  const wallet = requireHex(memberOf(report, "address"), "/address", ADDRESS);
  const common = { wallet, proofs: memberOf(report, "proofs") };
  if (memberOf(report, "permissions") !== undefined) return { ...common, ...readExposure(report, wallet) };
  if (memberOf(report, "total") !== undefined) return { ...common, ...readDiff(report) };
  if (memberOf(report, "gas") !== undefined) return { ...common, ...readSnapshot(report) };
  throw new Rejection(
    "The response has proofs, but is not a snapshot, an exposure or a difference in full form.",
  );
}

type Parts = Omit<Report, "wallet" | "proofs">;

function readSnapshot(report: JsonObject): Parts {
  const chains = readSlugs(report);
  const tokens = entriesOf(report, "tokens").map(({ entry, path }) => readToken(entry, path));
  const gas = entriesOf(report, "gas").map(({ entry, path }): Field => {
    const raw = requireUint(memberOf(entry, "rawBalance"), `${path}/rawBalance`);
    // The table of chains gives native coins 18 decimals.
    checkAmount(raw, 18, memberOf(entry, "balance"), `${path}/balance`);
    return {
      ...{ ...NO_FIELD, ...chainOf(entry, path), path: `${path}/rawBalance`, kind: "native", value: raw },
      stated: formatUnits(raw, 18),
    };
  });
  const accounts = entriesOf(report, "accounts").flatMap(({ entry, path }) => readAccount(entry, path));
  const blocks = entriesOf(report, "blocks").map(({ entry, path }): StatedBlock => {
    const number = BigInt(requireCount(memberOf(entry, "number"), `${path}/number`));
    const hash = requireHex(memberOf(entry, "hash"), `${path}/hash`, WORD);
    return { path: `${path}/hash`, chain: slugOf(entry, path), side: null, number, hash };
  });
  const otherUsd = sumAbsolute(
    entriesOf(report, "positions").map(({ entry, path }) => readUsd(entry, "valueUsd", path)),
  );
  for (const list of [tokens, gas, accounts]) requireOnce(list);
  const fields = [...tokens, ...gas, ...accounts];
  return { kind: "snapshot", chains, blocks, fields, asked: null, otherUsd };
}

/** The kind, and the nonce of a response with proofs. */
function readAccount(entry: JsonObject, path: string): readonly Field[] {
  const kind = memberOf(entry, "kind");
  if (kind !== null && typeof kind !== "string") throw new Rejection(`${path}/kind is malformed.`);
  const common = { ...NO_FIELD, ...chainOf(entry, path) };
  const account = { kind, delegate: memberOf(entry, "delegate") };
  const code: Field = { ...common, path: `${path}/kind`, kind: "code", account };
  const nonce = memberOf(entry, "nonce");
  if (nonce === undefined) return [code];
  const value = nonce === null ? null : requireUint(nonce, `${path}/nonce`);
  return [code, { ...common, path: `${path}/nonce`, kind: value === null ? null : "nonce", value }];
}

function readToken(token: JsonObject, path: string): Field {
  const contract = readContract(token, path);
  const raw = requireUint(memberOf(token, "rawBalance"), `${path}/rawBalance`);
  const isSpam = memberOf(token, "spam");
  if (typeof isSpam !== "boolean") throw new Rejection(`${path}/spam is malformed.`);
  const decimals = readDecimals(token, path);
  checkAmount(raw, decimals, memberOf(token, "balance"), `${path}/balance`);
  const usd = checkValue(token, raw, decimals, path);
  return {
    ...{ ...NO_FIELD, ...chainOf(token, path), path: `${path}/rawBalance`, contract },
    ...{ kind: contract === null ? "native" : "erc20", value: raw, stated: showAmount(raw, decimals, token) },
    usd: isSpam ? null : usd,
  };
}

function readExposure(report: JsonObject, wallet: Hex): Parts {
  const chains = readSlugs(report);
  const summary = requireObject(memberOf(report, "summary"), "/summary");
  const blocks = entriesOf(summary, "chains", "/summary").flatMap(({ entry, path }): StatedBlock[] => {
    const number = memberOf(entry, "blockNumber");
    if (number === null) return [];
    const count = BigInt(requireCount(number, `${path}/blockNumber`));
    return [
      { path: `${path}/blockNumber`, chain: slugOf(entry, path), side: null, number: count, hash: null },
    ];
  });
  const fields = entriesOf(report, "permissions").flatMap(({ entry, path }) => [
    ...readPermission(entry, path),
    ...readOwner(entry, path, wallet),
  ]);
  // One contract may have permissions of other kinds for several items, and a balance is in each row of its token.
  requireOnce(fields.filter(({ kind, spender }) => kind !== null && spender !== null));
  const hasAsked = memberOf(report, "allowances") !== undefined;
  const asked = hasAsked
    ? entriesOf(report, "allowances").map(({ entry, path }) => readAllowance(entry, path))
    : null;
  requireOnce((asked ?? []).map((field) => ({ ...field, kind: field.way })));
  requireBothWays(asked ?? []);
  requireAgreement(asked ?? [], fields);
  return { kind: "exposure", chains, blocks, fields: [...fields, ...(asked ?? [])], asked, otherUsd: 0n };
}

/** `way` is also that of an allowance that could not be read. */
type AskedField = Field & { readonly way: ClaimKind };

/** An allowance that the request asks for by its spender: zero is stated, too. */
function readAllowance(entry: JsonObject, path: string): AskedField {
  const kind = PERMISSION_CLAIMS.get(memberOf(entry, "kind"));
  if (kind === undefined) throw new Rejection(`${path}/kind is malformed.`);
  const raw = memberOf(entry, "rawAllowance");
  const value = raw === null ? null : requireUint(raw, `${path}/rawAllowance`);
  const expiresAt = readExpiry(entry, path);
  const contract = requireHex(memberOf(entry, "contract"), `${path}/contract`, ADDRESS);
  const spender = requireHex(memberOf(entry, "spender"), `${path}/spender`, ADDRESS);
  if (expiresAt !== null && (kind !== "permit2" || value === null || value === 0n)) {
    throw new Rejection(`${path}/expiresAt is of no allowance.`);
  }
  return {
    ...{ ...NO_FIELD, ...chainOf(entry, path), path: `${path}/rawAllowance`, value, expiresAt },
    ...{ contract, spender, kind: value === null ? null : kind, way: kind },
    stated: value === null ? null : `${value} units of ${contract} to ${spender}`,
  };
}

/** A spender without an allowance of the token may still take it by Permit2: no row of zero stands alone. */
function requireBothWays(asked: readonly AskedField[]): void {
  const waysOf = new Map<string, Set<ClaimKind>>();
  const pairOf = ({ chainId, contract, spender }: Field) => [chainId, contract, spender].join(" ");
  for (const field of asked) {
    waysOf.set(pairOf(field), (waysOf.get(pairOf(field)) ?? new Set()).add(field.way));
  }
  const lone = asked.find((field) => field.spender !== PERMIT2 && waysOf.get(pairOf(field))?.size !== 2);
  if (lone === undefined) return;
  throw new Rejection(`${lone.path} does not stand with what its spender may take directly and in Permit2.`);
}

/** With two layouts of one token, a service could show both of two amounts. */
function requireAgreement(asked: readonly Field[], permissions: readonly Field[]): void {
  const keyOf = ({ chainId, kind, contract, spender }: Field) => [chainId, kind, contract, spender].join(" ");
  const stated = new Map(permissions.map((field) => [keyOf(field), field]));
  for (const field of asked) {
    const same = field.kind === null ? undefined : stated.get(keyOf(field));
    if (same !== undefined && (same.value !== field.value || same.expiresAt !== field.expiresAt)) {
      throw new Rejection(`${field.path} contradicts ${same.path}.`);
    }
  }
}

function readExpiry(entry: JsonObject, path: string): string | null {
  const expiresAt = memberOf(entry, "expiresAt");
  return expiresAt === null ? null : requireMatch(expiresAt, `${path}/expiresAt`, /^[0-9TZ:.+-]{1,40}$/);
}

const PERMISSION_CLAIMS: ReadonlyMap<unknown, ClaimKind> = new Map([
  ["erc20-allowance", "allowance"],
  ["permit2-allowance", "permit2"],
]);

/** The allowance, and for tokens the balance that it could take. */
function readPermission(permission: JsonObject, path: string): readonly Field[] {
  const kind = PERMISSION_CLAIMS.get(memberOf(permission, "kind")) ?? null;
  const decimals = readDecimals(permission, path);
  const common = {
    ...{ ...NO_FIELD, ...chainOf(permission, path) },
    contract: requireHex(memberOf(permission, "contract"), `${path}/contract`, ADDRESS),
  };
  const spender = requireHex(memberOf(permission, "spender"), `${path}/spender`, ADDRESS);
  const usd = absolute(readUsd(permission, "valueAtRiskUsd", path));
  const amount = (raw: string, text: string) => {
    const given = memberOf(permission, raw);
    if (given === null) return null;
    const value = requireUint(given, `${path}/${raw}`);
    checkAmount(value, decimals, memberOf(permission, text), `${path}/${text}`);
    return { path: `${path}/${raw}`, value, stated: showAmount(value, decimals, permission) };
  };
  const allowance = amount("rawAllowance", "allowance");
  const balance = amount("rawBalance", "balance");
  if (kind === "permit2" && memberOf(permission, "via") !== PERMIT2) {
    throw new Rejection(`${path}/via is not Permit2.`);
  }
  if (kind !== null && allowance === null) throw new Rejection(`${path}/rawAllowance is missing.`);
  const first: Field = {
    ...{ ...common, path: `${path}/kind`, ...allowance, spender, kind, usd },
    stated: allowance && `${allowance.stated} to ${spender}`,
    expiresAt: readExpiry(permission, path),
  };
  return kind === null || balance === null ? [first] : [first, { ...common, ...balance, kind: "erc20" }];
}

/** The approval of an NFT says that the wallet owns it. */
function readOwner(permission: JsonObject, path: string, wallet: Hex): readonly Field[] {
  const id = memberOf(permission, "tokenId");
  if (memberOf(permission, "kind") !== "nft-approval" || id === null) return [];
  const tokenId = requireUint(id, `${path}/tokenId`);
  if (tokenId >= 2n ** 256n) throw new Rejection(`${path}/tokenId is malformed.`);
  return [
    {
      ...{ ...NO_FIELD, ...chainOf(permission, path), path: `${path}/tokenId`, tokenId },
      ...{ kind: "owner", value: BigInt(wallet), stated: `NFT ${tokenId} of the wallet` },
      contract: requireHex(memberOf(permission, "contract"), `${path}/contract`, ADDRESS),
    },
  ];
}

function readDiff(report: JsonObject): Parts {
  const sides = (["from", "to"] as const).map((side) => {
    const path = `/${side}`;
    const entries = entriesOf(requireObject(memberOf(report, side), path), "blocks", path);
    return entries.map(({ entry, path: at }): StatedBlock => {
      const number = BigInt(requireCount(memberOf(entry, "number"), `${at}/number`));
      return { path: `${at}/number`, chain: slugOf(entry, at), side, number, hash: null };
    });
  });
  const fields = entriesOf(report, "tokens").flatMap(({ entry, path }) => readChange(entry, path));
  requireOnce(fields);
  const assets = entriesOf(report, "positions").flatMap(({ entry, path }) =>
    entriesOf(entry, "assets", path),
  );
  const otherUsd = sumAbsolute(
    assets.flatMap(({ entry, path }) =>
      ["before", "after"].map((name) => {
        const figures = memberOf(entry, name);
        return figures === null
          ? null
          : readUsd(requireObject(figures, `${path}/${name}`), "valueUsd", `${path}/${name}`);
      }),
    ),
  );
  const chains = entriesOf(report, "chains").map(({ entry, path }) => slugOf(entry, path));
  return {
    ...{ kind: "diff", chains: requireDistinct(chains), blocks: sides.flat(), fields },
    ...{ asked: null, otherUsd },
  };
}

function readChange(change: JsonObject, path: string): readonly Field[] {
  const contract = readContract(change, path);
  const sides = [
    ["before", "from"],
    ["after", "to"],
  ] as const;
  return sides.map(([name, side]): Field => {
    const at = `${path}/${name}`;
    const figures = memberOf(change, name);
    const kind = contract === null ? "native" : "erc20";
    const common = { ...NO_FIELD, chain: slugOf(change, path), side, contract, kind } as const;
    if (figures === null) return { ...common, path: at, value: 0n, stated: "0" };
    const given = requireObject(figures, at);
    const raw = requireUint(memberOf(given, "rawBalance"), `${at}/rawBalance`);
    const decimals = readDecimals(given, at);
    const usd = checkValue(given, raw, decimals, at);
    return { ...common, path: `${at}/rawBalance`, value: raw, stated: showAmount(raw, decimals, given), usd };
  });
}

/** Each of two equal rows would be proven, and their sum false. */
function requireOnce(fields: readonly Field[]): void {
  const seen = new Set<string>();
  for (const { path, chain, chainId, side, kind, contract, spender } of fields) {
    const identity = [chainId ?? chain, side, kind, contract, spender].join(" ");
    if (seen.has(identity)) throw new Rejection(`${path} is in the response twice.`);
    seen.add(identity);
  }
}

type Entry = { readonly entry: JsonObject; readonly path: string };

function entriesOf(object: JsonObject, name: string, parent = ""): readonly Entry[] {
  const list = requireList(memberOf(object, name), `${parent}/${name}`, LIST_MAX);
  return list.map((value, index) => {
    const path = `${parent}/${name}/${index}`;
    return { entry: requireObject(value, path), path };
  });
}

function readSlugs(report: JsonObject): readonly string[] {
  const list = requireList(memberOf(report, "chains"), "/chains", LIST_MAX);
  return requireDistinct(list.map((slug, index) => requireMatch(slug, `/chains/${index}`, SLUG)));
}

function requireDistinct(slugs: readonly string[]): readonly string[] {
  if (new Set(slugs).size !== slugs.length) throw new Rejection("The response names a chain twice.");
  return slugs;
}

function slugOf(entry: JsonObject, path: string): string {
  return requireMatch(memberOf(entry, "chain"), `${path}/chain`, SLUG);
}

function chainOf(entry: JsonObject, path: string) {
  const chainId = requireMatch(memberOf(entry, "chainId"), `${path}/chainId`, CAIP2);
  return { chain: slugOf(entry, path), chainId };
}

function readContract(entry: JsonObject, path: string): Hex | null {
  const contract = memberOf(entry, "contract");
  return contract === null ? null : requireHex(contract, `${path}/contract`, ADDRESS);
}

function readDecimals(entry: JsonObject, path: string): number | null {
  const decimals = memberOf(entry, "decimals");
  if (decimals === null) return null;
  const count = requireCount(decimals, `${path}/decimals`);
  if (count > 255) throw new Rejection(`${path}/decimals is malformed.`);
  return count;
}

/** People read the amount with decimals: it must be the raw one. */
function checkAmount(raw: bigint, decimals: number | null, amount: unknown, path: string): void {
  if (amount !== (decimals === null ? null : formatUnits(raw, decimals))) {
    throw new Rejection(`${path} is not the raw amount.`);
  }
}

/** The absolute value; more than amount times price is a contradiction. */
function checkValue(entry: JsonObject, raw: bigint, decimals: number | null, path: string): bigint | null {
  const usd = absolute(readUsd(entry, "valueUsd", path));
  if (usd === null) return null;
  const price = memberOf(entry, "priceUsd");
  if (decimals === null || price === null) throw new Rejection(`${path}/valueUsd has no price.`);
  if (usd > valueLimit(raw, decimals, price, `${path}/priceUsd`)) {
    throw new Rejection(`${path}/valueUsd is more than the amount times its price.`);
  }
  return usd;
}

function readUsd(entry: JsonObject, name: string, path: string): bigint | null {
  const value = memberOf(entry, name);
  return value === null ? null : parseUsd(value, `${path}/${name}`);
}

const absolute = (value: bigint | null) => (value !== null && value < 0n ? -value : value);

function sumAbsolute(values: readonly (bigint | null)[]): bigint {
  return values.reduce<bigint>((sum, value) => sum + (absolute(value) ?? 0n), 0n);
}

/** Adds the symbol, which is what the token or the service says. */
function showAmount(raw: bigint, decimals: number | null, entry: JsonObject): string {
  const symbol = memberOf(entry, "symbol");
  const amount = decimals === null ? `${raw} units` : formatUnits(raw, decimals);
  return typeof symbol === "string" ? `${amount} ${symbol}` : amount;
}
