// README and docs/client.md show the quickstart as it is; tests/packages/packages.integration.test.ts runs it with the package.
import { readFileSync } from "node:fs";
import { namedAccounts } from "@sextant/local-chain/accounts";
import { expect, it } from "vitest";
import { LOCAL_TERMS } from "../../scripts/example-docs/example-files.ts";

const FILE = readFileSync("examples/quickstart.ts", "utf8");
const PROGRAM = FILE.slice(FILE.indexOf("\n") + 1);

it.each(["README.md", "docs/client.md"])("%s shows the program of examples/quickstart.ts", (page) => {
  expect(readFileSync(page, "utf8")).toContain(`\`\`\`ts\n${PROGRAM}\`\`\``);
});

it("keeps the quickstart within fourteen lines, for a local run's token and wallet", () => {
  expect(PROGRAM.trim().split("\n").filter(Boolean).length).toBeLessThanOrEqual(14);
  const { payer } = namedAccounts();
  for (const text of [LOCAL_TERMS.network, LOCAL_TERMS.asset, payer.address]) expect(PROGRAM).toContain(text);
});
