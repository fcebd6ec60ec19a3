// `sextant mcp`: the tools of both services over standard input and output, for an agent on this machine.
import type { Readable, Writable } from "node:stream";
import type { McpServerFactory } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { API_INSTRUCTIONS, API_PROMPTS } from "../../api/tool-guide.ts";
import type { Environment } from "../../config/read-config.ts";
import { readVersion } from "../../config/version.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import { START_LOCAL } from "../../lib/program.ts";
import { waitForAbort } from "../../lib/shutdown.ts";
import { addPrice } from "../../mcp/listed-tool.ts";
import { createServerFactory, type McpServerOptions, type ToolCalls } from "../../mcp/server.ts";
import type { ToolArguments } from "../../mcp/tool-declaration.ts";
import { PORTFOLIO_INSTRUCTIONS, PORTFOLIO_PROMPTS } from "../../portfolio/http/tool-guide.ts";
import { type ClientConfig, readClientConfig } from "../client-config.ts";
import type { RunCommand } from "../command.ts";
import { API_TOOLS, PAID_TOOLS } from "../generated/tool-list.ts";
import type { OpenToolCalls } from "../tool-calls.ts";
import { describeToolPrice } from "../tool-price.ts";

// Far above any call; without a limit a message without end fills the memory.
const MESSAGE_BYTES_MAX = 1024 * 1024;

export const mcpCommand: RunCommand = async ({ environment, log, stop }) => {
  const config = readClientConfig(environment);
  const calls = new DeferredCalls(config, environment);
  try {
    const { urls, guard, payerKey } = config;
    const factory = createToolServerFactory({ urls, guard, isPayer: payerKey !== null }, calls);
    const onResponse = () => void calls.preload();
    await serveStreams(factory, { input: process.stdin, output: process.stdout, log, stop, onResponse });
  } finally {
    await calls.close();
  }
  return 0;
};

const loadToolCalls = () => import("../tool-calls.ts");

/** Opens client and journal with the first call: an agent that starts waits for the list of tools, which needs neither. */
export class DeferredCalls implements OpenToolCalls {
  readonly #open: () => Promise<OpenToolCalls>;
  #opened: Promise<OpenToolCalls> | null = null;

  constructor(config: ClientConfig, environment: Environment) {
    this.#open = async () => (await loadToolCalls()).openToolCalls(config, environment);
  }

  /** Loads the modules while the agent still reads the list of tools; opens nothing. A call reports a failure. */
  async preload(): Promise<void> {
    await loadToolCalls().catch(() => undefined);
  }

  async call(...given: Parameters<ToolCalls["call"]>) {
    return (await this.#load()).call(...given);
  }

  async describe(args: ToolArguments) {
    return (await this.#load()).describe(args);
  }

  async close(): Promise<void> {
    // A client that could not be opened has nothing to close; its call has reported why.
    await this.#opened?.then(
      ({ close }) => close(),
      () => undefined,
    );
  }

  #load(): Promise<OpenToolCalls> {
    if (this.#opened === null) {
      const opening = this.#open();
      this.#opened = opening;
      // The next call tries again, such as after a journal was made readable.
      opening.catch(() => {
        this.#opened = null;
      });
    }
    return this.#opened;
  }
}

type Streams = {
  readonly input: Readable;
  readonly output: Writable;
  readonly log: Log;
  readonly stop: AbortSignal;
  /** Called once, a moment after the first response. */
  readonly onResponse?: () => void;
};

// An agent asks for the list of tools right after the first response: work before that response would delay it.
const RESPONSE_PAUSE_MS = 100;

/** Serves one agent, until its input ends or `stop` aborts. */
export async function serveStreams(
  factory: McpServerFactory,
  { input, output, log, stop, onResponse = () => undefined }: Streams,
): Promise<void> {
  const transport = new WatchedTransport(input, output, { maxBufferSize: MESSAGE_BYTES_MAX });
  transport.responded.addEventListener("abort", () => {
    const timer = setTimeout(onResponse, RESPONSE_PAUSE_MS);
    transport.closed.addEventListener("abort", () => clearTimeout(timer));
  });
  const server = serveStdio(factory, {
    transport,
    maxSubscriptions: 0,
    onerror: (err) => log.warn({ component: "cli", event: "mcp_failed", err }, "MCP message failed"),
  });
  await waitForAbort(AbortSignal.any([stop, transport.closed]));
  await server.close();
}

/**
 * Says when it has responded for the first time, and when it has closed: the agent has gone, or sent a message without
 * end. Open payments stay in the journal.
 */
class WatchedTransport extends StdioServerTransport {
  readonly #responding = new AbortController();
  readonly #closing = new AbortController();
  readonly responded = this.#responding.signal;
  readonly closed = this.#closing.signal;

  override async send(...given: Parameters<StdioServerTransport["send"]>): Promise<void> {
    await super.send(...given);
    this.#responding.abort();
  }

  override async close(): Promise<void> {
    await super.close();
    this.#closing.abort();
  }
}

type ListSettings = Pick<ClientConfig, "urls" | "guard"> & { readonly isPayer: boolean };

/** The tools of the services that are configured. */
export function createToolServerFactory(
  { urls, guard, isPayer }: ListSettings,
  calls: ToolCalls,
): McpServerFactory {
  const price = describeToolPrice(isPayer, guard);
  const services: readonly Pick<McpServerOptions, "tools" | "prompts" | "instructions">[] = [
    ...(urls.api === null
      ? []
      : [{ tools: API_TOOLS, prompts: API_PROMPTS, instructions: API_INSTRUCTIONS }]),
    ...(urls.portfolio === null
      ? []
      : [
          {
            tools: PAID_TOOLS.map((tool) => addPrice(tool, price)),
            prompts: PORTFOLIO_PROMPTS,
            instructions: PORTFOLIO_INSTRUCTIONS,
          },
        ]),
  ];
  if (services.length === 0) {
    throw new Fault(
      "CONFIG_INVALID",
      `There is no local run: start one with ${START_LOCAL}, or set SEXTANT_API_URL and SEXTANT_PORTFOLIO_URL.`,
    );
  }
  return createServerFactory({
    name: "sextant",
    version: readVersion(),
    instructions: services.map(({ instructions }) => instructions).join(" "),
    tools: services.flatMap(({ tools }) => tools),
    prompts: services.flatMap(({ prompts }) => prompts),
    createCalls: () => calls,
  });
}
