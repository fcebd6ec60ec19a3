// The command run in this process instead of one of its own: the same front door, many times as quick to open.
import { EventEmitter } from "node:events";
import { main } from "../../../src/cli/main.ts";

export type CommandResult = { readonly code: number; readonly out: string; readonly err: string };

/** For commands that end by themselves. It reads the environment it is given and no .env file but that of this folder. */
export async function runSextantInProcess(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const written = { out: "", err: "" };
  const stream = (name: keyof typeof written) => ({
    isTTY: false,
    write: (text: string) => {
      written[name] += text;
      return true;
    },
  });
  const host = Object.assign(new EventEmitter(), {
    argv: ["node", "sextant", ...args],
    env: environment,
    stdout: stream("out"),
    stderr: stream("err"),
    exitCode: 0,
    exit: () => undefined,
  });
  await main(host as unknown as NodeJS.Process);
  return { code: host.exitCode, ...written };
}
