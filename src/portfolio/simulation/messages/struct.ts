// A struct of checked typed data: its values by name, each in the type that the message declares.
import { Fault } from "../../../lib/fault.ts";
import type { Hex } from "../../../lib/hex.ts";

/** Numbers are bigint; addresses and bytes are lower-case hex. */
export type TypedValue = bigint | string | boolean | Struct | readonly TypedValue[];

export class Struct {
  readonly type: string;
  readonly #values: ReadonlyMap<string, TypedValue>;

  constructor(type: string, values: ReadonlyMap<string, TypedValue>) {
    this.type = type;
    this.#values = values;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  uint(name: string): bigint {
    const value = this.#values.get(name);
    return typeof value === "bigint" ? value : this.#fail(name);
  }

  address(name: string): Hex {
    return this.bytes(name);
  }

  /** A number of seconds, an address or bytes are read by what the type of the message says they are. */
  bytes(name: string): Hex {
    return this.text(name) as Hex;
  }

  text(name: string): string {
    const value = this.#values.get(name);
    return typeof value === "string" ? value : this.#fail(name);
  }

  flag(name: string): boolean {
    const value = this.#values.get(name);
    return typeof value === "boolean" ? value : this.#fail(name);
  }

  struct(name: string): Struct {
    const value = this.#values.get(name);
    return value instanceof Struct ? value : this.#fail(name);
  }

  /** All structs of a list, also of a list of lists. */
  structs(name: string): readonly Struct[] {
    const value = this.#values.get(name);
    return isList(value) ? flatten(value) : this.#fail(name);
  }

  toPlain(): Record<string, unknown> {
    return Object.fromEntries([...this.#values].map(([name, value]) => [name, toPlainValue(value)]));
  }

  /** The reader of a message takes a field that the message's type does not have. */
  #fail(name: string): never {
    throw new Fault("INTERNAL", `A message of type ${this.type} is read by a wrong field, ${name}.`);
  }
}

function isList(value: TypedValue | undefined): value is readonly TypedValue[] {
  return Array.isArray(value);
}

function flatten(values: readonly TypedValue[]): readonly Struct[] {
  return values.flatMap((value) => (value instanceof Struct ? [value] : isList(value) ? flatten(value) : []));
}

function toPlainValue(value: TypedValue): unknown {
  if (value instanceof Struct) return value.toPlain();
  return isList(value) ? value.map(toPlainValue) : value;
}
