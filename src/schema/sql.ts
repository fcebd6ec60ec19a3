// SQL with its values: pieces are put together, placeholders number themselves.

export type SqlValue = string | number | boolean | null | readonly SqlValue[];

export type SqlText = {
  /** What stands around the values: one more than there are of them. */
  readonly pieces: readonly string[];
  readonly values: readonly SqlValue[];
  /** The whole, with numbered placeholders. */
  readonly text: string;
};

/** Text that is ours, taken as it is: names of tables and columns, never anything from a request. */
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
 * A template whose holes are values (placeholders), other statements (merged), or names (taken as they are).
 * There is no way for a value to become text.
 */
export function sql(
  texts: TemplateStringsArray,
  ...holes: readonly (SqlValue | SqlText | RawSql)[]
): SqlText {
  const writing = new Writing(texts[0] ?? "");
  for (let index = 0; index < holes.length; index += 1) {
    writing.hole(holes[index] as SqlValue | SqlText | RawSql);
    writing.add(texts[index + 1] ?? "");
  }
  return writing;
}

/** Statements one after another with something between. */
export function joinSql(parts: readonly SqlText[], between: string): SqlText {
  const writing = new Writing("");
  parts.forEach((part, index) => {
    if (index > 0) writing.add(between);
    writing.hole(part);
  });
  return writing;
}

/** A statement that is asked again and again with nothing but other values: its text is put together once. */
export function compileSql({ pieces, text }: SqlText): (...values: readonly SqlValue[]) => SqlText {
  return (...values) => new Filled(pieces, values, text);
}

// Placeholders are numbered at the very end: numbering them anew with every merge cost more than anything else here.
class Writing implements SqlText {
  readonly pieces: string[];
  readonly values: SqlValue[] = [];

  constructor(first: string) {
    this.pieces = [first];
  }

  add(text: string): void {
    this.pieces[this.pieces.length - 1] += text;
  }

  hole(hole: SqlValue | SqlText | RawSql): void {
    // By class and not by keys: an object that came in as JSON may have any keys, and stays a value.
    if (hole instanceof RawSql) this.add(hole.name);
    else if (hole instanceof Writing || hole instanceof Filled) this.#merge(hole);
    else this.#value(hole as SqlValue);
  }

  #value(value: SqlValue): void {
    this.values.push(value);
    this.pieces.push("");
  }

  #merge({ pieces, values }: SqlText): void {
    this.add(pieces[0] ?? "");
    for (let index = 0; index < values.length; index += 1) {
      this.values.push(values[index] as SqlValue);
      this.pieces.push(pieces[index + 1] ?? "");
    }
  }

  get text(): string {
    let text = this.pieces[0] ?? "";
    for (let index = 1; index < this.pieces.length; index += 1) text += `$${index}${this.pieces[index]}`;
    return text;
  }
}

class Filled implements SqlText {
  readonly pieces: readonly string[];
  readonly values: readonly SqlValue[];
  readonly text: string;

  constructor(pieces: readonly string[], values: readonly SqlValue[], text: string) {
    this.pieces = pieces;
    this.values = values;
    this.text = text;
  }
}
