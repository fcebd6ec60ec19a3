// Ends the server when we are killed: a shell that sleeps on a pipe only we hold open, and wakes when it closes.
import { spawn } from "node:child_process";
import type { Log } from "../../src/lib/log.ts";
import { unrefStream } from "./processes.ts";
import { SERVER_ENVIRONMENT } from "./server-account.ts";
import type { ServerFolders } from "./server-folders.ts";

export type Watchdog = {
  /** Sends it away: from now on the server's life is somebody else's care. */
  stop(): void;
};

// A word on the pipe means the server was stopped in order. Otherwise the pipe closed because we died: fast
// shutdown, and after eight seconds the immediate one, which the next start recovers from. The command line is
// looked at first, because the number may belong to another process by now.
const SCRIPT = `
read -r word && exit 0
command=$(tr '\\000' ' ' < "/proc/$1/cmdline" || ps -o command= -p "$1")
case "$command" in *"$2"*) ;; *) exit 0 ;; esac
kill -INT "$1"
waited=0
while [ $waited -lt 40 ] && kill -0 "$1"; do
  sleep 0.2 || sleep 1
  waited=$((waited + 1))
done
[ $waited -lt 40 ] || kill -QUIT "$1"
[ -z "$3" ] || rmdir "$3"
`;

export function startWatchdog(serverPid: number, home: ServerFolders, log: Log): Watchdog {
  const child = spawn(
    "/bin/sh",
    [
      "-c",
      SCRIPT,
      "sextant-watchdog",
      String(serverPid),
      home.dataFolder,
      home.socketFolderIsTemporary ? home.socketFolder : "",
    ],
    {
      ...home.account,
      cwd: "/",
      env: SERVER_ENVIRONMENT,
      // Its own session: neither Ctrl-C nor a signal to our process group may end it before us.
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    },
  );
  child.unref();
  unrefStream(child.stdin);
  child.once("error", (err) =>
    log.warn({ err }, "Nothing will stop the database should this process be killed"),
  );
  // Writing to a watchdog that somebody killed must not take us down; the next start would find the server anyway.
  child.stdin.on("error", () => child.stdin.destroy());
  return { stop: () => child.stdin.end("done\n") };
}
