// The schema in which the rows of another are rebuilt: whatever it has is dropped when a rebuild begins.
const SUFFIX = "_rebuild";

export function toRebuildSchema(schema: string): string {
  return schema + SUFFIX;
}

/** Whether a rebuild of another schema would use, and drop, this one. */
export function isRebuildSchema(schema: string): boolean {
  return schema.endsWith(SUFFIX);
}
