// Text that other people wrote: characters that no reader sees, but a model does, are made visible or taken out.

/**
 * Tags, variation selectors, zero widths, fillers and controls of direction, as Unicode classifies them, the control
 * characters that JSON does not escape, and the two blank letters: of braille, and the empty head of a note.
 */
export const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u007f-\u009f\u2800\u{1d159}]/gu;
const INVISIBLE_RUN = new RegExp(`${INVISIBLE.source}+`, INVISIBLE.flags);
// Joiners of emoji, and of letters of scripts that need them: one between two visible characters, or after an emoji.
const JOINER = /^(?:\ufe0f?\u200d|\u200c|\ufe0e|\ufe0f)$/u;
const JOINED = /[^\p{ASCII}\s]$/u;
const JOINS = /^[^\p{ASCII}\s]/u;
const EMOJI = /\p{Extended_Pictographic}$/u;

/** The same value to every parser, and no invisible character in the text. Undefined like JSON.stringify. */
export function stringifyVisibly(value: object): string;
export function stringifyVisibly(value: unknown): string | undefined;
export function stringifyVisibly(value: unknown): string | undefined {
  const text: string | undefined = JSON.stringify(value);
  // Nearly every response is ASCII, which is found out without looking at each character.
  if (text === undefined || Buffer.byteLength(text) === text.length) return text;
  return text.replaceAll(INVISIBLE, escapeUnits);
}

function escapeUnits(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
  }).join("");
}

/** For a model: each run of invisible characters becomes a note that says how many there were. */
export function noteInvisible(text: string): string {
  return text.replaceAll(INVISIBLE_RUN, (run, offset: number) => {
    const [before, after] = [text.slice(Math.max(0, offset - 2), offset), text.slice(offset + run.length)];
    const isJoiner = JOINER.test(run) && JOINED.test(before) && (JOINS.test(after) || EMOJI.test(before));
    const count = Array.from(run).length;
    return isJoiner ? run : `[${count} invisible character${count === 1 ? "" : "s"}]`;
  });
}

/** The same in every text and key of a value. */
export function noteInvisibleWithin(value: unknown): unknown {
  if (typeof value === "string") return noteInvisible(value);
  if (Array.isArray(value)) return value.map(noteInvisibleWithin);
  if (typeof value !== "object" || value === null) return value;
  const noted = new Map<string, unknown>();
  const counts = new Map<string, number>();
  for (const [key, each] of Object.entries(value)) {
    noted.set(findFreeKey(noteInvisible(key), noted, counts), noteInvisibleWithin(each));
  }
  return Object.fromEntries(noted);
}

/** Keys that differ only in invisible characters become the same note: the second is numbered, so that no value is lost. */
function findFreeKey(key: string, taken: ReadonlyMap<string, unknown>, counts: Map<string, number>): string {
  if (!taken.has(key)) return key;
  let count = counts.get(key) ?? 1;
  do count += 1;
  while (taken.has(`${key} (${count})`));
  counts.set(key, count);
  return `${key} (${count})`;
}

// The length that stays legible in a list.
const NAME_LENGTH_MAX = 80;

/** The own `name` of a JSON object, trimmed; null for any other value, and for a name that is not a short text. */
export function findJsonName(value: unknown): string | null {
  const isRecord = typeof value === "object" && value !== null && Object.hasOwn(value, "name");
  const name = isRecord ? (value as { readonly name: unknown }).name : null;
  if (typeof name !== "string" || name.length > NAME_LENGTH_MAX) return null;
  return name.trim() === "" ? null : name.trim();
}
