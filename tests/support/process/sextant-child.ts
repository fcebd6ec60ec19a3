// Runs what bin/sextant.mjs runs once the sources can be loaded: the entry of the bundle that tests start.
import { main } from "../../../src/cli/main.ts";

await main(process);
