// Reads hostile EIP-712 typed data: each value checked against its type, numbers without loss, and the hash a wallet would sign.
import { hashDomain, hashTypedData } from "viem";
import { Fault } from "../../../lib/fault.ts";
import type { Hex } from "../../../lib/hex.ts";
import { isJsonObject, type JsonObject, parseStrictJson } from "../../../lib/json.ts";
import { parseTypes, splitArray, type TypeField, type Types, writeType } from "./message-types.ts";
import { Struct, type TypedValue } from "./struct.ts";

/** Three times the largest order of a marketplace that a wallet shows. */
const TEXT_BYTES_MAX = 64 * 1_024;
const VALUES_MAX = 1_500;
/** Text of all values together: hashing it takes longer than hashing bytes. */
const CHARS_MAX = 64_000;
/**
 * Each struct is hashed with its whole type, which takes time for every character, and nothing is paid for that yet. A
 * bulk order of Seaport has 1,000 an order.
 */
const HASHED_TYPES_MAX = 48_000;
/** Each array and struct inside another. A bulk order of Seaport has one level for each doubling. */
const DEPTH_MAX = 16;
const DOMAIN = "EIP712Domain";
const UNSIGNED_MAX = 5;

/** The parts of a domain that the signature covers; null for a part that it leaves out. */
type MessageDomain = {
  readonly name: string | null;
  readonly version: string | null;
  readonly chainId: bigint | null;
  readonly verifyingContract: Hex | null;
  readonly salt: Hex | null;
};

export type TypedMessage = {
  readonly domain: MessageDomain;
  readonly domainSeparator: Hex;
  readonly types: Types;
  readonly primaryType: string;
  readonly message: Struct;
  /** The digest that the wallet signs. */
  readonly hash: Hex;
  /** Values that are shown, but that the signature does not cover. */
  readonly unsigned: readonly string[];
};

/** Rejects with INPUT_INVALID and says what is wrong; accepts an object, or its JSON text as wallets pass it on. */
export function parseTypedData(input: unknown): TypedMessage {
  const value = typeof input === "string" ? parseText(input) : input;
  if (!isJsonObject(value)) throw invalid("The message must be an object of typed data.");
  const { domain, primaryType, message } = value;
  const types = parseTypes(value.types);
  if (typeof primaryType !== "string" || primaryType === DOMAIN || !types.has(primaryType)) {
    throw invalid("primaryType must be one of the types, and not the domain.");
  }
  if (!isJsonObject(domain)) throw invalid("domain must be an object.");
  if (!isJsonObject(message)) throw invalid("message must be an object.");
  const reader = new ValueReader(types);
  const domainFields = listDomainFields(types, domain);
  const signedDomain = reader.readFields(DOMAIN, domainFields, domain, "domain", 0);
  const content = reader.readStruct(primaryType, message, "message", 0);
  return {
    domain: describeDomain(signedDomain),
    types,
    primaryType,
    message: content,
    unsigned: reader.unsigned.slice(0, UNSIGNED_MAX),
    ...hash({ types, domainFields, domain: signedDomain, primaryType, content }),
  };
}

function parseText(text: string): unknown {
  if (Buffer.byteLength(text) > TEXT_BYTES_MAX) {
    throw invalid(`The message must have at most ${TEXT_BYTES_MAX} bytes.`);
  }
  return parseStrictJson(Buffer.from(text), "The message");
}

/** In the order in which the standard lists them, and in which they are hashed if the types do not say it. */
const DOMAIN_FIELDS: readonly TypeField[] = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" },
  { name: "salt", type: "bytes32" },
];

function listDomainFields(types: Types, domain: JsonObject): readonly TypeField[] {
  const surplus = Object.keys(domain).find((key) => !DOMAIN_FIELDS.some(({ name }) => name === key));
  if (surplus !== undefined) throw invalid("domain has a field that the standard does not know.");
  const declared = types.get(DOMAIN);
  if (declared === undefined) return DOMAIN_FIELDS.filter(({ name }) => domain[name] != null);
  for (const { name, type } of declared) {
    const known = DOMAIN_FIELDS.find((field) => field.name === name);
    if (known?.type !== type) throw invalid(`${DOMAIN} may only have fields of the standard, in its types.`);
  }
  return declared;
}

function describeDomain(domain: Struct): MessageDomain {
  return {
    name: domain.has("name") ? domain.text("name") : null,
    version: domain.has("version") ? domain.text("version") : null,
    chainId: domain.has("chainId") ? domain.uint("chainId") : null,
    verifyingContract: domain.has("verifyingContract") ? domain.address("verifyingContract") : null,
    salt: domain.has("salt") ? domain.bytes("salt") : null,
  };
}

/** Reads values by their types, and counts them. */
class ValueReader {
  readonly #types: Types;
  #count = 0;
  #chars = 0;
  #typeChars = 0;
  readonly #charsOf = new Map<string, number>();
  readonly unsigned: string[] = [];

  constructor(types: Types) {
    this.#types = types;
  }

  readStruct(type: string, value: unknown, path: string, depth: number): Struct {
    this.#typeChars += this.#countChars(type);
    if (this.#typeChars > HASHED_TYPES_MAX)
      throw invalid("The message has too many structs for their types.");
    return this.readFields(type, this.#types.get(type) ?? [], value, path, depth);
  }

  readFields(
    type: string,
    fields: readonly TypeField[],
    value: unknown,
    path: string,
    depth: number,
  ): Struct {
    if (!isJsonObject(value)) throw invalid(`${path} must be an object of type ${type}.`);
    const values = new Map<string, TypedValue>();
    for (const field of fields) {
      if (!Object.hasOwn(value, field.name)) throw invalid(`${path}.${field.name} is missing.`);
      values.set(field.name, this.#read(field.type, value[field.name], `${path}.${field.name}`, depth + 1));
    }
    for (const key of Object.keys(value)) if (!values.has(key)) this.#noteUnsigned(path, key, value[key]);
    return new Struct(type, values);
  }

  #countChars(type: string): number {
    const known = this.#charsOf.get(type) ?? writeType(this.#types, type).length;
    this.#charsOf.set(type, known);
    return known;
  }

  /** Null and nothing are what libraries write for a part of a domain that is not used. */
  #noteUnsigned(path: string, key: string, value: unknown): void {
    if (value != null && this.unsigned.length <= UNSIGNED_MAX) this.unsigned.push(`${path}.${key}`);
  }

  #read(type: string, value: unknown, path: string, depth: number): TypedValue {
    this.#count += 1;
    if (this.#count > VALUES_MAX) throw invalid(`The message must have at most ${VALUES_MAX} values.`);
    if (depth > DEPTH_MAX) throw invalid(`The message must be nested at most ${DEPTH_MAX} levels deep.`);
    if (type === "string") this.#chars += typeof value === "string" ? value.length : 0;
    if (this.#chars > CHARS_MAX)
      throw invalid(`The message must have at most ${CHARS_MAX} characters of text.`);
    const array = splitArray(type);
    if (array !== null) return this.#readArray(array, value, path, depth);
    return this.#types.has(type) ? this.readStruct(type, value, path, depth) : readAtom(type, value, path);
  }

  #readArray(
    { item, length }: NonNullable<ReturnType<typeof splitArray>>,
    value: unknown,
    path: string,
    depth: number,
  ): readonly TypedValue[] {
    if (!Array.isArray(value)) throw invalid(`${path} must be a list of ${item}.`);
    if (length !== null && value.length !== length) throw invalid(`${path} must have ${length} items.`);
    return value.map((each, index) => this.#read(item, each, `${path}[${index}]`, depth + 1));
  }
}

const DECIMAL = /^-?[0-9]{1,78}$/;
const HEXADECIMAL = /^0x[0-9a-fA-F]{1,64}$/;
const BYTES = /^0x(?:[0-9a-fA-F]{2})*$/;
const NUMBER_TYPE = /^(u?)int([0-9]+)$/;

function readAtom(type: string, value: unknown, path: string): TypedValue {
  const number = NUMBER_TYPE.exec(type);
  if (number !== null) return readNumber(type, number[1] === "u", Number(number[2]), value, path);
  if (type === "bool") {
    if (typeof value !== "boolean") throw invalid(`${path} must be true or false.`);
    return value;
  }
  if (typeof value !== "string") throw invalid(`${path} must be text of type ${type}.`);
  if (type === "string") return value;
  if (!BYTES.test(value)) throw invalid(`${path} must be 0x-prefixed hex with whole bytes.`);
  const size = (value.length - 2) / 2;
  const wanted = type === "address" ? 20 : type === "bytes" ? size : Number(type.slice("bytes".length));
  if (size !== wanted) throw invalid(`${path} must have ${wanted} bytes.`);
  return value.toLowerCase();
}

function readNumber(type: string, isUnsigned: boolean, bits: number, value: unknown, path: string): bigint {
  const isText = typeof value === "string" && (DECIMAL.test(value) || HEXADECIMAL.test(value));
  if (!isText && !Number.isSafeInteger(value)) {
    throw invalid(`${path} must be a whole number of type ${type}; send a large one as text.`);
  }
  const number = BigInt(value as string | number);
  const fits = (isUnsigned ? BigInt.asUintN(bits, number) : BigInt.asIntN(bits, number)) === number;
  if (!fits) throw invalid(`${path} is out of the range of ${type}.`);
  return number;
}

type Hashed = {
  readonly types: Types;
  readonly domainFields: readonly TypeField[];
  readonly domain: Struct;
  readonly primaryType: string;
  readonly content: Struct;
};

/** viem infers its types from constants; those of a message are known only now, and checked. */
type HashedData = Parameters<typeof hashTypedData>[0];

function hash({ types, domainFields, domain, primaryType, content }: Hashed) {
  const definitions = { ...Object.fromEntries(types), [DOMAIN]: domainFields };
  const plainDomain = domain.toPlain();
  try {
    const parts = { types: definitions, domain: plainDomain };
    return {
      domainSeparator: hashDomain(parts as unknown as Parameters<typeof hashDomain>[0]),
      hash: hashTypedData({ ...parts, primaryType, message: content.toPlain() } as HashedData),
    };
  } catch (cause) {
    throw new Fault("INPUT_INVALID", "The message cannot be hashed by EIP-712.", { cause });
  }
}

function invalid(message: string): Fault {
  return new Fault("INPUT_INVALID", message);
}
