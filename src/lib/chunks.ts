// Splits a long list into chunks of bounded size.

/** In order; the last chunk may be shorter. */
export function splitIntoChunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
