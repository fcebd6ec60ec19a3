// Somebody who does something to the river, or in it, until told to stop.
import type { E2eSystem } from "../system.ts";

/** Rejects only when it could not play its part; what it finds wrong goes to the observations. */
export type E2eActor = (river: E2eSystem, stop: AbortSignal) => Promise<void>;
