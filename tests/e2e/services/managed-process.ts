// Supervises one `sextant` process: starts it, ends it by a signal, starts it again; an unexpected exit is a violation.
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Observations } from "../observations.ts";
import type { Outages } from "../outages.ts";

export type ManagedProcess = {
  readonly name: string;
  readonly running: boolean;
  /** Where it listens now, or listened last. */
  readonly url: string;
  /** The last things it said. */
  readonly output: string;
  /** Resolves once it listens; the outage of its absence is over then. */
  start(): Promise<void>;
  /** Resolves with its exit code, null when killed. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>;
  /** Suspends the process; the returned function resumes it. Null where none is running. */
  freeze(): (() => void) | undefined;
};

export type ManagedProcessOptions = {
  readonly name: string;
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly observations: Observations;
  readonly outages: Outages;
};

const BIN = fileURLToPath(new URL("../../../bin/sextant.mjs", import.meta.url));
const LISTENS = /"event":"[a-z]+_listening","url":"(http:\/\/127\.0\.0\.1:\d+)"/;
// Enough to see why it ended.
const SAID_MAX = 20_000;
// A busy machine starts seven of them at once.
const START_MS_MAX = 90_000;
// An orchestrator retries; more often than this means that the process cannot start at all.
const STARTS_MAX = 20;
const START_AGAIN_MS = 500;

export function createManagedProcess(options: ManagedProcessOptions): ManagedProcess {
  const { name, observations, outages } = options;
  let child: ChildProcess | null = null;
  let url = "";
  let said = "";
  let endOutage = outages.begin(name);

  /** True once it listens, false when it ended instead. */
  function launch(): Promise<boolean> {
    const started = spawnSextant(options);
    child = started;
    said = "";
    return new Promise((resolve, reject) => {
      const late = setTimeout(
        () => reject(new Error(`${name} did not listen within ${START_MS_MAX / 1_000} s: ${said}`)),
        START_MS_MAX,
      );
      const settle = (listens: boolean) => {
        clearTimeout(late);
        resolve(listens);
      };
      const hear = (chunk: Buffer) => {
        said = (said + chunk.toString("utf8")).slice(-SAID_MAX);
        const [, found] = LISTENS.exec(said) ?? [];
        if (found === undefined || url === found) return;
        url = found;
        settle(true);
      };
      url = "";
      started.stdout?.on("data", hear);
      started.stderr?.on("data", hear);
      started.once("close", (code, signal) => {
        // An intended end has cleared the slot before.
        if (child === started && url !== "") {
          observations.recordViolation(
            `${name} ended by itself with ${signal ?? code}: ${said.slice(-1_500)}`,
          );
          endOutage = outages.begin(name);
        }
        if (child === started) child = null;
        settle(false);
      });
    });
  }

  return {
    name,
    get running() {
      return child !== null && url !== "";
    },
    get url() {
      return url;
    },
    get output() {
      return said;
    },
    async start() {
      for (let starts = 1; ; starts += 1) {
        const fromMs = Date.now();
        if (await launch()) break;
        // A process cannot start without its database; an orchestrator restarts it.
        const excused = outages.overlaps("database", fromMs, Date.now());
        if (!excused) observations.recordViolation(`${name} could not start: ${said.slice(-1_500)}`);
        if (!excused || starts === STARTS_MAX) throw new Error(`${name} cannot be started: ${said}`);
        observations.count("failed starts");
        await new Promise((resolve) => setTimeout(resolve, START_AGAIN_MS));
      }
      endOutage();
    },
    async end(signal) {
      const ending = child;
      if (ending === null) return null;
      endOutage = outages.begin(name);
      child = null;
      const ended = new Promise<number | null>((resolve) => ending.once("close", resolve));
      ending.kill(signal);
      return ended;
    },
    freeze() {
      const frozen = child;
      if (!frozen?.kill("SIGSTOP")) return undefined;
      return () => frozen.kill("SIGCONT");
    },
  };
}

function spawnSextant({ command, environment, folder }: ManagedProcessOptions): ChildProcess {
  return spawn(process.execPath, [BIN, command], {
    cwd: folder,
    // Nothing of the surroundings may leak in, but for what a process needs to run at all.
    env: { PATH: process.env.PATH ?? "", HOME: folder, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
}
