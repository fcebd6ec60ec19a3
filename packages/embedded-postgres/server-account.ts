// Which account runs the server: PostgreSQL refuses to be root, so root hands it to an unprivileged one.
import { spawnSync } from "node:child_process";
import { lstat } from "node:fs/promises";
import { isNotFoundError } from "./errors.ts";

/** Spread into spawn options; empty when the server runs as the user we are. */
export type ServerAccount = { readonly uid?: number; readonly gid?: number };

// The account every Unix keeps for work without privileges; `id` answers where its number differs.
const NOBODY = 65_534;

// The server and its tools see nothing of our environment: PGDATA, PGOPTIONS or LD_PRELOAD would change them.
export const SERVER_ENVIRONMENT = {
  PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
  LC_ALL: "C",
  TZ: "UTC",
} as const;

/** Ourselves, unless we are root: then whoever already owns the data, or nobody. */
export async function chooseServerAccount(dataFolder: string): Promise<ServerAccount> {
  if (process.getuid?.() !== 0) return {};
  try {
    const { uid, gid } = await lstat(dataFolder);
    if (uid !== 0) return { uid, gid };
  } catch (error) {
    if (!isNotFoundError(error)) throw error;
  }
  return { uid: idOfNobody("-u"), gid: idOfNobody("-g") };
}

/** Whether the account can step into a folder; asked of the system, because modes alone do not tell (ACLs, mounts). */
export function canEnter(folder: string, account: ServerAccount): boolean {
  if (account.uid === undefined) return true;
  const asked = spawnSync("/bin/sh", ["-c", 'cd -- "$1"', "sh", folder], {
    ...account,
    cwd: "/",
    env: SERVER_ENVIRONMENT,
    stdio: "ignore",
  });
  return asked.status === 0;
}

function idOfNobody(option: "-u" | "-g"): number {
  const asked = spawnSync("id", [option, "nobody"], { encoding: "utf8", env: SERVER_ENVIRONMENT });
  // macOS counts nobody as an unsigned -2, and spawn wants it signed.
  return asked.status === 0 ? Number(asked.stdout.trim()) | 0 : NOBODY;
}
