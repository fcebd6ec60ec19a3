// The name that a JSON document of someone else gives itself: short text, or none.

// The length that stays legible in a list.
const NAME_LENGTH_MAX = 80;

/** The own `name` of a JSON object, trimmed; null for any other value, and for a name that is not a short text. */
export function findJsonName(value: unknown): string | null {
  const isRecord = typeof value === "object" && value !== null && Object.hasOwn(value, "name");
  const name = isRecord ? (value as { readonly name: unknown }).name : null;
  if (typeof name !== "string" || name.length > NAME_LENGTH_MAX) return null;
  return name.trim() === "" ? null : name.trim();
}
