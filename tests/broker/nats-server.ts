// A NATS server with JetStream as a process of its own, on a port that the system chose.
import { spawn } from "node:child_process";
import { delimiter } from "node:path";
import { findProgram } from "../support/find-program.ts";

type NatsServer = {
  readonly url: string;
  readonly port: number;
  /** Without a chance to write anything down. */
  kill(): Promise<void>;
};

/** Debian installs it in a folder that only the PATH of administrators has. */
export function findNatsServer(path: string): string | null {
  return findProgram([path, "/usr/sbin"].join(delimiter), ["nats-server"]);
}

export async function startNatsServer(options: {
  /** Null for a server without JetStream. */
  readonly folder: string | null;
  /** The port of an earlier server; -1 lets the system choose. */
  readonly port?: number;
}): Promise<NatsServer> {
  const { folder, port = -1 } = options;
  const file = findNatsServer(process.env.PATH ?? "");
  if (file === null) throw new Error("there is no nats-server on the path");
  const store = folder === null ? [] : ["--jetstream", "--store_dir", folder];
  const child = spawn(file, ["--addr", "127.0.0.1", "--port", String(port), ...store], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let said = "";
  const listening = await new Promise<number>((resolve, reject) => {
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const [, found] = /client connections on 127\.0\.0\.1:(\d+)/.exec(said) ?? [];
      if (found !== undefined && /Server is ready/.test(said)) resolve(Number(found));
    });
    ended.then(() => reject(new Error(`nats-server ended: ${said}`)));
  });
  return {
    url: `nats://127.0.0.1:${listening}`,
    port: listening,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
