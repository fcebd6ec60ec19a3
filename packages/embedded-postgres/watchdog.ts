// Stops the server when this process is killed: a shell that blocks on a pipe which only this process holds open.
import { spawn } from "node:child_process";
import type { Logger } from "./logger.ts";
import { unrefStream } from "./processes.ts";
import { SERVER_ENVIRONMENT } from "./server-account.ts";
import type { ServerFolders } from "./server-folders.ts";

type Watchdog = {
  /** Ends the watchdog without touching the server. */
  stop(): void;
};

// A line on the pipe means an orderly stop. Without one the pipe closed because this process died: fast shutdown, and
// after eight seconds an immediate one, from which the next start recovers. The command line is checked first,
// because another process may have the pid by now.
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

export function startWatchdog(serverPid: number, folders: ServerFolders, log: Logger): Watchdog {
  const child = spawn(
    "/bin/sh",
    [
      "-c",
      SCRIPT,
      "sextant-watchdog",
      String(serverPid),
      folders.dataFolder,
      folders.socketFolderIsTemporary ? folders.socketFolder : "",
    ],
    {
      ...folders.account,
      cwd: "/",
      env: SERVER_ENVIRONMENT,
      // Its own session, so that Ctrl-C or a signal to our process group does not end it first.
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    },
  );
  child.unref();
  unrefStream(child.stdin);
  child.once("error", (err) =>
    log.warn(
      { component: "embedded-postgres", event: "watchdog_failed", err },
      "Database watchdog could not start",
    ),
  );
  // Writing to a killed watchdog must not end this process; the next start finds the server anyway.
  child.stdin.on("error", () => child.stdin.destroy());
  return { stop: () => child.stdin.end("done\n") };
}
