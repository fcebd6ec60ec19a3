// Runs the simulator in rounds, so that the chain can be reorganised between two of them.
import type { E2eActor } from "./intermittent-fault.ts";

const ACT_STEPS = [8, 30] as const;

export const simulatorTraffic: E2eActor = async (
  { protocol, pace, observations, random: randomOf },
  stop,
) => {
  const random = randomOf("simulator");
  const [least, most] = ACT_STEPS;
  const { stepsPerSecond } = pace;
  while (!stop.aborted) {
    const steps = least + Math.floor(random() * (most - least));
    observations.count("simulator steps", await protocol.act(steps, { stepsPerSecond, signal: stop }));
  }
};
