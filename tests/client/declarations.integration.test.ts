// A changed declaration appears in OpenAPI, client, commands, tools and docs, or a check fails: in a copy of this checkout.
// tests/client/generated.test.ts and tests/api/docs.test.ts are the fast part.
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, it } from "vitest";
import { copySources } from "../support/copy-sources.ts";
import { startProgram, startSextant } from "../support/process/sextant-process.ts";
import { findTypeErrors } from "../support/process/type-check.ts";
import { createTestFolder } from "../support/test-folder.ts";
import type { DeclaredParts } from "./declarations-child.ts";

const CHECKOUT = fileURLToPath(new URL("../../", import.meta.url));
const COPIED = [
  "bin",
  "src",
  "chain-data",
  "scripts",
  "packages/client",
  "docs/api.md",
  "package.json",
  "tsconfig.json",
];
const CHILD = "tests/client/declarations-child.ts";
const DECLARATION = "src/protocol/reads/intents.ts";

/** A new filter of the list of intents, and another name of a field. */
const CHANGES: readonly (readonly [before: string, after: string])[] = [
  [
    'kind: enumParameter(["open", "filled", "cancelled", "expired"]),',
    `kind: enumParameter(["open", "filled", "cancelled", "expired"]),
        description: "Filter by state; case-insensitive.",
        where: () => sql\`true\`,
      },
      region: {
        kind: enumParameter(["north", "south"]),`,
  ],
  ["slippage_bps: computedField(", "slippage_limit: computedField("],
];

/** Programs of users, before the change and after it. */
const PROGRAM = `
  import { createSextant } from "@sextant/client/sextant";
  const sextant = createSextant({ api: "http://127.0.0.1:3001" });
`;
const BEFORE = `${PROGRAM}
  for await (const { slippage_bps } of sextant.listIntents({ status: "open" })) console.log(slippage_bps);
`;
const AFTER = `${PROGRAM}
  for await (const { slippage_limit } of sextant.listIntents({ region: "north" })) console.log(slippage_limit);
`;

async function copyCheckout(): Promise<string> {
  const folder = await createTestFolder();
  copySources(CHECKOUT, [...COPIED, CHILD], folder);
  // Packages of others are shared; the client is that of the copy.
  const [from, to] = [join(CHECKOUT, "node_modules"), join(folder, "node_modules")];
  for (const scope of ["", "@sextant"]) {
    mkdirSync(join(to, scope), { recursive: true });
    for (const name of readdirSync(join(from, scope)).filter((each) => each !== "@sextant")) {
      const target = join(scope, name) === "@sextant/client" ? join(folder, "packages/client") : null;
      symlinkSync(target ?? join(from, scope, name), join(to, scope, name));
    }
  }
  return folder;
}

function change(folder: string): void {
  const file = join(folder, DECLARATION);
  const changed = CHANGES.reduce(
    (text, [before, after]) => {
      expect(text.split(before)).toHaveLength(2);
      return text.replace(before, after);
    },
    readFileSync(file, "utf8"),
  );
  writeFileSync(file, changed);
}

async function readParts(folder: string): Promise<DeclaredParts> {
  const { code, out, err } = await startProgram(CHILD, { cwd: folder }).ended;
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out);
}

function typeErrorsOf(folder: string, program: string): string | null {
  const project = join(folder, "program");
  mkdirSync(project, { recursive: true });
  const compilerOptions = { noEmit: true, tsBuildInfoFile: join(folder, "buildinfo") };
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({ extends: "../tsconfig.json", compilerOptions, include: ["*.ts"] }),
  );
  writeFileSync(join(project, "program.ts"), program);
  return findTypeErrors(project);
}

/** The response that the reference shows for an operation. */
function shownResponse(folder: string, operationId: string): unknown {
  const recorded = JSON.parse(readFileSync(join(folder, "src/api/recorded-examples.json"), "utf8"));
  return recorded.responses[operationId];
}

/** Expects the help of the command that lists, if this checkout has it. */
async function expectHelp(folder: string): Promise<void> {
  const { code, out } = await startSextant(["list", "intents", "--help"], { checkout: folder }).ended;
  expect([code, out]).toEqual([0, expect.stringMatching(/--region\b.*/)]);
}

it("carries a changed declaration to every generated file, and fails the checks of written ones", async () => {
  const folder = await copyCheckout();
  const before = await readParts(folder);
  expect([before.stale, before.staleSections, typeErrorsOf(folder, BEFORE)]).toEqual([null, [], null]);
  change(folder);
  const { openapi, stale, generated, staleSections, tools } = await readParts(folder);

  // OpenAPI and tools are built from it at start.
  const operation = openapi.paths["/intents"]?.get;
  expect(operation?.parameters.map(({ name }) => name)).toContain("region");
  const page = operation?.responses[200] as unknown as { content: Record<string, { schema: object }> };
  const find = tools.find(({ name }) => name === "find_intents");
  expect(find?.inputSchema.properties).toMatchObject({ region: { enum: ["north", "south"] } });

  // Docs and recorded responses show it only when they are written again: until then their tests fail.
  expect(staleSections).toEqual(["GET /intents"]);
  const ajv = new Ajv2020({ strict: false }).addSchema(openapi, "api");
  const schema = { ...page.content["application/json"]?.schema };
  const rendered = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/'));
  expect(ajv.compile(rendered)(shownResponse(folder, "listIntents"))).toBe(false);

  // Generated files of the client and of the commands: the check names those that lack it, and the generator adds it.
  const lacking = Object.entries(generated).filter(
    ([path, text]) => readFileSync(join(folder, path), "utf8") !== text,
  );
  expect(lacking.map(([path]) => path)).toEqual(
    expect.arrayContaining(
      ["actions", "operations", "records"].map((name) => `packages/client/generated/${name}.ts`),
    ),
  );
  for (const [path, text] of lacking) {
    expect(stale).toContain(path);
    expect(text).toMatch(/listIntents|find_intents/.test(text) ? /\bregion\b/ : /\bslippage_limit\b/);
    writeFileSync(join(folder, path), text);
  }
  await expectHelp(folder);
  expect(typeErrorsOf(folder, BEFORE)).toContain("slippage_bps");
  expect(typeErrorsOf(folder, AFTER)).toBeNull();
}, 120_000);
