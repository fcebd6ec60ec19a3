// Example requests of the operations: values for the parameters, and bodies.

/** Recorded from a run, so that they work in another run of the same kind. */
export type ApiExamples = {
  /** By parameter, for all operations that have it. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly operations: Readonly<Record<string, OperationExample>>;
};

export type OperationExample = {
  /** By parameter; these come before those for all operations. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
};
