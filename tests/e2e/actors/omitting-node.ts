// The preferred node leaves some logs out of every response for the whole run.
import { sleepUntilStopped } from "../wait.ts";
import type { E2eActor } from "./intermittent-fault.ts";

export const omittingNode: E2eActor = async ({ nodes: { omission }, pace }, stop) => {
  omission.omit(true);
  while (!stop.aborted) await sleepUntilStopped(pace.troubleMs, stop);
  omission.omit(false);
};
