// `npm run check`: the fast part of the tests, in seconds.
import { runChecks } from "./checks.ts";

process.exitCode = runChecks(process.argv.slice(2)) ? 0 : 1;
