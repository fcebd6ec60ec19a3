// Generated texts are current: the measured figures of the documents, and the example programs.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { CAPACITY_PAGE, renewCapacityPage } from "../../scripts/capacity-docs/section.ts";
import { renderExampleFiles } from "../../scripts/example-docs/example-files.ts";
import { CLIENT_PACKAGES, renderInstallLine } from "../../src/web/client-example.ts";

it("shows the newest results in docs/operations.md; otherwise run `npm run docs:capacity`", () => {
  expect(readFileSync(CAPACITY_PAGE, "utf8")).toBe(renewCapacityPage());
});

it("has the examples that the code renders; otherwise run `npm run docs:examples`", () => {
  for (const [path, text] of Object.entries(renderExampleFiles())) {
    expect(readFileSync(path, "utf8"), path).toBe(text);
  }
});

it("installs what the examples import, in the versions that are tested", () => {
  const read = (path: string) => JSON.parse(readFileSync(path, "utf8"));
  const [own, examples] = [read("package.json"), read("examples/package.json")];
  const tested = { ...own.devDependencies, ...own.dependencies };
  const needed = { ...examples.devDependencies, ...examples.dependencies };
  expect(tested).toMatchObject(needed);
  expect(needed).toMatchObject(CLIENT_PACKAGES);
  // README copies the manifest of the examples.
  expect(readFileSync("README.md", "utf8")).toContain("\nmkdir ../quickstart && cp examples/package.json ");
  const [line] = /^npm install .*$/m.exec(readFileSync("docs/client.md", "utf8")) ?? [""];
  for (const shown of [renderInstallLine(), line]) {
    for (const each of shown.replace(/^npm install (\.\/\S+ )?/, "").split(" ")) {
      const at = each.lastIndexOf("@");
      expect(tested[each.slice(0, at)], shown).toBe(each.slice(at + 1));
    }
  }
});
