// A `sextant` process that is killed without warning and started again, as a machine that fails would do it.
import { type ChildProcess, spawn } from "node:child_process";
import { bundleSextant } from "../../support/process/bundle-sextant.ts";

export type RestartedProcess = {
  /** The address at which it listens now; null while it is dead or starting. */
  readonly url: string | null;
  readonly kills: number;
  /** Its output and exit code for every time it ended by itself. */
  readonly crashes: readonly string[];
  /** kill -9, and a new process in its place; resolves once that listens. */
  kill(): Promise<void>;
  stop(): Promise<void>;
};

type RestartedProcessOptions = {
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** The output by which it says that it listens; the first group is its address. */
  readonly listens: RegExp;
};

// A busy machine compiles slowly; what has not started by then never will.
const START_MS_MAX = 120_000;
// Enough to see why a process ended; a warning for every injected fault must not fill the memory.
const SAID_MAX = 20_000;

type Life = {
  readonly child: ChildProcess;
  readonly ended: Promise<string>;
  readonly ready: Promise<string>;
};

export async function startRestartedProcess(options: RestartedProcessOptions): Promise<RestartedProcess> {
  const crashes: string[] = [];
  let url: string | null = null;
  let kills = 0;
  let life = begin();
  url = await life.ready;

  function begin(): Life {
    const { command, environment, cwd, listens } = options;
    const env = { PATH: process.env.PATH ?? "", HOME: cwd, HOST: "127.0.0.1", ...environment };
    const child = spawn(process.execPath, [bundleSextant(), command], { cwd, env });
    let said = "";
    let isWanted = true;
    const ended = new Promise<string>((resolve) => {
      child.on("close", (code, signal) => {
        if (isWanted) crashes.push(`${command} ended by itself (${code ?? signal}): ${said}`);
        resolve(said);
      });
    });
    const ready = new Promise<string>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${command} did not start: ${said}`)), START_MS_MAX);
      const hear = (chunk: Buffer) => {
        said = (said + chunk.toString()).slice(-SAID_MAX);
        const address = listens.exec(said)?.[1];
        if (address === undefined) return;
        clearTimeout(late);
        resolve(address);
      };
      child.stdout.on("data", hear);
      child.stderr.on("data", hear);
      ended.then(() => {
        clearTimeout(late);
        reject(new Error(`${command} ended before it listened: ${said}`));
      });
    });
    ready.catch(() => undefined);
    const kill = child.kill.bind(child);
    child.kill = (signal) => {
      isWanted = false;
      return kill(signal);
    };
    return { child, ended, ready };
  }

  return {
    get url() {
      return url;
    },
    get kills() {
      return kills;
    },
    crashes,
    async kill() {
      url = null;
      kills += 1;
      life.child.kill("SIGKILL");
      await life.ended;
      life = begin();
      url = await life.ready;
    },
    async stop() {
      url = null;
      life.child.kill("SIGKILL");
      await life.ended;
    },
  };
}
