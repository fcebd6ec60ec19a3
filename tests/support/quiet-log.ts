// Logs for tests.
import { createLog } from "../../src/lib/log.ts";

export const silentLog = createLog({ level: "silent", terminal: false, name: "test" });
