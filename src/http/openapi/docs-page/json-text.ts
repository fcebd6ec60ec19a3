// JSON as text: indented without changing a character of its values, because a number may be too large for JavaScript.

type JsonPart = { text: string; isKey: boolean };

const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g;

/** The text in parts, with keys marked; a single part if it is not JSON. */
export function indentJson(text: string): JsonPart[] {
  try {
    JSON.parse(text);
  } catch {
    return [{ text, isKey: false }];
  }
  const tokens = text.match(TOKEN) ?? [];
  const parts: JsonPart[] = [];
  let depth = 0;
  tokens.forEach((token, index) => {
    const next = tokens[index + 1];
    const isOpening = token === "{" || token === "[";
    const isEmpty = isOpening && (next === "}" || next === "]");
    if (isOpening && !isEmpty) depth += 1;
    const isLast = !isOpening && token !== "," && (next === "}" || next === "]");
    const breaks = (isOpening && !isEmpty) || token === "," || isLast;
    if (isLast) depth -= 1;
    const after = breaks ? `\n${"  ".repeat(depth)}` : token === ":" ? " " : "";
    parts.push({ text: token, isKey: next === ":" }, { text: after, isKey: false });
  });
  return parts.filter((part) => part.text !== "");
}
