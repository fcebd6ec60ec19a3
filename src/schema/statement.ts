// SQL with its values: pieces are put together, placeholders number themselves.

export type SqlValue = string | number | boolean | null | readonly SqlValue[];

export type SqlText = { readonly text: string; readonly values: readonly SqlValue[] };

/** Text that is ours, taken as it is: names of tables and columns, never anything from a request. */
export type SqlName = { readonly name: string };

export function name(text: string): SqlName {
  return { name: text };
}

/**
 * A template whose holes are values (placeholders), other statements (merged), or names (taken as they are).
 * There is no way for a value to become text.
 */
export function sql(
  texts: TemplateStringsArray,
  ...holes: readonly (SqlValue | SqlText | SqlName)[]
): SqlText {
  let text = texts[0] ?? "";
  const values: SqlValue[] = [];
  holes.forEach((hole, index) => {
    text += written(hole, values) + (texts[index + 1] ?? "");
  });
  return { text, values };
}

function written(hole: SqlValue | SqlText | SqlName, values: SqlValue[]): string {
  if (typeof hole === "object" && hole !== null && "name" in hole) return hole.name;
  if (typeof hole === "object" && hole !== null && "text" in hole) {
    const before = values.length;
    values.push(...hole.values);
    return hole.text.replace(/\$(\d+)/g, (_match, number: string) => `$${Number(number) + before}`);
  }
  values.push(hole);
  return `$${values.length}`;
}

/** Statements one after another with something between. */
export function joined(parts: readonly SqlText[], between: string): SqlText {
  return parts.reduce((all, part, index) => (index === 0 ? part : sql`${all}${name(between)}${part}`), sql``);
}
