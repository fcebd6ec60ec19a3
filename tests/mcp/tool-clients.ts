// MCP clients of the old and of the new protocol, as others wrote them, behind one small interface.
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttpTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdioTransport } from "@modelcontextprotocol/client/stdio";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as LegacyStdioTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as LegacyHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { InMemoryTransport } from "@modelcontextprotocol/server";
import { bundleSextant } from "../support/process/bundle-sextant.ts";

export type ToolResult = {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent: Readonly<Record<string, unknown>>;
  readonly _meta?: Readonly<Record<string, unknown>>;
};

type ListedTool = {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: { readonly properties?: Readonly<Record<string, unknown>> };
  readonly outputSchema?: unknown;
  readonly annotations?: unknown;
  readonly _meta?: unknown;
};

export type ToolClient = {
  /** The revision of the protocol that client and server agreed on. */
  readonly protocol: string | undefined;
  readonly instructions: string | undefined;
  tools(): Promise<readonly ListedTool[]>;
  prompts(): Promise<readonly { readonly name: string }[]>;
  /** The text of a prompt with its arguments filled in. */
  prompt(name: string, args: Record<string, string>): Promise<string>;
  call(name: string, args: Record<string, unknown>, meta?: Record<string, unknown>): Promise<ToolResult>;
  close(): Promise<void>;
};

/** The URL of a server, a connection to one in this process, or the environment of a `sextant mcp` to start. */
export type ToolServer =
  | string
  | { readonly connection: InMemoryTransport }
  | { readonly environment: Readonly<Record<string, string>> };

type ClientOptions = {
  /** The capabilities that the client declares beyond the protocol. */
  readonly extensions?: Record<string, Record<string, never>>;
  readonly fetch?: typeof fetch;
};

const info = { name: "test", version: "1" };

function commandFor(environment: Readonly<Record<string, string>>) {
  const env = { PATH: process.env.PATH ?? "", ...environment };
  return { command: process.execPath, args: [bundleSextant(), "mcp"], env, stderr: "ignore" as const };
}

type LegacyTransport = Parameters<LegacyClient["connect"]>[0];

// The classes differ from the interface in how they mark optional members.
function openLegacyTransport(server: ToolServer): LegacyTransport {
  if (typeof server === "string") return new LegacyHttpTransport(new URL(server)) as LegacyTransport;
  if ("environment" in server) return new LegacyStdioTransport(commandFor(server.environment));
  return server.connection as unknown as LegacyTransport;
}

async function connectLegacy(server: ToolServer): Promise<ToolClient> {
  const client = new LegacyClient(info);
  const transport = openLegacyTransport(server);
  const tell = transport.setProtocolVersion?.bind(transport);
  let protocol: string | undefined;
  transport.setProtocolVersion = (version) => {
    protocol = version;
    tell?.(version);
  };
  await client.connect(transport);
  return { protocol, instructions: client.getInstructions(), ...actionsOf(client) };
}

function openModernTransport(server: ToolServer, fetch: ClientOptions["fetch"]) {
  if (typeof server === "string") return new ModernHttpTransport(new URL(server), fetch && { fetch });
  return "environment" in server
    ? new ModernStdioTransport(commandFor(server.environment))
    : server.connection;
}

async function connectModern(server: ToolServer, options: ClientOptions = {}): Promise<ToolClient> {
  const { extensions, fetch } = options;
  const client = new ModernClient(info, {
    versionNegotiation: { mode: { pin: "2026-07-28" } },
    ...(extensions && { capabilities: { extensions } }),
  });
  await client.connect(openModernTransport(server, fetch));
  const protocol = client.getNegotiatedProtocolVersion();
  return { protocol, instructions: client.getInstructions(), ...actionsOf(client) };
}

/** The methods of both classes, which share no type. */
type CommonClient = {
  listTools(): Promise<{ tools: unknown }>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  getPrompt(request: { name: string; arguments: Record<string, string> }): Promise<{ messages: unknown[] }>;
  callTool(request: {
    name: string;
    arguments: Record<string, unknown>;
    _meta?: Record<string, unknown>;
  }): Promise<unknown>;
  close(): Promise<void>;
};

function actionsOf(
  client: CommonClient,
): Pick<ToolClient, "tools" | "prompts" | "prompt" | "call" | "close"> {
  return {
    tools: async () => (await client.listTools()).tools as readonly ListedTool[],
    prompts: async () => (await client.listPrompts()).prompts,
    prompt: async (name, args) => {
      const [message] = (await client.getPrompt({ name, arguments: args })).messages;
      return (message as { readonly content: { readonly text: string } }).content.text;
    },
    call: async (name, args, meta) =>
      (await client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) })) as ToolResult,
    close: () => client.close(),
  };
}

type Connect = (server: ToolServer, options?: ClientOptions) => Promise<ToolClient>;

/** Clients by the year of their protocol. */
export const TOOL_CLIENTS: readonly [year: "2025" | "2026", connect: Connect][] = [
  ["2025", connectLegacy],
  ["2026", connectModern],
];
