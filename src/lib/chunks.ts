// A long list in pieces, for whoever can take only so many at once.

/** In order; the last piece may be shorter. */
export function splitIntoChunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
