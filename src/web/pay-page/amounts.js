// Amounts for reading: exact decimal text in, grouped and shortened text out, no float in between.

/** @param {string} text @param {number} places @returns {string} Rounded half up, grouped by thousands. */
export function rounded(text, places) {
  const negative = text.startsWith("-");
  const [whole = "0", fraction = ""] = (negative ? text.slice(1) : text).split(".");
  const digits = whole + fraction.padEnd(places + 1, "0").slice(0, places + 1);
  const units = ((BigInt(digits) + 5n) / 10n).toString().padStart(places + 1, "0");
  const front = units.slice(0, units.length - places).replace(/\B(?=(\d{3})+$)/g, ",");
  const back = places === 0 ? "" : `.${units.slice(-places)}`;
  return `${negative && /[1-9]/.test(units) ? "−" : ""}${front}${back}`;
}

/** @param {string | null} text @returns {string} */
export function usd(text) {
  if (text === null) return "–";
  const shown = rounded(text, 2);
  if (/[1-9]/.test(text) && !/[1-9]/.test(shown)) return "< $0.01";
  return shown.startsWith("−") ? `−$${shown.slice(1)}` : `$${shown}`;
}

/** A price may be tiny and still mean something. @param {string | null} text @returns {string} */
export function price(text) {
  if (text === null) return "–";
  return /^0\.0/.test(text) ? `$${significant(text)}` : usd(text);
}

/** @param {string | null} text @returns {string} */
export function quantity(text) {
  if (text === null) return "?";
  if (/^0\.0{6}/.test(text)) return "< 0.000001";
  return /^-?0\./.test(text) ? significant(text) : rounded(text, 4).replace(/\.?0+$/, "");
}

/** The first four digits that are not leading zeros. @param {string} text */
function significant(text) {
  return /^-?0\.0*[0-9]{1,4}/.exec(text)?.[0].replace(/\.?0+$/, "") ?? text;
}

/** Millionths, for comparing and for pictures. @param {string | null} text @returns {bigint} */
export function millionths(text) {
  if (text === null) return 0n;
  const [whole = "0", fraction = ""] = text.replace("-", "").split(".");
  const units = BigInt(whole + fraction.padEnd(6, "0").slice(0, 6));
  return text.startsWith("-") ? -units : units;
}
