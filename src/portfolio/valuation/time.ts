// Times in the response: ISO 8601, null when unknown.

// The last second that an ECMAScript Date can represent.
const SECONDS_MAX = 8_640_000_000_000;

/** A node or vendor may send any number. */
export function validSeconds(seconds: number | null): number | null {
  return seconds !== null && seconds >= 0 && seconds <= SECONDS_MAX ? seconds : null;
}

export function formatUnixSeconds(seconds: number | null): string | null {
  const valid = validSeconds(seconds);
  return valid === null ? null : new Date(valid * 1000).toISOString();
}
