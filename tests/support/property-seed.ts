// Settings of property tests: a new seed for each run, or the one in TEST_SEED, as CI has it; and their time.
import fc from "fast-check";
import { givenSeed } from "./seeded-random.ts";

// Below the time of a test, which would only say that it was over: a slow search for a smaller case hides the failure.
const TIME_MS = 110_000;

const seed = givenSeed();
fc.configureGlobal({
  ...(seed === null ? {} : { seed }),
  interruptAfterTimeLimit: TIME_MS,
  markInterruptAsFailure: true,
});
