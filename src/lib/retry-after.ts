// The Retry-After header of an answer.

/** Seconds or an HTTP date, as RFC 9110 allows, as milliseconds from now; null when there is none or it can not be read. */
export function parseRetryAfter(header: string | null): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
