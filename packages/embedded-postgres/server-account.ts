// The account that runs the server: PostgreSQL does not run as root, so root starts it as an unprivileged user.
import { spawnSync } from "node:child_process";
import { lstat } from "node:fs/promises";
import { isNotFoundError } from "./errors.ts";

/** Spread into spawn options; empty when the server runs as the current user. */
export type ServerAccount = { readonly uid?: number; readonly gid?: number };

// Every Unix has a user without privileges for such work. This is its usual id; `id` knows where it differs.
const UNPRIVILEGED_USER = "nobody";
const UNPRIVILEGED_ID = 65_534;

// The server and its tools do not inherit our environment: PGDATA, PGOPTIONS or LD_PRELOAD would change them.
export const SERVER_ENVIRONMENT = {
  PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
  LC_ALL: "C",
  TZ: "UTC",
} as const;

/** The current user. For root: the owner of the data, or else the unprivileged user. */
export async function chooseServerAccount(dataFolder: string): Promise<ServerAccount> {
  if (process.getuid?.() !== 0) return {};
  try {
    const { uid, gid } = await lstat(dataFolder);
    if (uid !== 0) return { uid, gid };
  } catch (error) {
    if (!isNotFoundError(error)) throw error;
  }
  return { uid: readUnprivilegedId("-u"), gid: readUnprivilegedId("-g") };
}

/** Whether the account can enter a folder. Tried, because modes alone do not decide it (ACLs, mounts). */
export function canEnter(folder: string, account: ServerAccount): boolean {
  if (account.uid === undefined) return true;
  const { status } = spawnSync("/bin/sh", ["-c", 'cd -- "$1"', "sh", folder], {
    ...account,
    cwd: "/",
    env: SERVER_ENVIRONMENT,
    stdio: "ignore",
  });
  return status === 0;
}

function readUnprivilegedId(option: "-u" | "-g"): number {
  const { status, stdout } = spawnSync("id", [option, UNPRIVILEGED_USER], {
    encoding: "utf8",
    env: SERVER_ENVIRONMENT,
  });
  // macOS prints -2 as an unsigned number, and spawn wants it signed.
  return status === 0 ? Number(stdout.trim()) | 0 : UNPRIVILEGED_ID;
}
