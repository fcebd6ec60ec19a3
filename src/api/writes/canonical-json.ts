// JSON in the one form that RFC 8785 gives it, so that equal values have equal hashes.

/** The value must come from JSON; equal values give equal texts, whatever the order of their keys. */
export function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value)
      // By UTF-16 code units, which is how JavaScript compares strings.
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}:${toCanonicalJson(member)}`);
    return `{${members.join(",")}}`;
  }
  // JavaScript's own form of numbers and strings is the one the RFC asks for.
  const text = JSON.stringify(value);
  if (text === undefined || (typeof value === "number" && !Number.isFinite(value))) {
    throw new TypeError("not a JSON value");
  }
  return text;
}
