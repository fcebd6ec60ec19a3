// Where a server lives: its folder, its account and its socket, settled before anything is started.
import { createHash } from "node:crypto";
import { chmod, chown, lstat, mkdir, mkdtemp, realpath, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Fault } from "../../src/lib/fault.ts";
import type { Log } from "../../src/lib/log.ts";
import { removeUnfinishedFolders } from "./atomic-folder.ts";
import { isNotFoundError, systemErrorCode } from "./errors.ts";
import { canEnter, chooseServerAccount, type ServerAccount } from "./server-account.ts";

export type ServerFolders = {
  readonly folder: string;
  readonly dataFolder: string;
  readonly socketFolder: string;
  /** The socket folder is a private one under the system's temporary folder, to be removed with the server. */
  readonly socketFolderIsTemporary: boolean;
  readonly logFile: string;
  readonly account: ServerAccount;
};

// A socket's whole path fits 104 bytes on macOS and 108 on Linux, its ending zero included.
const SOCKET_PATH_BYTES_MAX = 103;
const SOCKET_NAME = "/.s.PGSQL.5432";
// Where root keeps the data when the server's account can not enter the folder asked for, such as one under /root.
const RELOCATION_FOLDER = "/var/lib/sextant";

export async function prepareServerFolders(
  asked: string,
  log: Log,
  relocationFolder: string = RELOCATION_FOLDER,
): Promise<ServerFolders> {
  try {
    const wanted = resolve(asked);
    await makeFolders(wanted);
    const account = await chooseServerAccount(await followIfThere(join(wanted, "data")));
    const folder = await reachableFolder(await realpath(wanted), account, log, relocationFolder);
    await removeUnfinishedFolders(folder);
    return {
      folder,
      dataFolder: join(folder, "data"),
      ...(await makeSocketFolder(folder, account)),
      logFile: join(folder, "server.log"),
      account,
    };
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw new Fault(
      "DATABASE_START_FAILED",
      `The folder ${asked} can not be used for the embedded database (${systemErrorCode(cause) ?? "unknown reason"}); choose one that this user may write to.`,
      { cause },
    );
  }
}

async function reachableFolder(
  folder: string,
  account: ServerAccount,
  log: Log,
  relocationFolder: string,
): Promise<string> {
  const pointer = join(folder, "data");
  const followed = await followIfThere(pointer);
  if (followed !== pointer) return dirname(followed);
  if (canEnter(folder, account)) return folder;

  const name = createHash("sha256").update(folder).digest("hex").slice(0, 16);
  const relocated = join(relocationFolder, name);
  await makeFolders(relocated);
  if (!canEnter(relocated, account)) {
    throw new Fault(
      "DATABASE_START_FAILED",
      `The unprivileged account that runs PostgreSQL can enter neither ${folder} nor ${relocated}; choose another data folder, or do not run as root.`,
    );
  }
  await mkdir(join(relocated, "data"), { recursive: true, mode: 0o700 });
  await symlink(join(relocated, "data"), pointer);
  log.warn(
    { asked: folder, folder: relocated },
    "The database lives elsewhere: its account can not enter the folder asked for",
  );
  return relocated;
}

/** The real path behind a link of ours, or the path itself when it is a plain folder or not there yet. */
async function followIfThere(path: string): Promise<string> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await realpath(path) : path;
  } catch (error) {
    if (isNotFoundError(error)) return path;
    throw error;
  }
}

// Only folders we make get a mode: root must let the server's account pass, anyone else keeps theirs private.
async function makeFolders(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  const mode = process.getuid?.() === 0 ? 0o755 : 0o700;
  for (let made = folder; made.length >= first.length; made = dirname(made)) await chmod(made, mode);
}

async function makeSocketFolder(
  folder: string,
  account: ServerAccount,
): Promise<{ socketFolder: string; socketFolderIsTemporary: boolean }> {
  const own = join(folder, "run");
  if (fitsSocket(own)) {
    await mkdir(own, { recursive: true });
    await makePrivate(own, account);
    return { socketFolder: own, socketFolderIsTemporary: false };
  }
  for (const parent of [tmpdir(), "/tmp"]) {
    // A fresh unguessable name: nobody else can have prepared it, and nobody else may enter it.
    if (!fitsSocket(join(parent, "sextant-XXXXXX")) || !canEnter(parent, account)) continue;
    const temporary = await mkdtemp(join(parent, "sextant-"));
    await makePrivate(temporary, account);
    return { socketFolder: temporary, socketFolderIsTemporary: true };
  }
  throw new Fault(
    "DATABASE_START_FAILED",
    `The path ${folder} is too long for a socket; choose a shorter data folder.`,
  );
}

function fitsSocket(folder: string): boolean {
  return Buffer.byteLength(folder + SOCKET_NAME) <= SOCKET_PATH_BYTES_MAX;
}

/** Only its owner (and root) may enter: this is what keeps the socket, which asks for no password, ours. */
export async function makePrivate(folder: string, account: ServerAccount): Promise<void> {
  await chmod(folder, 0o700);
  if (account.uid !== undefined && account.gid !== undefined) await chown(folder, account.uid, account.gid);
}
