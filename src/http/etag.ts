// Validators of an answer: whether the client already has these bytes.

/** If-None-Match compares weakly, and may list several validators or `*`. */
export function etagMatches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header === etag || header.trim() === "*") return true;
  return header.split(",").some((part) => part.trim().replace(/^W\//, "") === etag);
}
