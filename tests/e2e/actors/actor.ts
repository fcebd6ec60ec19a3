// Somebody who does something to the river, or in it, until told to stop.
import type { River } from "../system.ts";

/** Rejects only when it could not play its part; what it finds wrong goes to the observations. */
export type Actor = (river: River, stop: AbortSignal) => Promise<void>;
