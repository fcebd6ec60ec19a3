// Planned outages and their times: they excuse exactly the failures that they cause.

export type Outages = {
  /** Returns the function that ends it. */
  begin(what: string): () => void;
  /** Whether `what` was away at any time between the two, or had been until shortly before. */
  overlaps(what: string, fromMs: number, toMs: number): boolean;
};

type Outage = { readonly what: string; readonly fromMs: number; untilMs: number };

// Time for services to reconnect and finish waiting requests, as the API promises (tests/api/outage.test.ts).
const RECOVERY_MS_MAX = 10_000;

export function createOutages(): Outages {
  const outages: Outage[] = [];
  return {
    begin(what) {
      const outage = { what, fromMs: Date.now(), untilMs: Number.POSITIVE_INFINITY };
      outages.push(outage);
      return () => {
        outage.untilMs = Date.now();
      };
    },
    overlaps: (what, fromMs, toMs) =>
      outages.some(
        (each) => each.what === what && each.fromMs <= toMs && fromMs <= each.untilMs + RECOVERY_MS_MAX,
      ),
  };
}
