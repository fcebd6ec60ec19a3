// The replaying node as a process of its own: makes its history, tells where it listens, and lives until its parent leaves.

import { mixOf } from "./history/mix.ts";
import { serveHistory } from "./history/served-history.ts";
import { startReplayNode } from "./replay-node.ts";

/** What the process says when it is ready. */
export type ReplayNodeReady = {
  readonly ready: true;
  readonly url: string;
  readonly events: number;
  readonly head: number;
  readonly bytes: number;
};

const PROGRESS_MS = 1_000;

const [seed, events] = process.argv.slice(2).map(Number);
if (!seed || !events) throw new Error("usage: replay-node-child.ts <seed> <events>");

const say = (message: object): void => {
  process.stdout.write(`${JSON.stringify(message)}\n`);
};
let toldMs = performance.now();
const history = serveHistory({ seed, mix: mixOf(events), eventsMax: events }, (made) => {
  if (performance.now() - toldMs < PROGRESS_MS) return;
  toldMs = performance.now();
  say({ progress: `${made} of ${events} events made` });
});
const node = await startReplayNode(history);
const ready: ReplayNodeReady = {
  ready: true,
  url: node.url,
  events: history.events,
  head: history.head,
  bytes: history.bytes,
};
say(ready);

// The parent holds our standard input open for as long as it wants us, and however it ends, it lets go of it.
process.stdin.on("end", () => void node.close());
process.stdin.resume();
