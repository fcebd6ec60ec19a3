// The few file-system failures that are answers rather than errors.

export function isNotFoundError(error: unknown): boolean {
  return systemErrorCode(error) === "ENOENT" || systemErrorCode(error) === "ENOTDIR";
}

/** What rename says when another process put its complete folder there first. */
export function isAlreadyExistsError(error: unknown): boolean {
  return systemErrorCode(error) === "ENOTEMPTY" || systemErrorCode(error) === "EEXIST";
}

export function systemErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
