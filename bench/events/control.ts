// A control port of a child: the parent asks for one step after the other.
import { createServer } from "node:http";
import { constants, setPriority } from "node:os";
import { closeServer, listenOnLoopback } from "../harness/loopback.ts";
import { sendToParent } from "../harness/progress.ts";

export type ControlReady = { readonly control: string };

/**
 * Serves steps by name until the parent lets go of the standard input; `ready` goes to the parent alongside the
 * address. Every child also has the step `background`: from then on it takes only the processor time that others leave.
 */
export async function serveSteps(
  steps: Readonly<Record<string, (numbers: Readonly<Record<string, number>>) => unknown>>,
  ready: object,
  close: () => Promise<void>,
): Promise<void> {
  const all = { ...steps, background: () => setPriority(constants.priority.PRIORITY_LOW) };
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    const step: (typeof steps)[string] | undefined = all[pathname.slice(1) as keyof typeof all];
    const numbers = Object.fromEntries([...searchParams].map(([name, text]) => [name, Number(text)]));
    try {
      response.end(JSON.stringify((await step?.(numbers)) ?? null));
    } catch (error) {
      response.writeHead(500).end(error instanceof Error ? error.stack : String(error));
    }
  });
  // A step takes as long as it takes.
  server.requestTimeout = 0;
  const message: ControlReady = { ...ready, control: await listenOnLoopback(server) };
  sendToParent(message);
  process.stdin.on("end", async () => {
    await close();
    await closeServer(server);
  });
  process.stdin.resume();
}

export async function runStep<T>(
  control: string,
  name: string,
  numbers: Readonly<Record<string, number>> = {},
): Promise<T> {
  const texts = Object.entries(numbers).map(([key, value]) => [key, String(value)] as const);
  const query = new URLSearchParams(Object.fromEntries(texts));
  const response = await fetch(`${control}/${name}?${query}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`${name} failed: ${text}`);
  return JSON.parse(text) as T;
}
