// Declares contract reads: the calls, how far their contracts are trusted, and what their results mean. Sends nothing.
import { createSignatureCodec, type FunctionCodec } from "../../lib/abi/codec.ts";
import { decodeAddressArray, decodeWordArray, decodeWords, type Words } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import type { ContractRead } from "../types.ts";

/** In the order of the calls; null for a call that failed. */
export type CallResults = readonly (Hex | null)[];

/** Decodes the results from `start` on: a copy of them for every part of a group would cost more than decoding them. */
type DecodeResults<T> = (results: CallResults, start: number) => T;

/** Calls that belong together, and the value that their results decode to. */
export class Reads<T> {
  readonly calls: readonly ContractRead[];
  readonly #decode: DecodeResults<T>;

  constructor(calls: readonly ContractRead[], decode: DecodeResults<T>) {
    this.calls = calls;
    this.#decode = decode;
  }

  decode(results: CallResults, start = 0): T {
    return this.#decode(results, start);
  }

  /** Derives a further value: `price.map((units) => units && { units, scale: 8 })`. */
  map<U>(convert: (value: T) => U): Reads<U> {
    return new Reads(this.calls, (results, start) => convert(this.#decode(results, start)));
  }
}

/**
 * One function of a contract. `gasMax` says that anyone may have deployed the contract: the call gets no more gas, and is
 * never part of a multicall, where it could burn the gas of the others.
 */
export type ContractFunction<T> = (to: Hex, args?: readonly unknown[], gasMax?: number) => Reads<T>;

/**
 * Declares a function and how its return data is decoded, null being a call that failed:
 * `const balanceOf = defineRead("function balanceOf(address)", decodeTokenAmount)`.
 */
export function defineRead<T>(
  signature: string,
  decode: (data: Hex | null) => T,
  gasMaxOfAll?: number,
): ContractFunction<T> {
  // Parsed and hashed once, on first use: a wallet needs hundreds of calls of a few functions.
  let codec: FunctionCodec | undefined;
  // Hundreds of tokens are asked for the balance of one wallet: with the text of before, that is encoded once.
  let last: { readonly arg: unknown; readonly data: Hex } | undefined;
  const encode = (args: readonly unknown[]): Hex => {
    codec ??= createSignatureCodec(signature) as FunctionCodec;
    const [arg] = args;
    if (args.length > 1 || typeof arg === "object") return codec.encodeCall(args);
    if (last === undefined || last.arg !== arg) last = { arg, data: codec.encodeCall(args) };
    return last.data;
  };
  return (to, args = [], gasMax = gasMaxOfAll) => {
    const data = encode(args);
    const call = gasMax === undefined ? { to, data } : { to, data, gasMax };
    return new Reads([call], (results, start) => decode(results[start] ?? null));
  };
}

/** Decodes exactly so many words. */
export function toWords<const N extends number>(count: N): (data: Hex | null) => Words<N> | null {
  return (data) => decodeWords(data, count);
}

export function toWordArray(countMax: number): (data: Hex | null) => readonly bigint[] | null {
  return (data) => decodeWordArray(data, countMax);
}

export function toAddressArray(countMax: number): (data: Hex | null) => readonly Hex[] | null {
  return (data) => decodeAddressArray(data, countMax);
}

/** Reads by name or in a list, to any depth; null for one that is not needed. */
export type ReadGroup = Reads<unknown> | null | readonly ReadGroup[] | { readonly [name: string]: ReadGroup };

/** The same names and lists, with the decoded results. */
export type ResultsOf<Group> =
  Group extends Reads<infer T>
    ? T
    : Group extends null
      ? null
      : { readonly [Key in keyof Group]: ResultsOf<Group[Key]> };

/** Joins a group into one declaration, in the order in which it is written. */
export function joinReads<const Group extends ReadGroup>(group: Group): Reads<ResultsOf<Group>> {
  return joinGroup(group) as Reads<ResultsOf<Group>>;
}

/** Joins the same reads of each item; every result comes with its item. */
export function joinEach<Item, const Group extends ReadGroup>(
  items: readonly Item[],
  declare: (item: Item) => Group,
): Reads<readonly (readonly [Item, ResultsOf<Group>])[]> {
  const joined: Reads<unknown> = joinGroup(items.map(declare)).map((values) =>
    items.map((item, index) => [item, (values as readonly unknown[])[index]]),
  );
  return joined as Reads<readonly (readonly [Item, ResultsOf<Group>])[]>;
}

function joinGroup(group: ReadGroup): Reads<unknown> {
  const calls: ContractRead[] = [];
  collectCalls(group, calls);
  return new Reads(calls, (results, start) => decodeGroup(group, results, { position: start }));
}

function collectCalls(group: ReadGroup, calls: ContractRead[]): void {
  if (group === null) return;
  if (group instanceof Reads) for (const call of group.calls) calls.push(call);
  else for (const each of isList(group) ? group : Object.values(group)) collectCalls(each, calls);
}

/** Walks the group in the same order: nothing but the next position has to be remembered. */
function decodeGroup(group: ReadGroup, results: CallResults, next: { position: number }): unknown {
  if (group === null) return null;
  if (group instanceof Reads) {
    const start = next.position;
    next.position += group.calls.length;
    return group.decode(results, start);
  }
  if (isList(group)) return group.map((each) => decodeGroup(each, results, next));
  const values: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(group)) values[name] = decodeGroup(each, results, next);
  return values;
}

function isList(group: object): group is readonly ReadGroup[] {
  return Array.isArray(group);
}
