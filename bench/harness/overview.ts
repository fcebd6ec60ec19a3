// The whole product in one table: the headlines of every benchmark's newest run, with what was aimed at and what came out.
import { type BenchReport, formatColumns, type Headline } from "./measurement.ts";

/** The time, commit and machine of a benchmark. */
export type RunEnvironment = { readonly date: string; readonly commit: string; readonly machine: string };

/** The newest run of one benchmark. */
type BenchRun = BenchReport & { readonly circumstances: RunEnvironment };

/** Parts by the name of their benchmark. */
export type BenchRuns = Readonly<Record<string, BenchRun>>;

export function formatOverview(parts: BenchRuns): string {
  const rows = Object.entries(parts).flatMap(([bench, { headlines, circumstances }]) =>
    headlines.map((headline) => [
      bench,
      ...cellsOf(headline),
      `${circumstances.date} ${circumstances.commit}`,
    ]),
  );
  return formatColumns([
    ["bench", "headline", "value", "ceiling", "ratio", "aim", "met", "measured"],
    ...rows,
  ]);
}

/**
 * The headlines of one benchmark on several databases, a column each; empty if it ran on one only. A headline is found
 * by what stands before its colon and by what it is compared with: which route is the median or the lowest differs from
 * run to run, and an older run may have other headlines.
 */
export function formatDatabaseComparison(parts: BenchRuns, kinds: readonly string[]): string {
  const [first = ""] = kinds;
  const benches = Object.keys(parts).filter((bench) => kinds.some((kind) => parts[`${bench} (${kind})`]));
  const rows = benches.flatMap((bench) => {
    const columnOf = (kind: string) => parts[kind === first ? bench : `${bench} (${kind})`]?.headlines ?? [];
    return (parts[bench]?.headlines ?? []).map((headline) => {
      const name = nameOf(headline);
      const cells = kinds.map((kind) => {
        const same = columnOf(kind).find((each) => nameOf(each).join() === name.join());
        return same ? `${same.value}, ${same.ratio.trim()}` : "-";
      });
      const [what, against] = name;
      return [bench, what, ...cells, `of ${against}`];
    });
  });
  return rows.length === 0 ? "" : formatColumns([["bench", "headline", ...kinds, "ratio"], ...rows]);
}

function nameOf({ what, ceiling }: Headline): readonly [what: string, against: string] {
  return [what.split(":")[0] ?? "", ceiling.replace(/^[0-9.,]+ /, "")];
}

function cellsOf({ what, value, ceiling, ratio, aim }: Headline): readonly string[] {
  const aimCells = aim === null ? ["-", "-"] : [aim.text, aim.met ? "yes" : "no"];
  return [what, value, ceiling, ratio.padStart(RATIO_WIDTH), ...aimCells];
}

// Fits a ratio far above one.
const RATIO_WIDTH = 6;
