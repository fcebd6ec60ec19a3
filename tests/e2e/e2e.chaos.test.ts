// End to end, everything in processes of its own, and everything that can go wrong going wrong for half a minute.
import { expect, it } from "vitest";
import { chooseSeed } from "../support/seeded-random.ts";
import { REQUIRED_OBSERVATIONS, runSoak } from "./run-soak.ts";
import { SHORT_PROFILE } from "./soak-profile.ts";
import { formatSoakSummary, noColor } from "./summary.ts";

const MINUTE = 60_000;

it(
  "survives kills, reorgs, restarts, faulty nodes and a lying facilitator without a wrong response",
  async () => {
    const result = await runSoak({ seed: chooseSeed(), pace: SHORT_PROFILE });
    const { observations } = result;
    const summary = formatSoakSummary(result, noColor);
    // First, because the end of a landing shows the first lines of a message only.
    const wrong = result.checks.filter(({ ok }) => !ok).map(({ name, message }) => `${name}: ${message}`);
    expect(result.ok, [...observations.violations, ...wrong, summary].join("\n")).toBe(true);
    // Half a minute on a busy machine may be too short for every kind of lie; the soak covers each of them.
    const isLie = (kind: string) => kind.startsWith("lies: ");
    const lies = REQUIRED_OBSERVATIONS.filter(isLie).map((kind) => observations.counted(kind));
    expect(
      lies.reduce((sum, count) => sum + count, 0),
      summary,
    ).toBeGreaterThan(0);
    for (const kind of REQUIRED_OBSERVATIONS.filter((each) => !isLie(each))) {
      expect(observations.counted(kind), `${kind}\n${summary}`).toBeGreaterThan(0);
    }
    expect(observations.counted("events indexed"), summary).toBeGreaterThan(0);
    expect(result.reorgs, summary).toBeGreaterThan(0);
  },
  5 * MINUTE,
);
