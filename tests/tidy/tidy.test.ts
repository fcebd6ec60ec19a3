// The house rules hold here, and each of them notices what is planted against it.
import { describe, expect, it } from "vitest";
import { openRepository, repositoryFrom } from "./repository.ts";
import { tidy } from "./tidy.ts";

const cli = { "bin/sextant.mjs": '// Starts.\nimport "../src/doors/cli.ts";\n' };

/** What the rules say of a small house, without what they would say of it in any case. */
function complaints(texts: Record<string, string>): string[] {
  const base = { "package.json": '{"scripts":{"start":"tsx src/doors/cli.ts"}}', ...cli };
  return tidy(repositoryFrom({ ...base, ...texts }));
}

const doorUsing = (...paths: string[]) => ({
  "src/doors/cli.ts": `// The door.\n${paths.map((path) => `import "${path}";`).join("\n")}\n`,
});

describe("this repository", () => {
  it("is tidy", () => {
    expect(tidy(openRepository("."))).toEqual([]);
  });
});

describe("planted", () => {
  it("a good small house has no complaint", () => {
    expect(
      complaints({
        ...doorUsing("../store/a.ts"),
        "src/store/a.ts": '// A.\nimport "../kit/b.ts";\n',
        "src/kit/b.ts": "// B.\n",
      }),
    ).toEqual([]);
  });

  it("an upward import", () => {
    expect(
      complaints({
        ...doorUsing("../kit/a.ts"),
        "src/kit/a.ts": '// A.\nimport { b } from "../store/b.ts";\n',
        "src/store/b.ts": "// B.\n",
      }),
    ).toEqual([
      "src/kit/a.ts:2 imports upward or sideways: src/kit must not know src/store (src/store/b.ts) [layers]",
    ]);
  });

  it("a sideways import, also of a type and also by import()", () => {
    const found = complaints({
      ...doorUsing("../protocol/a.ts"),
      "src/protocol/a.ts": '// A.\nimport type { B } from "../store/b.ts";\nawait import("../http/c.ts");\n',
      "src/store/b.ts": "// B.\n",
      "src/http/c.ts": "// C.\n",
    });
    expect(found.map((line) => line.split(" ")[0])).toEqual(["src/protocol/a.ts:2", "src/protocol/a.ts:3"]);
  });

  it("a room that nobody declared", () => {
    expect(
      complaints({
        ...doorUsing("../utils/a.ts"),
        "src/utils/a.ts": '// A.\nimport "../kit/b.ts";\n',
        "src/kit/b.ts": "// B.\n",
      }),
    ).toEqual([
      "src/utils/a.ts:2 src/utils is not a room of the house; add it to tests/tidy/rules/layers.ts [layers]",
    ]);
  });

  it("product code that imports tests, and contracts that import the product", () => {
    const found = complaints({
      ...doorUsing("../kit/a.ts"),
      "src/kit/a.ts": '// A.\nimport "../../tests/b.ts";\nimport "@sextant/contracts/deploy/c";\n',
      "tests/b.ts": "// B.\n",
      "contracts/deploy/c.ts": '// C.\nimport "../../src/kit/d.ts";\n',
      "src/kit/d.ts": "// D.\n",
    });
    expect(found.filter((line) => line.endsWith("[layers]"))).toHaveLength(3);
  });

  it("a cycle", () => {
    const found = complaints({
      ...doorUsing("../kit/a.ts"),
      "src/kit/a.ts": '// A.\nimport "./b.ts";\n',
      "src/kit/b.ts": '// B.\nimport type { A } from "./a.ts";\n',
    });
    expect(found).toEqual([
      "src/kit/a.ts:1 imports itself: src/kit/a.ts → src/kit/b.ts → src/kit/a.ts [cycles]",
    ]);
  });

  it("a read of the environment in a room", () => {
    expect(
      complaints({
        ...doorUsing("../kit/a.ts"),
        "src/kit/a.ts": "// A.\nexport const a = process.env.HOME;\n",
      }),
    ).toEqual(["src/kit/a.ts:2 reads the environment; only src/doors may [environmentReads]"]);
  });

  it("a variable that is not documented, and one that is documented but not read", () => {
    const found = complaints({
      ...doorUsing("./settings.ts"),
      "src/doors/settings.ts": '// S.\nexport const a = setting("API_PORT", port, 1, "x");\n',
      ".env.example": "# GONE=1\n",
      "docs/configuration.md": "nothing here\n",
    });
    expect(found).toEqual([
      "src/doors/settings.ts:2 API_PORT is not described in .env.example [environmentVariables]",
      "src/doors/settings.ts:2 API_PORT is not described in docs/configuration.md [environmentVariables]",
      ".env.example:1 GONE is read nowhere [environmentVariables]",
    ]);
  });

  it("a file without a purpose, and one that nothing runs", () => {
    expect(complaints({ ...doorUsing("../kit/a.ts"), "src/kit/a.ts": "export const a = 1;\n" })).toEqual([
      "src/kit/a.ts:1 does not open with a sentence that says what it is for [purpose]",
    ]);
    expect(
      complaints({
        ...doorUsing(),
        "src/kit/a.ts": "// A.\n",
        "src/kit/a.test.ts": '// T.\nimport "./a.ts";\n',
      }),
    ).toEqual(["src/kit/a.ts:1 is imported by nothing that runs; delete it or use it [unreferenced]"]);
  });

  it("a document that names a file which is not there", () => {
    expect(
      complaints({ ...doorUsing(), "README.md": "See [this](docs/gone.md) and `src/gone.ts`.\n" }),
    ).toEqual([
      "README.md:1 names docs/gone.md, which does not exist [documents]",
      "README.md:1 names src/gone.ts, which does not exist [documents]",
    ]);
  });

  it("a lockfile with addresses or without a platform, and a loose version", () => {
    const packages = {
      "node_modules/esbuild": { optionalDependencies: { "@esbuild/linux-arm64": "1.0.0" } },
    };
    const lock = JSON.stringify({ packages }).replace(
      '{"packages"',
      '{"resolved": "https://x/y", "packages"',
    );
    const found = complaints({
      ...doorUsing(),
      "package-lock.json": lock,
      "contracts/package.json": '{"dependencies":{"viem":"^2.0.0"}}',
    });
    expect(found).toEqual([
      "package-lock.json:1 records download addresses [lockfile]",
      "package-lock.json:1 lacks @esbuild/linux-arm64; write it again with no node_modules folder present [lockfile]",
      "contracts/package.json:1 viem must be pinned exactly, not ^2.0.0 [lockfile]",
    ]);
  });

  it("a fault that the page does not know, and one that it should forget", () => {
    const found = complaints({
      ...doorUsing("../kit/fault.ts"),
      "src/kit/fault.ts": "// F.\nexport const FAULTS = {\n  NEW_ONE: { status: 500 },\n};\n",
      "docs/faults.md": "| `OLD_ONE` | 500 |\n",
    });
    expect(found).toEqual([
      "src/kit/fault.ts:1 NEW_ONE is not described in docs/faults.md [faults]",
      "docs/faults.md:1 OLD_ONE is not a fault any more [faults]",
    ]);
  });
});
