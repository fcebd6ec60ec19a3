// Canonical JSON: one text for each value, so that values can be compared and hashed.

/** RFC 8785 canonical JSON: equal values have equal texts and hashes, whatever the order of their keys. */
export function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value)
      // RFC 8785 sorts by UTF-16 code units, as JavaScript compares strings.
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}:${toCanonicalJson(member)}`);
    return `{${members.join(",")}}`;
  }
  // RFC 8785 specifies JavaScript's own number and string formats.
  const text = JSON.stringify(value);
  if (text === undefined || (typeof value === "number" && !Number.isFinite(value))) {
    throw new TypeError("not a JSON value");
  }
  return text;
}
