// Fits a body into a number of bytes: lists are filled while there is room, and texts are cut.

/** Most bytes of the JSON of an overview in UTF-8, for every wallet. */
export const OVERVIEW_BYTES_MAX = 2_048;

/** Adds entries to a list of the body until the next one would make the body too large. */
export function fillList<Entry>(
  body: unknown,
  list: Entry[],
  entries: readonly Entry[],
  bytesMax: number = OVERVIEW_BYTES_MAX,
): void {
  for (const entry of entries) {
    list.push(entry);
    if (Buffer.byteLength(JSON.stringify(body)) <= bytesMax) continue;
    list.pop();
    return;
  }
}

// Most bytes of a text in JSON. Anyone can choose the name of a token.
const NAME_BYTES_MAX = 40;
const WARNING_BYTES_MAX = 240;

export function cutName(text: string | null): string | null {
  return text === null ? null : cutText(text, NAME_BYTES_MAX);
}

export function cutWarning(text: string): string {
  return cutText(text, WARNING_BYTES_MAX);
}

/** The text, or its beginning with …, in at most so many bytes of JSON without the quotes. */
function cutText(text: string, bytesMax: number): string {
  const bytes = (part: string) => Buffer.byteLength(JSON.stringify(part)) - 2;
  if (text.length <= bytesMax && bytes(text) <= bytesMax) return text;
  const end = "…";
  let room = bytesMax - bytes(end);
  let kept = "";
  for (const character of text) {
    room -= bytes(character);
    if (room < 0) break;
    kept += character;
  }
  return kept + end;
}

export function pickFields<Fields extends object, Name extends keyof Fields>(
  record: Fields,
  names: readonly Name[],
): Pick<Fields, NoInfer<Name>> {
  return Object.fromEntries(names.map((name) => [name, record[name]])) as Pick<Fields, Name>;
}
