// What `npm run check` runs: the fast part of the tests, in seconds.
import { check } from "./checks.ts";

process.exitCode = check() ? 0 : 1;
