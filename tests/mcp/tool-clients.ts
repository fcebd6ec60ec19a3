// MCP clients of the old and of the new protocol, as others wrote them, behind one small interface.
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

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
  tools(): Promise<readonly ListedTool[]>;
  call(name: string, args: Record<string, unknown>, meta?: Record<string, unknown>): Promise<ToolResult>;
  close(): Promise<void>;
};

const info = { name: "test", version: "1" };

async function connectLegacy(url: string): Promise<ToolClient> {
  const client = new LegacyClient(info);
  const transport = new LegacyTransport(new URL(url));
  // The class differs from the interface in how it marks optional members.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return {
    protocol: transport.protocolVersion,
    tools: async () => (await client.listTools()).tools as readonly ListedTool[],
    call: async (name, args, meta) =>
      (await client.callTool({
        name,
        arguments: args,
        ...(meta && { _meta: meta }),
      })) as unknown as ToolResult,
    close: () => client.close(),
  };
}

async function connectModern(url: string): Promise<ToolClient> {
  const client = new ModernClient(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(new ModernTransport(new URL(url)));
  return {
    protocol: client.getNegotiatedProtocolVersion(),
    tools: async () => (await client.listTools()).tools as readonly ListedTool[],
    call: async (name, args, meta) =>
      (await client.callTool({
        name,
        arguments: args,
        ...(meta && { _meta: meta }),
      })) as unknown as ToolResult,
    close: () => client.close(),
  };
}

/** By the year of the protocol. */
export const TOOL_CLIENTS: readonly [year: string, connect: (url: string) => Promise<ToolClient>][] = [
  ["2025", connectLegacy],
  ["2026", connectModern],
];
