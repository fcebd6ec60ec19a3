// The node that is asked first leaves some logs out of every response, from beginning to end.
import { pause } from "../wait.ts";
import type { Actor } from "./actor.ts";

export const omittingNode: Actor = async ({ nodes: { omission }, pace }, stop) => {
  omission.omit(true);
  while (!stop.aborted) await pause(pace.troubleMs, stop);
  omission.omit(false);
};
