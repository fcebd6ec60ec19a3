// `sextant publish --to nats://…`: copies the event stream to JetStream, from the end of the copy on.

import { SextantError } from "@sextant/client/errors";
import type { Sextant, WatchFilter, WatchOptions } from "@sextant/client/sextant";
import { clientSettings } from "../../config/client-settings.ts";
import { readConfig } from "../../config/read-config.ts";
import { systemClock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import { type RunClientCommand, readStringOption } from "../command.ts";
import { toPlainText } from "../display/plain-text.ts";
import { CopyProgress } from "../nats/copy-progress.ts";
import { CopyMovedError, JetStreamCopy } from "../nats/jetstream-copy.ts";
import { openReader } from "../open-reader.ts";
import { readWatchOptions } from "./watch.ts";

// Doubled from one failure to the next.
const PAUSE_MS = 200;
const PAUSE_MS_MAX = 10_000;

export const publishCommand: RunClientCommand = async (context) => {
  const { environment, options, display, stop } = context;
  const { filter, watching } = readWatchOptions(context);
  const { natsUrl } = readConfig(environment, clientSettings);
  if (natsUrl === null) {
    throw new Fault("USAGE_INVALID", "--to is required: the NATS server, such as nats://127.0.0.1:4222.");
  }
  const sextant = openReader(environment);
  const copy = await JetStreamCopy.open({
    url: natsUrl.reveal(),
    stream: readStringOption(options, "stream") ?? "sextant",
    prefix: readStringOption(options, "prefix") ?? "sextant",
  });
  const progress = new CopyProgress(display, systemClock);
  try {
    for (let failures = 0; !stop.aborted; ) {
      const onAppended = () => {
        failures = 0;
        progress.add();
      };
      try {
        await copyStream({ sextant, copy, filter, watching, onAppended });
      } catch (error) {
        progress.hide();
        if (stop.aborted) return 0;
        if (error instanceof Fault || error instanceof SextantError || copy.isClosed) throw error;
        const text = error instanceof Error ? error.message : String(error);
        display.report(error instanceof CopyMovedError ? text : `NATS: ${toPlainText(text)}; trying again.`);
        await pause(failures, stop);
        failures += 1;
      }
    }
    return 0;
  } finally {
    progress.hide();
    await copy.close();
  }
};

/** Ends only by an error. */
async function copyStream(options: {
  readonly sextant: Sextant;
  readonly copy: JetStreamCopy;
  readonly filter: WatchFilter;
  readonly watching: WatchOptions;
  readonly onAppended: () => void;
}): Promise<void> {
  const { sextant, copy, filter, watching, onAppended } = options;
  let position = await copy.readPosition();
  // Its own end counts, whatever the command line says: a copy has no gaps and no repetitions.
  const from = position.cursor ?? watching.from ?? "genesis";
  for await (const item of sextant.watch(filter, { ...watching, from })) {
    position = await copy.append(item, position);
    onAppended();
  }
}

/** With a random part: of two processes that copy to one stream, one goes on and the other waits. */
async function pause(failures: number, stop: AbortSignal): Promise<void> {
  const ms = Math.min(PAUSE_MS * 2 ** Math.min(failures, 10), PAUSE_MS_MAX) * (0.5 + Math.random());
  await systemClock.sleep(ms, stop).catch(() => undefined);
}
