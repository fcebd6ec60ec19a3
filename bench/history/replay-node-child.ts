// The replaying node as a process of its own: makes its history, tells where it listens, and lives until its parent leaves.

import { createProgress, say } from "../harness/progress.ts";
import { mixOf } from "./mix.ts";
import { startReplayNode } from "./replay-node.ts";
import { serveHistory } from "./served-history.ts";

export type ReplayNodeTask = { readonly seed: number; readonly events: number };

/** What the process says when it is ready. */
export type ReplayNodeReady = {
  readonly ready: true;
  readonly url: string;
  readonly events: number;
  readonly head: number;
  readonly bytes: number;
};

const { seed, events } = JSON.parse(process.argv[2] ?? "") as ReplayNodeTask;
const progress = createProgress();
const history = serveHistory({ seed, mix: mixOf(events), eventsMax: events }, (made) =>
  progress(() => `${made} of ${events} events made`),
);
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
