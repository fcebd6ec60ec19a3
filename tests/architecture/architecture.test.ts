// Each rule finds what is planted against it; `npm run check`, a part of `npm test`, applies them to this repository.
import { describe, expect, it } from "vitest";
import { checkRepository } from "./check-repository.ts";
import { repositoryFrom } from "./repository.ts";
import { documentLength } from "./rules/document-length.ts";
import { testTitles } from "./rules/test-titles.ts";

const cli = { "bin/sextant.mjs": '// Starts.\nimport "../src/cli/main.ts";\n' };

/** Violations found in a small repository that is otherwise in order. */
function violations(texts: Record<string, string>): string[] {
  const base = { "package.json": '{"scripts":{"start":"node src/cli/main.ts"}}', ...cli };
  return checkRepository(repositoryFrom({ ...base, ...texts }));
}

/** Violations of a rule that looks at one file; what is planted for it has no readers. */
function violationsInFiles(texts: Record<string, string>): string[] {
  return violations(texts).filter((line) => !/\[(unusedExports|dependencies)\]$/.test(line));
}

const commandUsing = (...paths: string[]) => ({
  "src/cli/main.ts": `// The command.\n${paths.map((path) => `import "${path}";`).join("\n")}\n`,
});

describe("checkRepository", () => {
  it("accepts a small repository in order", () => {
    expect(
      violations({
        ...commandUsing("../store/a.ts"),
        "src/store/a.ts": '// A.\nimport "../lib/b.ts";\n',
        "src/lib/b.ts": "// B.\n",
      }),
    ).toEqual([]);
  });

  it("finds an import against the graph", () => {
    expect(
      violationsInFiles({
        ...commandUsing("../lib/a.ts"),
        "src/lib/a.ts": '// A.\nimport { b } from "../store/b.ts";\n',
        "src/store/b.ts": "// B.\n",
      }),
    ).toEqual([
      "src/lib/a.ts:2 src/lib must not import src/store (src/store/b.ts); it may import nothing [importGraph]",
    ]);
  });

  it("finds an import against the graph, also of a type and also by import()", () => {
    const found = violationsInFiles({
      ...commandUsing("../protocol/a.ts"),
      "src/protocol/a.ts": '// A.\nimport type { B } from "../store/b.ts";\nawait import("../http/c.ts");\n',
      "src/store/b.ts": "// B.\n",
      "src/http/c.ts": "// C.\n",
    });
    expect(found.map((line) => line.split(" ")[0])).toEqual(["src/protocol/a.ts:2", "src/protocol/a.ts:3"]);
  });

  it("finds a name that two files of src declare and export, and none that is passed on", () => {
    const found = violations({
      ...commandUsing("../lib/a.ts", "../lib/b.ts", "../lib/c.ts"),
      "src/lib/a.ts":
        "// A.\nexport const { shown, hidden } = { shown: 1, hidden: 2 };\nexport type Row = string;\n",
      "src/lib/b.ts": "// B.\nexport function shown(): void {}\nexport interface Row {}\nconst hidden = 1;\n",
      "src/lib/c.ts": '// C.\nexport { hidden } from "./a.ts";\n',
    });
    expect(found.filter((line) => line.endsWith("[exportedNames]"))).toEqual([
      "src/lib/b.ts:2 exports shown, which src/lib/a.ts exports with another meaning; rename one of them [exportedNames]",
      "src/lib/b.ts:3 exports Row, which src/lib/a.ts exports with another meaning; rename one of them [exportedNames]",
    ]);
  });

  it("finds a folder that the graph does not declare", () => {
    expect(
      violationsInFiles({
        ...commandUsing("../utils/a.ts"),
        "src/utils/a.ts": '// A.\nimport "../lib/b.ts";\n',
        "src/lib/b.ts": "// B.\n",
      }),
    ).toEqual([
      "src/utils/a.ts:2 src/utils is not in the import graph; declare it in tests/architecture/rules/import-graph.ts [importGraph]",
    ]);
  });

  it("finds product code that imports tests, and contracts that import the product", () => {
    const found = violationsInFiles({
      ...commandUsing("../lib/a.ts"),
      "src/lib/a.ts": '// A.\nimport "../../tests/b.ts";\nimport "@sextant/contracts/deploy/c";\n',
      "tests/b.ts": "// B.\n",
      "contracts/deploy/c.ts": '// C.\nimport "../../src/lib/d.ts";\n',
      "src/lib/d.ts": "// D.\n",
    });
    expect(found.filter((line) => line.endsWith("[importGraph]"))).toHaveLength(3);
  });

  it("finds a word of the private language, in a text and inside a name", () => {
    const found = violationsInFiles({
      ...commandUsing("../lib/a.ts"),
      "src/lib/a.ts": "// Whoever asks.\nexport const sendAnswer = 1;\n",
    });
    expect(found.map((line) => line.split(";")[0])).toEqual([
      'src/lib/a.ts:1 says "whoever"',
      'src/lib/a.ts:2 says "answer"',
    ]);
  });

  it("finds a cycle", () => {
    const found = violationsInFiles({
      ...commandUsing("../lib/a.ts"),
      "src/lib/a.ts": '// A.\nimport "./b.ts";\n',
      "src/lib/b.ts": '// B.\nimport type { A } from "./a.ts";\n',
    });
    expect(found).toEqual([
      "src/lib/a.ts:1 imports itself: src/lib/a.ts → src/lib/b.ts → src/lib/a.ts [cycles]",
    ]);
  });

  it("finds an ABI function of viem outside the codec", () => {
    const found = violationsInFiles({
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

  it("finds a read of the environment outside cli and config", () => {
    expect(
      violationsInFiles({
        ...commandUsing("../lib/a.ts"),
        "src/lib/a.ts": "// A.\nexport const a = process.env.HOME;\n",
      }),
    ).toEqual(["src/lib/a.ts:2 reads the environment; only src/cli and src/config may [environmentReads]"]);
  });

  it("finds a variable that is not documented, and one that is documented but not read", () => {
    const found = violationsInFiles({
      ...commandUsing("../config/indexing-settings.ts"),
      "src/config/indexing-settings.ts": '// S.\nexport const a = setting("API_PORT", port, 1, "x");\n',
      "chain-data/chains.json": '[{"chainId":7,"mainnet":true},{"chainId":8,"mainnet":false}]',
      ".env.example": "# GONE=1\n# RPC_URL_7=http://a\n",
      "docs/configuration.md": "nothing here\n",
    });
    expect(found).toEqual([
      "src/config/indexing-settings.ts:2 API_PORT is not described in .env.example [environmentVariables]",
      "src/config/indexing-settings.ts:2 API_PORT is not described in docs/configuration.md [environmentVariables]",
      "chain-data/chains.json:1 RPC_URL_7 is not described in docs/configuration.md [environmentVariables]",
      ".env.example:1 GONE is read nowhere [environmentVariables]",
    ]);
  });

  it("finds a comment that begins as a fragment, and not a line that continues one", () => {
    const text =
      "// A.\n\n// What it costs.\nconst a = 1;\n// The sum of\n// What is left.\n/** Of one. */\nfoo(a);\n";
    const found = violationsInFiles({ ...commandUsing("../lib/a.ts"), "src/lib/a.ts": text });
    expect(found.map((line) => line.split(" ")[0])).toEqual(["src/lib/a.ts:3", "src/lib/a.ts:7"]);
  });

  it("finds a file without a purpose, and one that nothing runs", () => {
    expect(
      violationsInFiles({ ...commandUsing("../lib/a.ts"), "src/lib/a.ts": "export const a = 1;\n" }),
    ).toEqual(["src/lib/a.ts:1 does not open with a sentence that says what it is for [purpose]"]);
    expect(
      violationsInFiles({
        ...commandUsing(),
        "src/lib/a.ts": "// A.\n",
        "src/lib/a.test.ts": '// T.\nimport "./a.ts";\n',
      }),
    ).toEqual(["src/lib/a.ts:1 is imported by nothing that runs; delete it or use it [unreferenced]"]);
  });

  it("finds a function above 70 lines, but not the callbacks of tests", () => {
    const lines = (count: number) => "  void 0;\n".repeat(count);
    const texts = (body: number) => ({
      ...commandUsing("../lib/a.ts"),
      "src/lib/a.ts": `// A.\nconst b = 1;\nexport function a() {\n${lines(body)}}\nvoid b;\n`,
      "src/lib/a.test.ts": `// T.\nimport "./a.ts";\ndescribe("a", () => {\n  it.each([1])("b", () => {\n${lines(80)}  });\n});\n`,
    });
    expect(violationsInFiles(texts(68))).toEqual([]);
    expect(violationsInFiles(texts(69))).toEqual([
      "src/lib/a.ts:3 a has 71 lines; split it (at most 70) [functionLength]",
    ]);
  });

  it("finds a long function in a test file, but not the list of tests inside one", () => {
    const lines = "  void 0;\n".repeat(70);
    const found = violationsInFiles({
      ...commandUsing(),
      "src/lib/a.test.ts": `// T.\nconst stage = () => {\n${lines}};\nfunction suite() {\n  describe("a", () => {\n${lines}  });\n}\nvoid [stage, suite];\n`,
    });
    expect(found).toEqual(["src/lib/a.test.ts:2 stage has 72 lines; split it (at most 70) [functionLength]"]);
  });

  it("finds a file of src with more than ten addresses, each counted once", () => {
    const rows = (count: number) =>
      Array.from({ length: count }, (_, i) => `"0x${i.toString(16).padStart(40, "a")}",\n`).join("");
    const text = (count: number) => `// A.\nvoid [\n${rows(count)}${rows(count)}];\n`;
    expect(violationsInFiles({ ...commandUsing("../lib/a.ts"), "src/lib/a.ts": text(10) })).toEqual([]);
    expect(violationsInFiles({ ...commandUsing("../lib/a.ts"), "src/lib/a.ts": text(11) })).toEqual([
      "src/lib/a.ts:1 has 11 addresses (at most 10); move them to chain-data/ [dataInCode]",
    ]);
  });

  it("finds a document that names a file which is not there", () => {
    expect(
      violationsInFiles({ ...commandUsing(), "README.md": "See [this](docs/gone.md) and `src/gone.ts`.\n" }),
    ).toEqual([
      "README.md:1 names docs/gone.md, which does not exist [documents]",
      "README.md:1 names src/gone.ts, which does not exist [documents]",
    ]);
  });

  it("finds a link to a heading that is not there, in the same page or another", () => {
    const found = violationsInFiles({
      ...commandUsing(),
      "README.md": "# A\n\n[a](#a) [b](#the-agents-own-b--c) [c](docs/x.md#twice-1) [d](docs/x.md#d)\n",
      "docs/x.md": "# X\n\n## Twice\n\n## Twice\n\n```sh\n# D\n```\n\n[b](../README.md#gone)\n",
    });
    expect(found).toEqual([
      "README.md:3 names #the-agents-own-b--c of README.md, which has no such heading [documents]",
      "README.md:3 names #d of docs/x.md, which has no such heading [documents]",
      "docs/x.md:11 names #gone of README.md, which has no such heading [documents]",
    ]);
    const heading = "# A\n\n## The agent's own `b` & [c](docs/x.md)\n\n[b](#the-agents-own-b--c)\n";
    expect(violationsInFiles({ ...commandUsing(), "README.md": heading, "docs/x.md": "# X\n" })).toEqual([]);
  });

  it("finds a script, command or setting that is not there, and a rule cited by its number", () => {
    const found = violationsInFiles({
      ...commandUsing("../config/settings.ts", "./commands.ts"),
      "src/config/settings.ts": '// S.\nsetting("SEXTANT_DATA", text, 1, "x");\n',
      "src/cli/commands.ts": '// C.\nvoid [\n  {\n    name: "serve",\n  },\n];\n',
      ".env.example": "# SEXTANT_DATA=1\n",
      "docs/configuration.md": "`SEXTANT_DATA`, `SEXTANT_…` and `SEXTANT_GONE`\n",
      "README.md":
        "`npm run start` and `npm run gone`; `sextant serve` and node bin/sextant.mjs gone; see D48.\n",
    });
    expect(found.map((line) => line.replace(/ \[documentClaims\]$/, ""))).toEqual([
      "README.md:1 runs npm run gone, which package.json does not have",
      "README.md:1 runs sextant gone, which is not a command",
      "docs/configuration.md:1 names SEXTANT_GONE, which is not a setting",
      "README.md:1 cites D48; link to the heading that has the rule",
    ]);
  });

  it("finds a lockfile with addresses, without a platform or with an install script, and a loose version", () => {
    const packages = {
      "node_modules/esbuild": { optionalDependencies: { "@esbuild/linux-arm64": "1.0.0" } },
      "node_modules/a/node_modules/@b/tracker": { hasInstallScript: true },
    };
    const lock = JSON.stringify({ packages }).replace(
      '{"packages"',
      '{"resolved": "https://x/y", "packages"',
    );
    const found = violationsInFiles({
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

  it("finds a fault that the page does not know, and one that it should forget", () => {
    const found = violationsInFiles({
      ...commandUsing("../lib/fault.ts"),
      "src/lib/fault.ts": "// F.\nexport const FAULTS = {\n  NEW_ONE: { status: 500 },\n};\n",
      "docs/faults.md": "- `OLD_ONE` (500, exit 70): Old.\n",
    });
    expect(found).toEqual([
      "src/lib/fault.ts:1 NEW_ONE is not described in docs/faults.md [faults]",
      "docs/faults.md:1 OLD_ONE is no longer a fault [faults]",
    ]);
  });

  it("finds a log line without component, event or constant message, and one written indirectly", () => {
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
    const found = violationsInFiles({
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

  it("finds a log event that the page does not list, from level error on", () => {
    const page = (items: string) =>
      `<!-- generated: log events, by npm run docs:logs -->\n\n${items}\n\n<!-- end: log events -->\n`;
    const lines =
      '// A.\nlog.error({ component: "store", event: "lost" }, "Lost");\nlog.info({ component: "store", event: "read" }, "Read");\n';
    const found = (items: string) =>
      violationsInFiles({
        ...commandUsing("../store/a.ts"),
        "package.json": '{"scripts":{"docs:logs":"node src/cli/main.ts"}}',
        "src/store/a.ts": lines,
        "docs/operations.md": page(items),
      });
    expect(found("- store `lost` (error): Lost")).toEqual([]);
    expect(found("- store `gone` (error): Lost")).toEqual([
      "docs/operations.md:1 does not list the log events; run `npm run docs:logs` [logLines]",
    ]);
  });

  it("finds comments that begin as fragments in all code, but not their continued lines", () => {
    const text =
      "// A.\n\n// Of an error.\n// a line\n// That continues.\n/** What it returns. */\nvoid 0;\n";
    const found = violationsInFiles({
      ...commandUsing(),
      "tests/a.test.ts": text,
      "contracts/generated/a.ts": text,
      "examples/a.d.ts": text,
    });
    expect(found.filter((line) => line.endsWith("[commentStarts]"))).toEqual([
      'tests/a.test.ts:3 a comment begins with "Of"; begin with a verb or a noun [commentStarts]',
      'tests/a.test.ts:6 a comment begins with "What"; begin with a verb or a noun [commentStarts]',
    ]);
  });

  it("counts the words of our documents, and finds those beyond the limit", () => {
    const pages = {
      "docs/adr/a.md": "word ".repeat(54_999),
      "skills/a/SKILL.md": "last\n",
      "docs/specification/a.md": "not ours",
      "CHANGELOG.md": "not counted",
    };
    const found = (texts: Record<string, string>) => documentLength(repositoryFrom(texts));
    expect(found(pages)).toEqual([]);
    expect(found({ ...pages, "README.md": "one\ttoo  many" })).toEqual([
      { file: "docs/README.md", line: 1, message: "the documents have 55003 words; cut them to 55000" },
    ]);
  });

  it("finds private words and conditions with where, in names and documents too", () => {
    const lines = [
      "The file beside it.",
      "Null where none is known.",
      "A contract that is no account.",
      "There is no account, and it is no longer read.",
      "`isStranger`",
      "select a from b where c is null where d",
    ];
    const found = violationsInFiles({ ...commandUsing(), "README.md": `${lines.join("\n")}\n` });
    expect(found.map((line) => line.replace(/; write .*/, ""))).toEqual([
      'README.md:1 says "beside"',
      'README.md:2 says "null where"',
      'README.md:3 says "is no account"',
      'README.md:5 says "stranger"',
    ]);
  });

  it("finds a script of package.json whose file is not there", () => {
    const scripts = { start: "tsx src/cli/main.ts", docs: "tsx scripts/gone.ts --all" };
    expect(violationsInFiles({ ...commandUsing(), "package.json": JSON.stringify({ scripts }) })).toEqual([
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
  ])("finds a command that runs another author's package: %s", (command) => {
    expect(violationsInFiles({ ...commandUsing(), "docs/a.md": `# A\n\n${command}\n` })).toContain(
      "docs/a.md:3 runs another author's package outside the clone; write node bin/sextant.mjs [ownCommand]",
    );
  });

  it.each(["node bin/sextant.mjs api", "npx vitest run src", "`sextant api` is a process"])(
    "accepts %s as a command",
    (command) => {
      const found = violationsInFiles({ ...commandUsing(), "docs/a.md": `# A\n\n${command}\n` });
      expect(found.filter((line) => line.includes("ownCommand"))).toEqual([]);
    },
  );

  it("finds an export that no other file imports, and accepts every way to import one", () => {
    const found = violations({
      "src/cli/main.ts": [
        "// The command.",
        'import byDefault, { named as renamed } from "../lib/a.ts";',
        'import type { OnlyType } from "../lib/a.ts";',
        'import * as space from "../lib/b.ts";',
        'export { handedOn } from "../lib/c.ts";',
        'const { taken } = await import("../lib/d.ts");',
        'const first = (await import("../lib/e.ts")).first;',
        'type Inline = import("../lib/e.ts").Inline;',
        'const whole = await import("../lib/f.ts");',
        "export const values = [byDefault, renamed, space.member, taken, first, whole];",
        "export type Types = [OnlyType, Inline, space.Member];",
        "",
      ].join("\n"),
      "src/lib/a.ts":
        "// A.\nexport default 1;\nexport const named = 1;\nexport type OnlyType = 1;\nexport function gone() {}\n",
      "src/lib/b.ts":
        "// B.\nexport const member = 1;\nexport interface Member {}\nexport const [unread] = [1];\n",
      "src/lib/c.ts": "// C.\nexport class handedOn {}\nexport class Kept {}\nvoid new Kept();\n",
      "src/lib/d.ts": "// D.\nconst taken = 1;\nconst left = 2;\nexport { taken, left as leftOver };\n",
      "src/lib/e.ts": "// E.\nexport const first = 1;\nexport type Inline = 1;\nexport type Lost = 1;\n",
      "src/lib/f.ts": "// F.\nexport const any = 1;\n",
    });
    expect(found.map((line) => line.split(", which")[0])).toEqual([
      "src/cli/main.ts:5 exports handedOn",
      "src/cli/main.ts:10 exports values",
      "src/cli/main.ts:11 exports Types",
      "src/lib/a.ts:5 exports gone",
      "src/lib/b.ts:4 exports unread",
      "src/lib/c.ts:3 exports Kept",
      "src/lib/d.ts:4 exports leftOver",
      "src/lib/e.ts:4 exports Lost",
    ]);
  });

  it("counts neither its own file nor a passed-on namespace's names as unused exports", () => {
    const found = violations({
      ...commandUsing("../lib/a.ts"),
      "src/lib/a.ts":
        '// A.\nimport * as b from "./b.ts";\nexport const own = Object.keys(b);\nvoid import("./a.ts");\n',
      "src/lib/b.ts": "// B.\nexport const any = 1;\n",
    });
    expect(found.filter((line) => line.endsWith("[unusedExports]"))).toEqual([
      "src/lib/a.ts:3 exports own, which no other file imports; remove the export, or the code [unusedExports]",
    ]);
  });

  it("finds what one file exports under two names", () => {
    const found = violations({
      "src/cli/main.ts": '// The command.\nimport { a, b, c, d } from "../lib/a.ts";\nvoid [a, b, c, d];\n',
      "src/lib/a.ts":
        "// A.\nexport const a = 1;\nexport const b = a;\nconst hidden = 1;\nexport const c = hidden;\nexport { a as d };\n",
    });
    expect(found).toEqual([
      "src/lib/a.ts:3 exports a a second time, as b [unusedExports]",
      "src/lib/a.ts:6 exports a a second time, as d [unusedExports]",
    ]);
  });

  it("finds unused values of a package, but not the types that describe them", () => {
    const found = violations({
      ...commandUsing("@sextant/client/a"),
      "package.json": '{"scripts":{"start":"node x"},"dependencies":{"@sextant/client":"1.0.0"}}',
      "packages/client/a.ts": "// A.\nexport type Options = 1;\nexport const gone = 1;\n",
    });
    expect(found).toEqual([
      "packages/client/a.ts:3 exports gone, which no other file imports; remove the export, or the code [unusedExports]",
    ]);
  });

  it("finds a package that is not declared, and a declared one that nothing uses", () => {
    const manifest = {
      scripts: {
        start: "node src/cli/main.ts",
        docs: "tsx src/cli/main.ts && rimraf dist",
        lint: "biome check",
      },
      dependencies: { pg: "8.0.0", unread: "1.0.0" },
      devDependencies: {
        tsx: "4.0.0",
        "@biomejs/biome": "2.0.0",
        "@types/pg": "8.0.0",
        "@types/ws": "8.0.0",
      },
    };
    const found = violations({
      "src/cli/main.ts":
        '// The command.\nimport "node:fs";\nimport "pg/lib/x";\nimport "@scope/name/x";\nimport "@sextant/client/a";\n',
      "packages/client/a.ts": '// A.\nimport type { Hex } from "viem";\nimport "pg";\nimport "ws";\n',
      "package.json": JSON.stringify(manifest),
      "packages/client/package.json":
        '{"peerDependencies":{"viem":"2.x"},"devDependencies":{"viem":"2.0.0"}}',
      "package-lock.json": JSON.stringify({
        packages: { "node_modules/@biomejs/biome": { bin: { biome: "bin/biome" } } },
      }),
    });
    expect(found.filter((line) => line.endsWith("[dependencies]"))).toEqual([
      "src/cli/main.ts:4 imports @scope/name, which package.json does not declare [dependencies]",
      "src/cli/main.ts:5 imports @sextant/client, which package.json does not declare [dependencies]",
      "package.json:1 runs rimraf, which no declared package brings [dependencies]",
      "packages/client/a.ts:4 imports ws, which packages/client/package.json does not declare [dependencies]",
      "package.json:1 declares unread, which nothing imports; remove it [dependencies]",
      "package.json:1 declares @types/ws, which nothing imports; remove it [dependencies]",
    ]);
  });
});

describe("testTitles", () => {
  const titlesOf = (...lines: string[]) =>
    testTitles(repositoryFrom({ "src/a.test.ts": `// T.\n${lines.join("\n")}\n` })).map(
      ({ line, message }) => `${line} ${message.split(";")[0]}`,
    );

  it("finds a title that continues its describe, in every form of a test", () => {
    const problem = (title: string, word: string) => `has the title "${title}", which begins with "${word}"`;
    const found = titlesOf(
      'describe("a quote", () => {',
      '  it("of another chain is rejected", () => {});',
      '  it.each([1])("that says %s has no price", () => {});',
      `  test.each\`a\`(\`with \${a} is cut\`, () => {});`,
      '  it("are up to date", { timeout: 1 }, () => {});',
      '  it("never fail the page", () => {});',
      "});",
    );
    expect(found).toEqual([
      `3 ${problem("of another chain is rejected", "of")}`,
      `4 ${problem("that says %s has no price", "that")}`,
      `5 ${problem(`with \${a} is cut`, "with")}`,
      `6 ${problem("are up to date", "are")}`,
      `7 ${problem("never fail the page", "never fail")}`,
    ]);
  });

  it("finds a second test of the same title under one describe, but not under another", () => {
    const found = titlesOf(
      'describe("a quote", () => {',
      '  it("rejects another chain", () => {});',
      '  it("rejects another chain", () => {});',
      "});",
      'describe("a bid", () => it("rejects another chain", () => {}));',
    );
    expect(found).toEqual(['4 has the title "rejects another chain" a second time']);
  });

  it.each([
    'it("rejects a quote of another chain", () => {});',
    'it("android opens the link", () => {});',
    'it("never fails the page", () => {});',
    'it("for-await loops end with the stream", () => {});',
    'describe("of another chain", () => {});',
    'expect(it).to("of");',
    'await page.test("of another chain");',
  ])("accepts %s", (line) => {
    expect(titlesOf(line)).toEqual([]);
  });
});
