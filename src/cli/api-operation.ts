// What the command line knows about an operation of the API: the type of the generated table.

export type ApiParameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header" | "body";
  readonly required: boolean;
  readonly description: string;
  readonly type: string;
  /** What it may be, where only some texts are allowed. */
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
  /** Of the table of a list. */
  readonly columns: readonly { readonly name: string; readonly isState: boolean }[];
};
