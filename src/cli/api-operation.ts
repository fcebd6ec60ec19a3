// Describes an operation of the API for the command line: the type of the generated table.

export type ApiParameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header" | "body";
  readonly required: boolean;
  readonly description: string;
  readonly type: string;
  /** The allowed texts, if only some are. */
  readonly values: readonly string[] | null;
  readonly example: unknown;
};

export type ApiOperation = {
  readonly id: string;
  /** With parameters in braces. */
  readonly path: string;
  readonly kind: "read" | "list" | "document" | "paid";
  readonly summary: string;
  readonly description: string;
  readonly takesBlock: boolean;
  readonly takesMinBlock: boolean;
  readonly parameters: readonly ApiParameter[];
  /** The columns of a list's table. */
  readonly columns: readonly { readonly name: string; readonly isState: boolean }[];
};
