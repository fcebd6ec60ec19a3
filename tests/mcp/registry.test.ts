// server.json and the skills: valid for those who read them, and true about commands, tools and settings.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { describeApiTools } from "../../src/api/tools.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { allSettings } from "../../src/config/settings.ts";
import { readVersion } from "../../src/config/version.ts";
import { describePaidTools } from "../../src/portfolio/http/tools.ts";
import { exampleSnapshot } from "../../src/schema/portfolio/examples.ts";

const ROOT = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), "utf8");

const TOOLS = [
  ...describeApiTools(),
  ...describePaidTools({ sentence: "", details: "", terms: {}, isPaidByCaller: true }),
];

const text = { type: "string" };
const variables = { type: "object", additionalProperties: { $ref: "#/definitions/input" } };

/** The rules of the registry for what server.json has, of its schema 2025-12-11 and of its requirements for publishers. */
const REGISTRY_RULES = {
  definitions: {
    input: {
      type: "object",
      properties: {
        description: text,
        isRequired: { type: "boolean" },
        isSecret: { type: "boolean" },
        format: { enum: ["string", "number", "boolean", "filepath"] },
        value: text,
        default: text,
        placeholder: text,
        choices: { type: "array", items: text },
      },
    },
  },
  type: "object",
  properties: {
    $schema: { const: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json" },
    name: { type: "string", pattern: "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", minLength: 3, maxLength: 200 },
    title: { type: "string", minLength: 1, maxLength: 100 },
    description: { type: "string", minLength: 1, maxLength: 100 },
    // Ranges are rejected.
    version: { type: "string", pattern: "^\\d+\\.\\d+\\.\\d+(-[0-9A-Za-z.-]+)?$", maxLength: 255 },
    remotes: {
      type: "array",
      items: {
        type: "object",
        properties: {
          type: { enum: ["streamable-http", "sse"] },
          url: { type: "string", pattern: "^(https?://[^\\s]+|\\{[a-zA-Z_][a-zA-Z0-9_]*\\}[^\\s]*)$" },
          variables,
        },
        required: ["type", "url"],
      },
    },
    // Publishers may add nothing else.
    _meta: {
      type: "object",
      properties: { "io.modelcontextprotocol.registry/publisher-provided": { type: "object" } },
      additionalProperties: false,
    },
  },
  required: ["$schema", "name", "description", "version"],
  additionalProperties: false,
};

type ServerJson = {
  readonly version: string;
  readonly remotes: readonly { readonly url: string; readonly variables: Readonly<Record<string, object>> }[];
  readonly _meta: {
    readonly "io.modelcontextprotocol.registry/publisher-provided": {
      readonly stdio: {
        readonly args: readonly [string, string];
        readonly environmentVariables: readonly { readonly name: string; readonly default?: string }[];
      };
    };
  };
};

describe("server.json", () => {
  const server = JSON.parse(read("server.json")) as ServerJson;
  const { stdio } = server._meta["io.modelcontextprotocol.registry/publisher-provided"];

  it("follows the rules of the registry", () => {
    const ajv = new Ajv({ strict: true });
    const validate = ajv.compile(REGISTRY_RULES);
    expect([validate(server), validate.errors]).toEqual([true, null]);
    expect(validate({ ...server, version: "^1.0.0" })).toBe(false);
    // At most four kilobytes of additions.
    expect(JSON.stringify(server._meta).length).toBeLessThan(4_096);
    for (const { url, variables: declared } of server.remotes) {
      expect([...url.matchAll(/\{(\w+)\}/g)].map((match) => match[1])).toEqual(Object.keys(declared));
    }
  });

  it("names the version of the project, and no package while none is published", () => {
    expect(server.version).toBe(readVersion());
    expect(JSON.parse(read("package.json"))).toMatchObject({ private: true });
    expect(server).not.toHaveProperty("packages");
  });

  it("names a command and settings that exist, with their defaults", () => {
    const [program, command] = stdio.args;
    expect(existsSync(new URL(program, ROOT))).toBe(true);
    expect(COMMANDS.map(({ name }) => name)).toContain(command);
    const settings = new Map(Object.values(allSettings).map((each) => [each.variable, each]));
    for (const { name, default: fallback } of stdio.environmentVariables) {
      expect(settings.has(name), name).toBe(true);
      if (fallback !== undefined) expect(settings.get(name)?.fallback).toBe(fallback);
    }
  });
});

describe.each(readdirSync(fileURLToPath(new URL("skills", ROOT))))("the skill %s", (folder) => {
  const skill = read(`skills/${folder}/SKILL.md`);
  const [, front = "", body = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(skill) ?? [];
  const quoted = [...body.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? "");

  it("says in a skill's name and description when to use it", () => {
    const fields = Object.fromEntries(front.split("\n").map((line) => line.split(/: (.*)/s, 2)));
    expect(Object.keys(fields)).toEqual(["name", "description"]);
    expect(fields.name).toBe(folder);
    expect(folder).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(fields.description).toMatch(/Use when .*\.$/);
    expect(fields.description?.length).toBeLessThanOrEqual(1_024);
    expect(body.split("\n").length).toBeLessThan(60);
  });

  it("names only commands that exist", () => {
    const commands = [...body.matchAll(/bin\/sextant\.mjs (\S+?)[`\s]/g)].map((match) => match[1]);
    expect(commands.length).toBeGreaterThan(0);
    for (const command of commands) expect(COMMANDS.map(({ name }) => name)).toContain(command);
  });

  it("names only tools that exist, and arguments and fields that they have", () => {
    const names = TOOLS.map(({ name }) => name);
    const known = new Set([
      ...names,
      ...TOOLS.flatMap(describedNames),
      "truncated",
      "cursor",
      "charged",
      "data",
    ]);
    const snakeCase = quoted.filter((each) => /^[a-z]+(_[a-z]+)+$/.test(each));
    for (const name of snakeCase) expect([...known], name).toContain(name);
    for (const each of quoted) {
      const argument = /^([a-z_]+): "/.exec(each)?.[1];
      if (argument !== undefined) expect([...known], each).toContain(argument);
    }
    expect(snakeCase.some((name) => names.includes(name))).toBe(true);
  });

  it("names only fields of a snapshot that are there", () => {
    for (const path of quoted.filter((each) => each.startsWith("data."))) {
      const found = path
        .split(".")
        .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], {
          data: exampleSnapshot,
        });
      expect(found, path).toBeDefined();
    }
  });

  it("names only options and actions that the commands have", () => {
    const lines = [...body.matchAll(/`(?:node bin\/sextant\.mjs )?((?:wallet|payments|mcp) [^`]+)`/g)];
    for (const [, line = ""] of lines) {
      const [name, ...rest] = line.split(" ");
      const command = COMMANDS.find((each) => each.name === name);
      for (const word of rest.filter((each) => /^[a-z-]/.test(each))) {
        const isOption = Object.hasOwn(command?.options ?? {}, word.replace(/^--/, ""));
        expect(isOption || command?.client?.operands.includes(word), line).toBe(true);
      }
    }
    expect(folder !== "sextant-wallet" || lines.length > 2).toBe(true);
  });
});

/** The names of its arguments and of the fields of its result. */
function describedNames({ listedSchema, dataSchemas }: (typeof TOOLS)[number]): readonly string[] {
  return [listedSchema, ...dataSchemas.values()].flatMap((schema) =>
    [...JSON.stringify(schema).matchAll(/"([a-z_]+)":\{/g)].map((match) => match[1] ?? ""),
  );
}

it("every tool is in a skill", () => {
  const skills = readdirSync(fileURLToPath(new URL("skills", ROOT))).map((each) =>
    read(`skills/${each}/SKILL.md`),
  );
  for (const { name } of TOOLS)
    expect(
      skills.some((skill) => skill.includes(`\`${name}\``)),
      name,
    ).toBe(true);
});
