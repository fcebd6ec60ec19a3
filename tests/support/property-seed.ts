// The seed of property tests: a new one for each run, or the one in TEST_SEED, as CI has it.
import fc from "fast-check";
import { givenSeed } from "./seeded-random.ts";

const seed = givenSeed();
if (seed !== null) fc.configureGlobal({ seed });
