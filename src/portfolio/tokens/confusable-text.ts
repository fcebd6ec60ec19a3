// Text as the eye reads it: accents, invisible signs and letters of other alphabets folded to plain small ASCII.

// A hostile contract may return megabytes; nobody reads further than this.
const TEXT_LENGTH_MAX = 256;

// Pairs of a letter and what it passes for, after lower-casing; Greek ones by the look of their capitals.
const LOOKALIKES = new Map(
  (
    "аa вb сc ԁd еe һh іi јj кk ӏl мm нh оo рp ԛq ѕs тt уy ѵv ԝw хx үy ԍg " +
    "αa βb εe ζz ηh ιi κk μm νn οo ρp τt υy χx " +
    "ıi ɩi łl øo đd ħh ŧt ƀb ɡg ɑa ₮t $s ¢c €e £l ꜱs ʀr ɴn"
  )
    .split(" ")
    .map((pair) => [pair.slice(0, -1), pair.slice(-1)]),
);

export function replaceConfusables(text: string): string {
  const plain = text
    .slice(0, TEXT_LENGTH_MAX)
    .normalize("NFKD")
    .replace(/[\p{M}\p{Cf}]/gu, "")
    .toLowerCase();
  return Array.from(plain, (letter) => LOOKALIKES.get(letter) ?? letter).join("");
}

/** Letters and digits only; empty when there are none. */
export function normalizeSymbol(symbol: string): string {
  return replaceConfusables(symbol).replace(/[^a-z0-9]/g, "");
}
