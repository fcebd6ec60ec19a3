// Planned outages: what was taken away from when to when, so that nobody is blamed for it, and nobody else excused.

export type Outages = {
  /** Answers with what ends it. */
  begin(what: string): () => void;
  /** Whether `what` was away at any time between the two, or had been until shortly before. */
  overlaps(what: string, fromMs: number, toMs: number): boolean;
};

type Outage = { readonly what: string; readonly fromMs: number; untilMs: number };

// Connections are made anew and waiting requests are answered; the API promises as much (tests/api/outage.test.ts).
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
