// Examples of the operations: values for the parameters, bodies, and responses.

/** Recorded from a run, so that they work in another run of the same kind. */
export type ApiExamples = {
  /** Examples by parameter, for all operations that have it. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly operations: Readonly<Record<string, OperationExample>>;
  /** Bodies of successful responses by operation, with long lists cut. */
  readonly responses?: Readonly<Record<string, unknown>>;
};

export type OperationExample = {
  /** Examples by parameter, which come before those for all operations. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
};
