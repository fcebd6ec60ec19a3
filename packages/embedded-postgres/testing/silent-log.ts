// A logger that discards everything, for tests.
import type { Logger } from "../logger.ts";

const discard = () => undefined;

export const silentLogger: Logger = { info: discard, warn: discard, error: discard, fatal: discard };
