// The page about configuration says what the declarations say.
import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import { readConfig } from "../kit/config.ts";
import { allSettings } from "./settings.ts";

const shown = (value: unknown): string =>
  value === null || (Array.isArray(value) && value.length === 0) ? "not set" : `\`${String(value)}\``;

describe("docs/configuration.md", () => {
  it("has a row for every setting, with its allowed values, fallback and meaning", () => {
    const rows = readFileSync("docs/configuration.md", "utf8")
      .split("\n")
      .filter((line) => /^\| `[A-Z_]+` \|/.test(line) && line.split("|").length === 6);
    const expected = Object.values(allSettings).map(
      ({ variable, kind, fallback, meaning }) =>
        `| \`${variable}\` | ${kind.allowed} | ${shown(fallback)} | ${meaning} |`,
    );
    expect(rows.sort()).toEqual(expected.sort());
  });
});

describe(".env.example", () => {
  it("can be uncommented as a whole and then says what holds without it", () => {
    const text = readFileSync(".env.example", "utf8").replace(/^# ([A-Z_]+=)/gm, "$1");
    const config = readConfig(parseEnv(text) as Record<string, string>, allSettings);
    const fallbacks = readConfig({}, allSettings);
    // An example is shown where nothing is the fallback.
    const { databaseUrl, rpcUrls, publicBaseUrl, writeAuth } = config;
    const examples = { databaseUrl, rpcUrls, publicBaseUrl, writeAuth };
    expect(config).toEqual({ ...fallbacks, ...examples });
    expect(config.databaseUrl?.reveal()).toMatch(/^postgres:/);
    expect(config.rpcUrls).toHaveLength(1);
  });
});
