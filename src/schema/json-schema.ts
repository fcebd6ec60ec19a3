// JSON Schemas with the TypeScript type of what they describe: one declaration validates, documents and types a value.

/** A JSON Schema, as in OpenAPI 3.1. */
export type JsonSchema = {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly [keyword: string]: unknown;
};

/** The key in a JSON Schema of a text that other people chose: a reader takes such a field as data, never as orders. */
export const FOREIGN_TEXT = "x-foreign-text";

declare const TYPE: unique symbol;

/** A JSON Schema of values of type T, which exists for the compiler only; a copy with other annotations keeps it. */
export type Schema<T> = JsonSchema & { readonly [TYPE]: T };

/** The type of the values that a schema describes: as its builder says, or as its literal does; otherwise unknown. */
export type TypeOf<S> = S extends { readonly [TYPE]: infer T }
  ? T
  : S extends { readonly enum: readonly (infer T)[] } | { readonly const: infer T }
    ? T
    : S extends { readonly type: "array"; readonly items: infer Items }
      ? readonly TypeOf<Items>[]
      : S extends { readonly type: "object"; readonly properties: infer P extends Properties }
        ? ObjectOf<Pick<P, RequiredOf<S, P>>, Omit<P, RequiredOf<S, P>>>
        : S extends { readonly type: infer Name extends SimpleName | readonly SimpleName[] }
          ? SimpleTypes[Name extends readonly (infer One)[] ? One & SimpleName : Name & SimpleName]
          : unknown;

/** The keys that the literal of an object schema requires. */
type RequiredOf<S, P> = S extends { readonly required: readonly (infer Key)[] } ? Key & keyof P : never;

type SimpleTypes = {
  readonly string: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
  readonly object: Readonly<Record<string, unknown>>;
  readonly null: null;
};
type SimpleName = keyof SimpleTypes;

type Properties = Readonly<Record<string, JsonSchema>>;
/** Inferred once more, so that errors show the keys and not the schemas. */
type ObjectOf<Required, Optional> = {
  readonly [K in keyof Required]: TypeOf<Required[K]>;
} & { readonly [K in keyof Optional]?: TypeOf<Optional[K]> } extends infer T
  ? { [K in keyof T]: T[K] }
  : never;

type ObjectSchema<Required, Optional> = Schema<ObjectOf<Required, Optional>> & {
  readonly properties: Required & Optional;
};

type ListSchema<Items> = Schema<readonly TypeOf<Items>[]> & { readonly items: Items };

/** States the type of a schema that no builder makes. */
export function schemaOf<T>(json: JsonSchema): Schema<T> {
  return json as Schema<T>;
}

/** No key is allowed but these; all are required but the `optional` ones. */
export function closedObject<
  const Required extends Properties,
  const Optional extends Properties = Record<never, never>,
>(required: Required, optional?: Optional): ObjectSchema<Required, Optional> {
  const json = { type: "object", properties: { ...required, ...optional }, required: Object.keys(required) };
  return { ...json, additionalProperties: false } as unknown as ObjectSchema<Required, Optional>;
}

/** The same with a title, under which documents describe it once. */
export function titledRecord<
  const Required extends Properties,
  const Optional extends Properties = Record<never, never>,
>(title: string, required: Required, optional?: Optional): ObjectSchema<Required, Optional> {
  return { title, ...closedObject(required, optional) };
}

export function listOf<const Items extends JsonSchema>(
  items: Items,
  more: JsonSchema = {},
): ListSchema<Items> {
  return { type: "array", items, ...more } as unknown as ListSchema<Items>;
}

export function nullable<const S extends JsonSchema>(json: S): Schema<TypeOf<S> | null> {
  return schemaOf({ anyOf: [json, { type: "null" }] });
}

/** The same value under each of the keys, most often a schema. */
export function eachKey<const Key extends string, const T>(
  keys: readonly Key[],
  value: T,
): Readonly<Record<Key, T>> {
  return Object.fromEntries(keys.map((key) => [key, value])) as Record<Key, T>;
}

export function wordOf<const Word extends string>(words: readonly Word[]): Schema<Word> {
  return schemaOf({ type: "string", enum: words });
}
