// The few file-system failures that are answers rather than errors.

export function isMissing(error: unknown): boolean {
  return codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR";
}

/** What rename says when another process put its complete folder there first. */
export function isTaken(error: unknown): boolean {
  return codeOf(error) === "ENOTEMPTY" || codeOf(error) === "EEXIST";
}

export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
