// Keeps a server ours: claims it again when the session that held the claim is cut while the server lives on.
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { Log } from "../../src/lib/log.ts";
import { claimServer } from "./claim.ts";
import { unrefStream } from "./unref-stream.ts";

export type ClaimHandle = { release(): Promise<void> };

const TRY_AGAIN_MS = 100;

/** After one of its processes crashed, a server cuts all sessions and recovers; ours must not look orphaned then. */
export function holdClaim(
  first: Client,
  options: { socketFolder: string; hasExited: () => boolean; log: Log },
): ClaimHandle {
  let session = first;
  let released = false;
  watch();

  function watch(): void {
    unrefStream(session.connection.stream);
    session.once("end", () => {
      void reclaim().catch((err) =>
        options.log.error({ err }, "The claim on the embedded database was lost"),
      );
    });
  }

  async function reclaim(): Promise<void> {
    while (!released && !options.hasExited()) {
      const claim = await claimServer(options.socketFolder);
      if (claim.state === "held") {
        options.log.error({ holder: claim.holder }, "Another process claimed the embedded database");
        return;
      }
      if (claim.state === "claimed") {
        session = claim.session;
        if (released) await session.end();
        else watch();
        return;
      }
      await sleep(TRY_AGAIN_MS, undefined, { ref: false });
    }
  }

  return {
    async release() {
      released = true;
      await session.end();
    },
  };
}
