// Renders the list of tools that `sextant mcp` shows before it has loaded the routes behind them.
import { describeApiTools } from "../../src/api/tools.ts";
import type { ListedTool } from "../../src/mcp/listed-tool.ts";
import { describePaidTools } from "../../src/portfolio/http/tools.ts";

// The command adds it to each paid tool: only its settings say who pays.
const NO_PRICE = { sentence: "", details: "", terms: {}, isPaidByCaller: true };

export function renderToolList(): string {
  return `// The tools as their list shows them, without what only calls need. Written by \`npm run client:actions\`; do not edit.
import type { ListedTool } from "../../mcp/listed-tool.ts";

${renderTools("API_TOOLS", describeApiTools())}
/** Without their price. */
${renderTools("PAID_TOOLS", describePaidTools(NO_PRICE))}`;
}

function renderTools(name: string, tools: readonly ListedTool[]): string {
  const lines = tools.map(
    ({ name, title, description, listedSchema, isReadOnly }) =>
      `  ${JSON.stringify({ name, title, description, listedSchema, isReadOnly })},\n`,
  );
  return `export const ${name}: readonly ListedTool[] = [\n${lines.join("")}];\n`;
}
