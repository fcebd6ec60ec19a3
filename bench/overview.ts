// The whole product in one table: the headlines of every benchmark's newest run, with what was aimed at and what came out.
import { type BenchReport, columns, type Headline } from "./measurement.ts";

/** When, on which commit and where a benchmark ran. */
export type Circumstances = { readonly date: string; readonly commit: string; readonly machine: string };

/** The newest run of one benchmark. */
export type Part = BenchReport & { readonly circumstances: Circumstances };

/** Parts by the name of their benchmark. */
export type Parts = Readonly<Record<string, Part>>;

export function overviewOf(parts: Parts): string {
  const rows = Object.entries(parts).flatMap(([bench, { headlines, circumstances }]) =>
    headlines.map((headline) => [
      bench,
      ...cellsOf(headline),
      `${circumstances.date} ${circumstances.commit}`,
    ]),
  );
  return columns([["bench", "headline", "value", "ceiling", "ratio", "aim", "met", "measured"], ...rows]);
}

function cellsOf({ what, value, ceiling, ratio, aim }: Headline): readonly string[] {
  const judged = aim === null ? ["-", "-"] : [aim.text, aim.met ? "yes" : "no"];
  return [what, value, ceiling, ratio.padStart(RATIO_WIDTH), ...judged];
}

// Room for a ratio far above one.
const RATIO_WIDTH = 6;
