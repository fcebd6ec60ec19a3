// The messages of a client and of a broken program to `sextant mcp`, and the only two lines that may come back.
import { expect } from "vitest";

const initialize = {
  ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};
const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "nothing", arguments: {} } };
const junk = ["no message", "[]", '{"jsonrpc":"1"}', ""];

export const MESSAGES_AND_JUNK = [JSON.stringify(initialize), ...junk, JSON.stringify(call), ""].join("\n");

/** Only the responses to both messages, each on a line. */
export function expectMessagesOnly(out: string): void {
  const messages = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(messages.map(({ jsonrpc, id }) => [jsonrpc, id])).toEqual([
    ["2.0", 1],
    ["2.0", 2],
  ]);
}
