// The measured part of the capacity table, from the newest run of each benchmark.
import type { BenchRuns } from "../../bench/harness/overview.ts";

type Figure = { readonly topic: string; readonly bench: string; readonly headline: string };

const FIGURES: readonly Figure[] = [
  { topic: "history read, events a second", bench: "backfill", headline: "events/s" },
  { topic: "the same over TLS on a stock PostgreSQL", bench: "backfill (stock, TLS)", headline: "events/s" },
  { topic: "memory of the indexer while it reads history", bench: "backfill", headline: "peak memory" },
  { topic: "cached responses of one API process", bench: "api", headline: "hot, median" },
  { topic: "the same on a stock PostgreSQL", bench: "api (stock)", headline: "hot, median" },
  { topic: "single records and short lists that are not cached", bench: "api", headline: "cold, median" },
  {
    topic: "time that a snapshot adds to its node calls",
    bench: "portfolio",
    headline: "overhead of a snapshot",
  },
  { topic: "offers (402) of one portfolio process", bench: "portfolio", headline: "unpaid" },
  { topic: "purchases of one facilitator", bench: "portfolio", headline: "paid" },
  {
    topic: "payments followed until final by one reconciling process",
    bench: "reconcile",
    headline: "payments reconciled",
  },
];

export function formatCapacity(runs: BenchRuns): string {
  const rows = FIGURES.map(({ topic, bench, headline }) => {
    const found = runs[bench]?.headlines.find(({ what }) => what.startsWith(headline));
    if (found === undefined) throw new Error(`bench/results.json has no "${headline}" of ${bench}`);
    const { value, ratio, ceiling } = found;
    return `| ${topic} | ${value} | ${ratio.endsWith("%") ? `${ratio} of ${ceiling}` : `${ratio}; ${ceiling}`} |`;
  });
  const machines = [...new Set(FIGURES.map(({ bench }) => runs[bench]?.circumstances.machine))];
  return [
    "| what | measured | against |",
    "|---|---|---|",
    ...rows,
    "",
    `Measured on ${machines.join("; ")}.`,
  ].join("\n");
}
