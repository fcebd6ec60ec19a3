import { deploy, LOCAL_GENESIS_CODE } from "../deploy/deploy.ts";
import { startLocalChain } from "../local-chain/local-chain.ts";
import { playEconomy } from "./economy.ts";
import { countEvents, missingEvents, readEvents } from "./read-events.ts";
import { scriptedTimeline } from "./timeline.ts";
import { openWorld } from "./world.ts";

const [from, to, steps] = process.argv.slice(2).map(Number) as [number, number, number];
for (let seed = from; seed <= to; seed++) {
  const chain = await startLocalChain({
    chainId: 31337,
    genesisTimestamp: 1767225600n,
    reorgDepthMax: 0,
    code: LOCAL_GENESIS_CODE,
  });
  const deployment = await deploy({ request: chain.request, owner: chain.accounts.owner });
  const timeline = await scriptedTimeline(chain.request, { start: 1767229200n });
  const world = await openWorld({ request: chain.request, deployment, timeline });
  const t = performance.now();
  const c = process.cpuUsage();
  let last = "";
  try {
    await playEconomy({
      world,
      seed,
      steps,
      onStep: (s) => {
        last = s.move;
      },
    });
  } catch (e) {
    console.log(seed, "FAILED", (e as Error).message);
  }
  const ms = performance.now() - t;
  const cpu = process.cpuUsage(c);
  const counts = countEvents(await readEvents(chain.request, deployment));
  const n = counts.reduce((a, b) => a + b.count, 0);
  console.log(
    seed,
    Math.round((steps / ms) * 1000),
    "steps/s",
    Math.round(steps / ((cpu.user + cpu.system) / 1e6)),
    "steps/cpu-s",
    n,
    "events",
    world.tally,
    "missing",
    missingEvents(counts).join(","),
    "min",
    counts
      .filter((c) => !c.never)
      .sort((a, b) => a.count - b.count)
      .slice(0, 3)
      .map((c) => c.event + "=" + c.count)
      .join(" "),
  );
  await chain.stop();
}
