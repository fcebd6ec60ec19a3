// Findings of the checks of `sextant doctor`.

export type Finding = {
  readonly subject: string;
  readonly check: string;
  /** Limited: it works, without some features, or slower. Failed: the services do not work with it. */
  readonly state: "ok" | "limited" | "failed";
  /** The finding, and what it means for the features unless it is ok. */
  readonly text: string;
};

/** Each request to a node or database: a slower one is of no use to a service. */
export const CHECK_MS_MAX = 5_000;

export function describeError(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : "";
  return cause === "" ? text : `${text}: ${cause}`;
}
