// Supervises one `sextant` process: starts it, ends it by a signal, starts it again; an unexpected exit is a violation.
import { type ChildProcess, spawn } from "node:child_process";
import { bundleSextant } from "../../support/process/bundle-sextant.ts";
import type { Observations } from "../observations.ts";
import type { Outages } from "../outages.ts";

export type ManagedProcess = {
  readonly name: string;
  readonly running: boolean;
  /** Its URL now, or the last one. */
  readonly url: string;
  /** The last things it said. */
  readonly output: string;
  /** Resolves once it listens; the outage of its absence is over then. */
  start(): Promise<void>;
  /** Resolves with its exit code, null when killed. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>;
  /** Suspends the process; the returned function resumes it. Null if none is running. */
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

const LISTENS = /"event":"[a-z]+_listening","url":"(http:\/\/127\.0\.0\.1:\d+)"/;
// Enough to see why it ended.
const OUTPUT_LENGTH_MAX = 20_000;
// A busy machine starts seven of them at once.
const START_MS_MAX = 90_000;
// An orchestrator retries; more often than this means that the process cannot start at all.
const STARTS_MAX = 20;
const START_AGAIN_MS = 500;

export function createManagedProcess(options: ManagedProcessOptions): ManagedProcess {
  return new SupervisedProcess(options);
}

class SupervisedProcess implements ManagedProcess {
  readonly name: string;
  readonly #options: ManagedProcessOptions;
  #child: ChildProcess | null = null;
  #url = "";
  #output = "";
  #endOutage: () => void;

  constructor(options: ManagedProcessOptions) {
    this.name = options.name;
    this.#options = options;
    this.#endOutage = options.outages.begin(options.name);
  }

  get running(): boolean {
    return this.#child !== null && this.#url !== "";
  }

  get url(): string {
    return this.#url;
  }

  get output(): string {
    return this.#output;
  }

  async start(): Promise<void> {
    const { name, observations, outages } = this.#options;
    for (let starts = 1; ; starts += 1) {
      const fromMs = Date.now();
      if (await this.#launch()) break;
      // A process cannot start without its database; an orchestrator restarts it.
      const excused = outages.overlaps("database", fromMs, Date.now());
      if (!excused) observations.recordViolation(`${name} could not start: ${this.#output.slice(-1_500)}`);
      if (!excused || starts === STARTS_MAX) throw new Error(`${name} cannot be started: ${this.#output}`);
      observations.count("failed starts");
      await new Promise((resolve) => setTimeout(resolve, START_AGAIN_MS));
    }
    this.#endOutage();
  }

  async end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null> {
    const ending = this.#child;
    if (ending === null) return null;
    this.#endOutage = this.#options.outages.begin(this.name);
    this.#child = null;
    const ended = new Promise<number | null>((resolve) => ending.once("close", resolve));
    ending.kill(signal);
    return ended;
  }

  freeze(): (() => void) | undefined {
    const frozen = this.#child;
    if (!frozen?.kill("SIGSTOP")) return undefined;
    return () => frozen.kill("SIGCONT");
  }

  /** True once it listens, false when it ended instead. */
  #launch(): Promise<boolean> {
    const started = spawnSextant(this.#options);
    this.#child = started;
    this.#output = "";
    this.#url = "";
    return new Promise((resolve, reject) => {
      const late = setTimeout(
        () =>
          reject(new Error(`${this.name} did not listen within ${START_MS_MAX / 1_000} s: ${this.#output}`)),
        START_MS_MAX,
      );
      const settle = (listens: boolean) => {
        clearTimeout(late);
        resolve(listens);
      };
      const onOutput = (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString("utf8")).slice(-OUTPUT_LENGTH_MAX);
        const [, found] = LISTENS.exec(this.#output) ?? [];
        if (found === undefined || this.#url === found) return;
        this.#url = found;
        settle(true);
      };
      started.stdout?.on("data", onOutput);
      started.stderr?.on("data", onOutput);
      started.once("close", (code, signal) => {
        this.#recordExit(started, signal ?? code);
        settle(false);
      });
    });
  }

  /** An intended end has cleared the slot before. */
  #recordExit(ended: ChildProcess, reason: string | number | null): void {
    if (this.#child !== ended) return;
    this.#child = null;
    if (this.#url === "") return;
    const { name, observations, outages } = this.#options;
    observations.recordViolation(`${name} ended by itself with ${reason}: ${this.#output.slice(-1_500)}`);
    this.#endOutage = outages.begin(name);
  }
}

function spawnSextant({ command, environment, folder }: ManagedProcessOptions): ChildProcess {
  return spawn(process.execPath, [bundleSextant(), command], {
    cwd: folder,
    // Nothing of the surroundings may leak in, but for what a process needs to run at all.
    env: { PATH: process.env.PATH ?? "", HOME: folder, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
}
