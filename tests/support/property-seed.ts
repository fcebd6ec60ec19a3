// The seed of property tests: a new one for each run, or the one in TEST_SEED, as CI has it.
import fc from "fast-check";

const text = process.env.TEST_SEED;
if (text !== undefined) fc.configureGlobal({ seed: Number.parseInt(text, 10) });
