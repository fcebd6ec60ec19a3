// `npm run check`: what can be said without running the code.
import { runChecks } from "./checks.ts";

process.exitCode = runChecks() ? 0 : 1;
