// The journal file: torn lines, damage, and processes that write at once or die with the lock.
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs, {
  appendFileSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FileJournal, openFileJournal } from "./file-journal.ts";
import { formatRecord, type SignedRecord } from "./records.ts";

let folder = "";
let file = "";
const opened: FileJournal[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sextant-journal-"));
  file = join(folder, "deep", "payments.jsonl");
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
  rmSync(folder, { recursive: true });
});

function open(options: Parameters<typeof openFileJournal>[1] = {}): FileJournal {
  const journal = openFileJournal(file, options);
  opened.push(journal);
  return journal;
}

function record(id: string): SignedRecord {
  return {
    ...{ type: "signed", id, at: 1, payer: "0xp", method: "GET", url: "https://a.example", request: id },
    purchase: null,
    requirements: { network: "eip155:1", asset: "0xa", payTo: "0xb", amount: "10" },
    validBefore: 60,
    signature: "c2ln",
  };
}

const write = (journal: FileJournal, id: string) =>
  journal.exclusive((_, append) => append(record(id), { durable: true }));
const ids = async (journal: FileJournal) => (await journal.read()).list().map(({ id }) => id);

describe("a journal file", () => {
  it("lets only the owner and the next process read the file", async () => {
    await write(open(), "a");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await ids(open())).toEqual(["a"]);
  });

  it("shows at once what another process has written", async () => {
    const [one, two] = [open(), open()];
    await write(one, "a");
    await write(two, "b");
    expect([await ids(one), await ids(two)]).toEqual([
      ["a", "b"],
      ["a", "b"],
    ]);
  });

  it("drops a line that was torn by a crash, wherever it was torn", async () => {
    const journal = open();
    await write(journal, "a");
    const whole = readFileSync(file);
    await write(journal, "b");
    const line = readFileSync(file).subarray(whole.length);
    for (let length = 1; length < line.length; length += 7) {
      writeFileSync(file, Buffer.concat([whole, line.subarray(0, length)]));
      const next = open();
      expect(await ids(next)).toEqual(["a"]);
      await write(next, "c");
      expect(await ids(open())).toEqual(["a", "c"]);
    }
  });

  it("rejects a file with any damaged line, which may be a sent signature", async () => {
    await write(open(), "a");
    for (const damage of [
      "{\n",
      "\0\0\0\n",
      '{"v":2,"id":"x","at":1}\n',
      '{"v":1,"type":"paid","id":"?","at":1}\n',
    ]) {
      const whole = readFileSync(file);
      appendFileSync(file, damage);
      await expect(write(open(), "b")).rejects.toMatchObject({ code: "JOURNAL_INVALID" });
      writeFileSync(file, whole);
    }
  });

  it("notices that its file became shorter", async () => {
    const journal = open();
    await write(journal, "a");
    writeFileSync(file, "");
    await expect(write(journal, "b")).rejects.toMatchObject({ code: "JOURNAL_INVALID" });
  });

  it("syncs what a dead process left unsynced before anyone acts on it", async () => {
    const journal = open();
    await write(journal, "a");
    appendFileSync(file, formatRecord(record("b")));
    const events: string[] = [];
    const { fsync } = fs;
    fs.fsync = ((descriptor: number, done: fs.NoParamCallback) => {
      events.push("fsync");
      fsync(descriptor, done);
    }) as typeof fs.fsync;
    syncBuiltinESMExports();
    try {
      for (const _ of [1, 2])
        await journal.exclusive(async (book) => events.push(`acts on ${book.list().length}`));
    } finally {
      fs.fsync = fsync;
      syncBuiltinESMExports();
    }
    expect(events).toEqual(["fsync", "acts on 2", "acts on 2"]);
  });

  it.each(["moved", "deleted", "replaced"])("signs nothing more when its file was %s", async (what) => {
    const journal = open();
    await write(journal, "a");
    if (what === "deleted") unlinkSync(file);
    else renameSync(file, `${file}.old`);
    if (what === "replaced") writeFileSync(file, "");
    let acted = false;
    const attempt = journal.exclusive(async () => {
      acted = true;
    });
    await expect(attempt).rejects.toMatchObject({ code: "JOURNAL_INVALID" });
    expect(acted).toBe(false);
  });

  it.each(["the file", "its folder"])(
    "has one lock for all paths to it, through a symbolic link to %s",
    async (what) => {
      const direct = open();
      const link = join(folder, "link");
      symlinkSync(what === "the file" ? file : dirname(file), link);
      const linked = openFileJournal(what === "the file" ? link : join(link, basename(file)), {
        lockWaitMs: 50,
      });
      opened.push(linked);
      await direct.exclusive(async () => {
        await expect(write(linked, "a")).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
      });
      await write(linked, "a");
      await write(direct, "b");
      expect([await ids(direct), await ids(linked)]).toEqual([
        ["a", "b"],
        ["a", "b"],
      ]);
      expect(readdirSync(dirname(file))).toEqual([basename(file)]);
    },
  );

  it("creates the file that a symbolic link names, with its lock next to it", async () => {
    const link = join(folder, "link");
    symlinkSync(join(folder, "target"), link);
    const linked = openFileJournal(link);
    opened.push(linked);
    await linked.exclusive(async () => expect(readdirSync(folder)).toContain("target.lock"));
  });

  it("signs nothing more when its symbolic link was pointed elsewhere", async () => {
    const link = join(folder, "link");
    symlinkSync(join(folder, "one"), link);
    const linked = openFileJournal(link);
    opened.push(linked);
    await write(linked, "a");
    writeFileSync(join(folder, "two"), "");
    unlinkSync(link);
    symlinkSync(join(folder, "two"), link);
    await expect(write(linked, "b")).rejects.toMatchObject({ code: "JOURNAL_INVALID" });
  });

  it("signs nothing through a file with two names, which would have two locks", async () => {
    const journal = open();
    await write(journal, "a");
    linkSync(file, join(folder, "second"));
    await expect(write(journal, "b")).rejects.toMatchObject({
      code: "JOURNAL_INVALID",
      message: expect.stringContaining("hard link"),
    });
    unlinkSync(join(folder, "second"));
    await write(journal, "b");
    expect(await ids(journal)).toEqual(["a", "b"]);
  });

  it("takes the lock of a dead process over, and waits for a living one", async () => {
    const journal = open({ lockWaitMs: 100 });
    await write(journal, "a");
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    await once(child, "spawn");
    const place = JSON.parse(await lockTextOf(journal)) as { place: string };
    const lock = JSON.stringify({ pid: child.pid, started: null, place: place.place, token: "t" });
    writeFileSync(`${file}.lock`, lock);
    await expect(write(journal, "b")).rejects.toMatchObject({
      code: "JOURNAL_UNAVAILABLE",
      charged: "no",
      message: expect.stringContaining(`process ${child.pid}`),
    });
    child.kill("SIGKILL");
    await once(child, "exit");
    await write(journal, "b");
    // A process that died while it removed the lock of a dead one.
    writeFileSync(`${file}.lock`, lock);
    writeFileSync(`${file}.lock.stale`, lock);
    await write(journal, "c");
    expect(await ids(journal)).toEqual(["a", "b", "c"]);
    expect(readdirSync(join(folder, "deep"))).toEqual(["payments.jsonl"]);
  });

  it.runIf(process.platform === "linux")(
    "takes the lock of a process over that ended and was not reaped",
    async () => {
      const journal = open({ lockWaitMs: 2_000 });
      const { place } = JSON.parse(await lockTextOf(journal)) as { place: string };
      const parent = spawn("sh", ["-c", "true & echo $!; exec sleep 60"]);
      const [pid] = await once(parent.stdout, "data");
      writeFileSync(`${file}.lock`, JSON.stringify({ pid: Number(pid), started: null, place, token: "t" }));
      await write(journal, "a");
      parent.kill("SIGKILL");
      expect(await ids(journal)).toEqual(["a"]);
    },
  );

  it("deletes what a process left that was killed while it took the lock", async () => {
    await write(open(), "a");
    const [old, fresh] = [`${file}.lock.4242.1`, `${file}.lock.4242.2`];
    for (const draft of [old, fresh]) writeFileSync(draft, "{}");
    utimesSync(old, 1, 1);
    open();
    expect(readdirSync(join(folder, "deep")).sort()).toEqual(["payments.jsonl", basename(fresh)]);
  });

  it("does not take the lock of a living process for that of an earlier one with its id", async () => {
    const journal = open({ lockWaitMs: 100 });
    const owner = JSON.parse(await lockTextOf(journal));
    writeFileSync(`${file}.lock`, JSON.stringify(owner));
    await expect(write(journal, "a")).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    // The same id, of a process that started at another time: it is gone.
    writeFileSync(`${file}.lock`, JSON.stringify({ ...owner, started: "another boot 1" }));
    await write(journal, "a");
    // The lock of another host: this machine cannot know whether its process runs.
    writeFileSync(`${file}.lock`, JSON.stringify({ ...owner, place: "elsewhere" }));
    await expect(write(journal, "b")).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    expect(await ids(journal)).toEqual(["a"]);
  });

  it("keeps every line of journals that write at once, one holder at a time", async () => {
    const journals = [open(), open(), open(), open()];
    let holders = 0;
    await Promise.all(
      Array.from({ length: 80 }, (_, index) =>
        journals[index % journals.length]?.exclusive(async (_book, append) => {
          holders += 1;
          expect(holders).toBe(1);
          await append(record(`r${index}`), { durable: index % 8 === 0 });
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 2));
          holders -= 1;
        }),
      ),
    );
    expect((await ids(open())).sort()).toEqual(Array.from({ length: 80 }, (_, index) => `r${index}`).sort());
  });
});

/** The text of a lock that this process holds. */
function lockTextOf(journal: FileJournal): Promise<string> {
  return journal.exclusive(async () => readFileSync(`${file}.lock`, "utf8"));
}
