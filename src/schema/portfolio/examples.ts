// Examples of the paid responses, for documents, directories and tests; a test validates them by their schemas.
import { readFileSync } from "node:fs";
import type { PortfolioDiff } from "./diff.ts";
import type { Exposure } from "./exposure.ts";
import type { Simulation } from "./simulation.ts";
import type { PortfolioSnapshot } from "./snapshot.ts";

type Examples = {
  readonly snapshot: PortfolioSnapshot;
  readonly exposure: Exposure;
  readonly diff: PortfolioDiff;
  readonly simulation: Simulation;
};

export const {
  snapshot: exampleSnapshot,
  exposure: exampleExposure,
  diff: exampleDiff,
  simulation: exampleSimulation,
} = JSON.parse(readFileSync(new URL("examples.json", import.meta.url), "utf8")) as Examples;
