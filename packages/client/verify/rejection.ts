// The error of everything in a response that is malformed, contradictory or not as its proof says.

/** The message is a sentence for people; it never contains text of the response that could be long. */
export class Rejection extends Error {
  override readonly name = "Rejection";
}

/** Runs `check` and returns the sentence of its rejection; null if it passes. */
export function findRejection(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof Rejection) return error.message;
    throw error;
  }
}
