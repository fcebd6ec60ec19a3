// Finds the location of a server: its folder, account and socket, decided before anything starts.
import { createHash } from "node:crypto";
import { chmod, chown, lstat, mkdir, mkdtemp, realpath, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { removeUnfinishedFolders } from "./atomic-folder.ts";
import { EmbeddedPostgresError, isNotFoundError, systemErrorCode } from "./errors.ts";
import type { Logger } from "./logger.ts";
import { canEnter, chooseServerAccount, type ServerAccount } from "./server-account.ts";

export type ServerFolders = {
  readonly folder: string;
  readonly dataFolder: string;
  readonly socketFolder: string;
  /** The socket folder is a private one below the system's temporary folder, removed with the server. */
  readonly socketFolderIsTemporary: boolean;
  readonly logFile: string;
  readonly account: ServerAccount;
};

// The limit of a socket's path is 104 bytes on macOS and 108 on Linux, including the terminating zero.
const SOCKET_PATH_BYTES_MAX = 103;
const SOCKET_NAME = "/.s.PGSQL.5432";
// For root: holds the data when the server's account cannot enter the requested folder, such as one below /root.
const RELOCATION_FOLDER = "/var/lib/sextant";

export async function prepareServerFolders(
  requestedFolder: string,
  log: Logger,
  relocationFolder: string = RELOCATION_FOLDER,
): Promise<ServerFolders> {
  try {
    const absolute = resolve(requestedFolder);
    await makeFolders(absolute);
    const account = await chooseServerAccount(await resolveLink(join(absolute, "data")));
    const folder = await chooseFolder(await realpath(absolute), account, log, relocationFolder);
    await removeUnfinishedFolders(folder);
    return {
      folder,
      dataFolder: join(folder, "data"),
      ...(await makeSocketFolder(folder, account)),
      logFile: join(folder, "server.log"),
      account,
    };
  } catch (cause) {
    if (cause instanceof EmbeddedPostgresError) throw cause;
    throw new EmbeddedPostgresError(
      "DATABASE_START_FAILED",
      `The folder ${requestedFolder} cannot be used for the embedded database (${systemErrorCode(cause) ?? "unknown reason"}); choose one that this user may write to.`,
      { cause },
    );
  }
}

/** The folder itself, or its replacement in `relocationFolder` if the account cannot enter it. */
async function chooseFolder(
  folder: string,
  account: ServerAccount,
  log: Logger,
  relocationFolder: string,
): Promise<string> {
  const link = join(folder, "data");
  const dataFolder = await resolveLink(link);
  if (dataFolder !== link) return dirname(dataFolder);
  if (canEnter(folder, account)) return folder;

  const name = createHash("sha256").update(folder).digest("hex").slice(0, 16);
  const relocated = join(relocationFolder, name);
  await makeFolders(relocated);
  if (!canEnter(relocated, account)) {
    throw new EmbeddedPostgresError(
      "DATABASE_START_FAILED",
      `The unprivileged account that runs PostgreSQL can enter neither ${folder} nor ${relocated}; choose another data folder, or do not run as root.`,
    );
  }
  await mkdir(join(relocated, "data"), { recursive: true, mode: 0o700 });
  await symlink(join(relocated, "data"), link);
  log.warn(
    {
      component: "embedded-postgres",
      event: "data_folder_relocated",
      requestedFolder: folder,
      folder: relocated,
    },
    "Database account cannot enter the data folder, using another one",
  );
  return relocated;
}

/** The target of the link to relocated data, or the path itself when it is a plain folder or missing. */
async function resolveLink(path: string): Promise<string> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await realpath(path) : path;
  } catch (error) {
    if (isNotFoundError(error)) return path;
    throw error;
  }
}

// Sets the mode of new folders only. As root the server's account must pass through; other users get private ones.
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
  const preferred = join(folder, "run");
  if (fitsSocket(preferred)) {
    await mkdir(preferred, { recursive: true });
    await makePrivate(preferred, account);
    return { socketFolder: preferred, socketFolderIsTemporary: false };
  }
  for (const parent of [tmpdir(), "/tmp"]) {
    // mkdtemp picks an unguessable name, so no other user can create the folder first.
    if (!fitsSocket(join(parent, "sextant-XXXXXX")) || !canEnter(parent, account)) continue;
    const temporary = await mkdtemp(join(parent, "sextant-"));
    await makePrivate(temporary, account);
    return { socketFolder: temporary, socketFolderIsTemporary: true };
  }
  throw new EmbeddedPostgresError(
    "DATABASE_START_FAILED",
    `The path ${folder} is too long for a socket; choose a shorter data folder.`,
  );
}

function fitsSocket(folder: string): boolean {
  return Buffer.byteLength(folder + SOCKET_NAME) <= SOCKET_PATH_BYTES_MAX;
}

/** Only the owner (and root) may enter. This protects the socket, which needs no password. */
export async function makePrivate(folder: string, account: ServerAccount): Promise<void> {
  await chmod(folder, 0o700);
  if (account.uid !== undefined && account.gid !== undefined) await chown(folder, account.uid, account.gid);
}
