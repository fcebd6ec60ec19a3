// The replay node as a child process: makes its history, reports its URL, and ends with its parent.

import { createProgressReporter, sendToParent } from "../harness/progress.ts";
import { serveGrowingHistory } from "./growing-history.ts";
import { actionMixOf } from "./mix.ts";
import { startReplayNode } from "./replay-node.ts";
import { serveHistory } from "./served-history.ts";

export type ReplayNodeTask = {
  readonly seed: number;
  readonly events: number;
  /** For a long history: made as it is read, from the reader's last block, up to a number of events. */
  readonly growing?: { readonly fromBlock: number; readonly until: number };
};

/** The message of the process when it is ready. */
export type ReplayNodeReady = {
  readonly ready: true;
  readonly url: string;
  readonly events: number;
  readonly head: number;
  readonly bytes: number;
};

const { seed, events, growing } = JSON.parse(process.argv[2] ?? "") as ReplayNodeTask;
const progress = createProgressReporter();
const mix = actionMixOf(events);
const onMade = (made: number) => progress(() => `${made} of ${events} events made`);
const history = growing
  ? serveGrowingHistory({
      seed,
      mix,
      eventsMax: growing.until,
      fromBlock: growing.fromBlock,
      progress: onMade,
    })
  : serveHistory({ seed, mix, eventsMax: events }, onMade);
const node = await startReplayNode(history);
const ready: ReplayNodeReady = {
  ready: true,
  url: node.url,
  events: history.events,
  head: history.head,
  bytes: history.bytes,
};
sendToParent(ready);

// The parent holds our standard input open for as long as it wants us, and however it ends, it lets go of it.
process.stdin.on("end", () => void node.close());
process.stdin.resume();
