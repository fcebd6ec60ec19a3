// Loaded into an export by --import: kills its process at one call to the file system, counted in the folder of the export.
import { writeSync } from "node:fs";
import filesystem, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

const folder = process.env.KILL_IN ?? "";
const killAt = Number(process.env.KILL_AT);
const ours = new WeakSet<object>();
let calls = 0;

/** Whether this is the call to die in. Standard error gets every call, so that a test sees what it has met. */
function isLast(name: string, path: string): boolean {
  calls += 1;
  if (calls === killAt) writeSync(2, `killed in ${name} ${path.slice(folder.length + 1)}\n`);
  return calls === killAt;
}

function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("the process is dying");
}

for (const name of ["mkdir", "open", "rename", "rm"] as const) {
  const original = filesystem[name] as (...args: unknown[]) => Promise<unknown>;
  const counted = async (path: string, ...rest: unknown[]) => {
    const isOurs = String(path).startsWith(folder);
    if (isOurs && isLast(name, path)) die();
    const result = await original(path, ...rest);
    if (name === "open" && isOurs) ours.add(result as FileHandle);
    return result;
  };
  Object.assign(filesystem, { [name]: counted });
}

const probe = await filesystem.open(process.execPath);
const handles = Object.getPrototypeOf(probe) as FileHandle;
await probe.close();
const { writeFile, sync } = handles;
const write = handles.write as (bytes: Uint8Array, from: number) => Promise<unknown>;
Object.assign(handles, {
  sync(this: FileHandle) {
    if (ours.has(this) && isLast("sync", folder)) die();
    return sync.call(this);
  },
  write(this: FileHandle, bytes: Uint8Array, from: number) {
    if (ours.has(this) && isLast("write", folder)) {
      // As when the power fails or the process dies inside the call.
      writeSync(this.fd, bytes, from, Math.floor((bytes.length - from) / 2));
      die();
    }
    return write.call(this, bytes, from);
  },
  writeFile(this: FileHandle, text: string) {
    if (ours.has(this) && isLast("writeFile", folder)) {
      writeSync(this.fd, text.slice(0, text.length / 2));
      die();
    }
    return writeFile.call(this, text);
  },
});
syncBuiltinESMExports();
