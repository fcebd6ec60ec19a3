// Composes SQL statements with their values; placeholders are numbered automatically.

export type SqlValue = string | number | boolean | null | Uint8Array | readonly SqlValue[];

export type SqlText = {
  /** The text around the values: one piece more than values. */
  readonly pieces: readonly string[];
  readonly values: readonly SqlValue[];
  /** The statement with numbered placeholders. */
  readonly text: string;
  /** If set, a connection prepares the statement once. */
  readonly name?: string;
};

/** Trusted text inserted unchanged: names of tables and columns, never anything from a request. */
export class RawSql {
  readonly name: string;

  constructor(text: string) {
    this.name = text;
  }
}

export function rawSql(text: string): RawSql {
  return new RawSql(text);
}

/**
 * A template of values (become placeholders), other statements (merged) and RawSql (inserted unchanged). A value never
 * becomes text.
 */
export function sql(
  texts: TemplateStringsArray,
  ...parts: readonly (SqlValue | SqlText | RawSql)[]
): SqlText {
  const builder = new SqlBuilder(texts[0] ?? "");
  let next = 1;
  for (const part of parts) {
    builder.append(part);
    builder.addText(texts[next] ?? "");
    next += 1;
  }
  return builder;
}

/**
 * Equality of a hex column of a row table with 0x text, whether rows store text or bytes. PostgreSQL would take the text
 * for other bytes if it were compared directly, and find nothing.
 */
export function equalsHex(column: string, value: SqlValue | SqlText): SqlText {
  return sql`${rawSql(column)} = stored_hex(${rawSql(column)}, ${value})`;
}

/** Joins statements with a separator. */
export function joinSql(parts: readonly SqlText[], separator: string): SqlText {
  const builder = new SqlBuilder("");
  parts.forEach((part, index) => {
    if (index > 0) builder.addText(separator);
    builder.append(part);
  });
  return builder;
}

/** For a statement that runs often with different values: its text is built once. */
export function compileSql({ pieces, text }: SqlText): (...values: readonly SqlValue[]) => SqlText {
  return (...values) => new CompiledSql(pieces, values, text);
}

/**
 * For a statement that runs often: the database parses and plans it once for each connection, not for each run. One name has
 * one text.
 */
export function prepareSql(name: string, { pieces, values, text }: SqlText): SqlText {
  return new CompiledSql(pieces, values, text, name);
}

// Placeholders are numbered at the end: renumbering them at every merge cost more than everything else here.
class SqlBuilder implements SqlText {
  readonly pieces: string[];
  readonly values: SqlValue[] = [];

  constructor(first: string) {
    this.pieces = [first];
  }

  addText(text: string): void {
    this.pieces[this.pieces.length - 1] += text;
  }

  append(part: SqlValue | SqlText | RawSql): void {
    // Recognized by class, not by keys: an object from JSON may have any keys, and must stay a value.
    if (part instanceof RawSql) this.addText(part.name);
    else if (part instanceof SqlBuilder || part instanceof CompiledSql) this.#merge(part);
    else this.#addValue(part as SqlValue);
  }

  #addValue(value: SqlValue): void {
    this.values.push(value);
    this.pieces.push("");
  }

  #merge({ pieces, values }: SqlText): void {
    this.addText(pieces[0] ?? "");
    let next = 1;
    for (const value of values) {
      this.values.push(value);
      this.pieces.push(pieces[next] ?? "");
      next += 1;
    }
  }

  get text(): string {
    let text = this.pieces[0] ?? "";
    for (let index = 1; index < this.pieces.length; index += 1) text += `$${index}${this.pieces[index]}`;
    return text;
  }
}

class CompiledSql implements SqlText {
  readonly pieces: readonly string[];
  readonly values: readonly SqlValue[];
  readonly text: string;
  readonly name?: string;

  constructor(pieces: readonly string[], values: readonly SqlValue[], text: string, name?: string) {
    this.pieces = pieces;
    this.values = values;
    this.text = text;
    if (name !== undefined) this.name = name;
  }
}
