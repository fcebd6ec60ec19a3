// The name that the owner of a record gives it in metadata within the URI itself: read without loading anything.

// A name with a description fits; a page may have a hundred of them to decode.
const URI_LENGTH_MAX = 8_192;
// The length that stays legible in a list.
const NAME_LENGTH_MAX = 80;

const DATA_URI = /^data:application\/json(?:;charset=utf-8)?(;base64)?,(.*)$/is;

/** The own `name` of a `data:` URI of JSON; null for any other URI, and for what is not a short text. */
export function readMetadataName(uri: unknown): string | null {
  if (typeof uri !== "string" || uri.length > URI_LENGTH_MAX) return null;
  const [, base64, content = ""] = DATA_URI.exec(uri) ?? [];
  if (content === "") return null;
  try {
    const text = base64 === undefined ? decodeURIComponent(content) : decodeBase64(content);
    const value: unknown = JSON.parse(text);
    const isRecord = typeof value === "object" && value !== null && Object.hasOwn(value, "name");
    const name = isRecord ? (value as { readonly name: unknown }).name : null;
    if (typeof name !== "string" || name.length > NAME_LENGTH_MAX) return null;
    return name.trim() === "" ? null : name.trim();
  } catch {
    // Anyone may write anything there: what cannot be read has no name.
    return null;
  }
}

/** Throws for bytes that are not UTF-8: replaced characters would make another name. */
function decodeBase64(content: string): string {
  const bytes = Buffer.from(decodeURIComponent(content), "base64");
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}
