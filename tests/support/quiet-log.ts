// A log for tests that nobody reads.
import { createLog } from "../../src/lib/log.ts";

export const quiet = createLog({ level: "silent", terminal: false, name: "test" });
