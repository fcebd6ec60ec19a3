// Each rule finds what is planted against it; `npm run check`, a part of `npm test`, applies them to this repository.
import { describe, expect, it } from "vitest";
import { checkRepository } from "./check-repository.ts";
import { repositoryFrom } from "./repository.ts";

const cli = { "bin/sextant.mjs": '// Starts.\nimport "../src/cli/main.ts";\n' };

/** Violations found in a small repository that is otherwise in order. */
function violations(texts: Record<string, string>): string[] {
  const base = { "package.json": '{"scripts":{"start":"tsx src/cli/main.ts"}}', ...cli };
  return checkRepository(repositoryFrom({ ...base, ...texts }));
}

const commandUsing = (...paths: string[]) => ({
  "src/cli/main.ts": `// The command.\n${paths.map((path) => `import "${path}";`).join("\n")}\n`,
});

describe("planted", () => {
  it("accepts a small repository in order", () => {
    expect(
      violations({
        ...commandUsing("../store/a.ts"),
        "src/store/a.ts": '// A.\nimport "../lib/b.ts";\n',
        "src/lib/b.ts": "// B.\n",
      }),
    ).toEqual([]);
  });

  it("an import against the graph", () => {
    expect(
      violations({
        ...commandUsing("../lib/a.ts"),
        "src/lib/a.ts": '// A.\nimport { b } from "../store/b.ts";\n',
        "src/store/b.ts": "// B.\n",
      }),
    ).toEqual([
      "src/lib/a.ts:2 src/lib must not import src/store (src/store/b.ts); it may import nothing [importGraph]",
    ]);
  });

  it("an import against the graph, also of a type and also by import()", () => {
    const found = violations({
      ...commandUsing("../protocol/a.ts"),
      "src/protocol/a.ts": '// A.\nimport type { B } from "../store/b.ts";\nawait import("../http/c.ts");\n',
      "src/store/b.ts": "// B.\n",
      "src/http/c.ts": "// C.\n",
    });
    expect(found.map((line) => line.split(" ")[0])).toEqual(["src/protocol/a.ts:2", "src/protocol/a.ts:3"]);
  });

  it("a folder that the graph does not declare", () => {
    expect(
      violations({
        ...commandUsing("../utils/a.ts"),
        "src/utils/a.ts": '// A.\nimport "../lib/b.ts";\n',
        "src/lib/b.ts": "// B.\n",
      }),
    ).toEqual([
      "src/utils/a.ts:2 src/utils is not in the import graph; declare it in tests/architecture/rules/import-graph.ts [importGraph]",
    ]);
  });

  it("product code that imports tests, and contracts that import the product", () => {
    const found = violations({
      ...commandUsing("../lib/a.ts"),
      "src/lib/a.ts": '// A.\nimport "../../tests/b.ts";\nimport "@sextant/contracts/deploy/c";\n',
      "tests/b.ts": "// B.\n",
      "contracts/deploy/c.ts": '// C.\nimport "../../src/lib/d.ts";\n',
      "src/lib/d.ts": "// D.\n",
    });
    expect(found.filter((line) => line.endsWith("[importGraph]"))).toHaveLength(3);
  });

  it("a word of the private language, in a text and inside a name", () => {
    const found = violations({
      ...commandUsing("../lib/a.ts"),
      "src/lib/a.ts": "// Whoever asks.\nexport const sendAnswer = 1;\n",
    });
    expect(found.map((line) => line.split(";")[0])).toEqual([
      'src/lib/a.ts:1 says "whoever"',
      'src/lib/a.ts:2 says "answer"',
    ]);
  });

  it("a cycle", () => {
    const found = violations({
      ...commandUsing("../lib/a.ts"),
      "src/lib/a.ts": '// A.\nimport "./b.ts";\n',
      "src/lib/b.ts": '// B.\nimport type { A } from "./a.ts";\n',
    });
    expect(found).toEqual([
      "src/lib/a.ts:1 imports itself: src/lib/a.ts → src/lib/b.ts → src/lib/a.ts [cycles]",
    ]);
  });

  it("an ABI function of viem outside the codec", () => {
    const found = violations({
      ...commandUsing("../lib/a.ts", "../lib/abi/codec.ts", "../lib/b.ts"),
      "src/lib/a.ts":
        '// A.\nimport {\n  type Abi,\n  keccak256,\n  encodeFunctionData as encode,\n} from "viem";\nexport { parseAbi } from "viem/utils";\n',
      "src/lib/b.ts":
        '// B.\nimport * as all from "viem";\nimport type * as types from "viem";\nawait import("viem");\n',
      "src/lib/abi/codec.ts": '// C.\nimport { decodeAbiParameters } from "viem";\n',
      "src/lib/a.test.ts": '// T.\nimport { toFunctionSelector } from "viem";\n',
    });
    const message = (what: string) => `imports ${what} of viem; use the codec in src/lib/abi [abiFunctions]`;
    expect(found).toEqual([
      `src/lib/a.ts:5 ${message("encodeFunctionData")}`,
      `src/lib/a.ts:7 ${message("parseAbi")}`,
      `src/lib/b.ts:2 ${message("everything")}`,
      `src/lib/b.ts:4 ${message("everything")}`,
    ]);
  });

  it("a read of the environment outside cli and config", () => {
    expect(
      violations({
        ...commandUsing("../lib/a.ts"),
        "src/lib/a.ts": "// A.\nexport const a = process.env.HOME;\n",
      }),
    ).toEqual(["src/lib/a.ts:2 reads the environment; only src/cli and src/config may [environmentReads]"]);
  });

  it("a variable that is not documented, and one that is documented but not read", () => {
    const found = violations({
      ...commandUsing("../config/settings.ts"),
      "src/config/settings.ts": '// S.\nexport const a = setting("API_PORT", port, 1, "x");\n',
      ".env.example": "# GONE=1\n",
      "docs/configuration.md": "nothing here\n",
    });
    expect(found).toEqual([
      "src/config/settings.ts:2 API_PORT is not described in .env.example [environmentVariables]",
      "src/config/settings.ts:2 API_PORT is not described in docs/configuration.md [environmentVariables]",
      ".env.example:1 GONE is read nowhere [environmentVariables]",
    ]);
  });

  it("a file without a purpose, and one that nothing runs", () => {
    expect(violations({ ...commandUsing("../lib/a.ts"), "src/lib/a.ts": "export const a = 1;\n" })).toEqual([
      "src/lib/a.ts:1 does not open with a sentence that says what it is for [purpose]",
    ]);
    expect(
      violations({
        ...commandUsing(),
        "src/lib/a.ts": "// A.\n",
        "src/lib/a.test.ts": '// T.\nimport "./a.ts";\n',
      }),
    ).toEqual(["src/lib/a.ts:1 is imported by nothing that runs; delete it or use it [unreferenced]"]);
  });

  it("a function above 70 lines, but not the callbacks of tests", () => {
    const lines = (count: number) => "  void 0;\n".repeat(count);
    const texts = (body: number) => ({
      ...commandUsing("../lib/a.ts"),
      "src/lib/a.ts": `// A.\nconst b = 1;\nexport function a() {\n${lines(body)}}\nvoid b;\n`,
      "src/lib/a.test.ts": `// T.\nimport "./a.ts";\ndescribe("a", () => {\n  it.each([1])("b", () => {\n${lines(80)}  });\n});\n`,
    });
    expect(violations(texts(68))).toEqual([]);
    expect(violations(texts(69))).toEqual([
      "src/lib/a.ts:3 a has 71 lines; split it (at most 70) [functionLength]",
    ]);
  });

  it("a long function in a test file, and one around the list of tests", () => {
    const lines = "  void 0;\n".repeat(70);
    const found = violations({
      ...commandUsing(),
      "src/lib/a.test.ts": `// T.\nconst stage = () => {\n${lines}};\nfunction suite() {\n  describe("a", () => {\n${lines}  });\n}\nvoid [stage, suite];\n`,
    });
    expect(found).toEqual(["src/lib/a.test.ts:2 stage has 72 lines; split it (at most 70) [functionLength]"]);
  });

  it("a document that names a file which is not there", () => {
    expect(
      violations({ ...commandUsing(), "README.md": "See [this](docs/gone.md) and `src/gone.ts`.\n" }),
    ).toEqual([
      "README.md:1 names docs/gone.md, which does not exist [documents]",
      "README.md:1 names src/gone.ts, which does not exist [documents]",
    ]);
  });

  it("a lockfile with addresses, without a platform or with an install script, and a loose version", () => {
    const packages = {
      "node_modules/esbuild": { optionalDependencies: { "@esbuild/linux-arm64": "1.0.0" } },
      "node_modules/a/node_modules/@b/tracker": { hasInstallScript: true },
    };
    const lock = JSON.stringify({ packages }).replace(
      '{"packages"',
      '{"resolved": "https://x/y", "packages"',
    );
    const found = violations({
      ...commandUsing(),
      "package-lock.json": lock,
      "contracts/package.json": '{"dependencies":{"viem":"^2.0.0"}}',
    });
    expect(found).toEqual([
      "package-lock.json:1 records download addresses [lockfile]",
      "package-lock.json:1 lacks @esbuild/linux-arm64; write it again with no node_modules folder present [lockfile]",
      "contracts/package.json:1 viem must be pinned exactly, not ^2.0.0 [lockfile]",
      "package-lock.json:1 @b/tracker has an install script; decide on it in allowScripts [lockfile]",
    ]);
  });

  it("a fault that the page does not know, and one that it should forget", () => {
    const found = violations({
      ...commandUsing("../lib/fault.ts"),
      "src/lib/fault.ts": "// F.\nexport const FAULTS = {\n  NEW_ONE: { status: 500 },\n};\n",
      "docs/faults.md": "| `OLD_ONE` | 500 |\n",
    });
    expect(found).toEqual([
      "src/lib/fault.ts:1 NEW_ONE is not described in docs/faults.md [faults]",
      "docs/faults.md:1 OLD_ONE is no longer a fault [faults]",
    ]);
  });

  it("a log line without component, event or constant message, and one written indirectly", () => {
    const lines = [
      'log.info({ event: "read" }, "Read");',
      'this.#log.warn({ component: "store", event: "node-lost" }, "Lost");',
      'options.log.error({ component: "store", event: "failed" }, "Failed " + name);',
      'log.debug(fields, "Read");',
      'log[level]({ component: "store", event: "read" }, "Read");',
      "promise.catch(log.warn);",
      'options.log.child({ component: "store" });',
      'log.child({ component: "store", event: "driver" });',
      'log.info({ component: "store", event: "read", block }, "Read");',
      'log.info({ component: "store", event: "read" }, "Read again");',
    ];
    const found = violations({
      ...commandUsing("../store/a.ts"),
      "src/store/a.ts": `// A.\n${lines.join("\n")}\n`,
    });
    expect(found).toEqual([
      'src/store/a.ts:2 must log with component: "store" [logLines]',
      "src/store/a.ts:3 must log with an event in snake_case [logLines]",
      "src/store/a.ts:4 must log a constant message; what varies is a field [logLines]",
      "src/store/a.ts:5 must log an object with component and event first [logLines]",
      "src/store/a.ts:6 must name the level that it logs at [logLines]",
      "src/store/a.ts:7 must call the log where the line is written [logLines]",
      "src/store/a.ts:8 must not bind component or event alone to a child log; each line names both [logLines]",
      'src/store/a.ts:11 logs read with another message than "Read" [logLines]',
    ]);
  });

  it("a log event that the page does not list", () => {
    const page = (rows: string) =>
      `<!-- generated: log events, by npm run docs:logs -->\n\n| component | event | level | message |\n|---|---|---|---|\n${rows}\n<!-- end: log events -->\n`;
    const found = (rows: string) =>
      violations({
        ...commandUsing("../store/a.ts"),
        "src/store/a.ts": '// A.\nlog.info({ component: "store", event: "read" }, "Read");\n',
        "docs/operations.md": page(rows),
      });
    expect(found("| store | `read` | info | Read |\n")).toEqual([]);
    expect(found("| store | `gone` | info | Read |\n")).toEqual([
      "docs/operations.md:1 does not list the log events; run `npm run docs:logs` [logLines]",
    ]);
  });

  it("a script of package.json whose file is not there", () => {
    const scripts = { start: "tsx src/cli/main.ts", docs: "tsx scripts/gone.ts --all" };
    expect(violations({ ...commandUsing(), "package.json": JSON.stringify({ scripts }) })).toEqual([
      "package.json:1 names scripts/gone.ts, which does not exist [documents]",
    ]);
  });

  it.each([
    "npx sextant api",
    "KEY=0x1 npx --yes sextant facilitator",
    "npx --no sextant api",
    "npm exec --no -- sextant api",
    "pnpm dlx sextant",
    "npm install -g sextant",
  ])("a command that runs another author's package: %s", (command) => {
    expect(violations({ ...commandUsing(), "docs/a.md": `# A\n\n${command}\n` })).toContain(
      "docs/a.md:3 runs another author's package outside the clone; write node bin/sextant.mjs [ownCommand]",
    );
  });

  it.each(["node bin/sextant.mjs api", "npx vitest run src", "`sextant api` is a process"])(
    "no complaint about %s",
    (command) => {
      const found = violations({ ...commandUsing(), "docs/a.md": `# A\n\n${command}\n` });
      expect(found.filter((line) => line.includes("ownCommand"))).toEqual([]);
    },
  );
});
