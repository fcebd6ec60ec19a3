// readConfig: typed, frozen, and strict about unknown and malformed values.
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { Fault } from "../lib/fault.ts";
import { Secret } from "../lib/secret.ts";
import { readConfig, rejectUnknownVariables } from "./read-config.ts";
import {
  booleanText,
  commaSeparated,
  integer,
  matchingText,
  oneOf,
  optionalSetting,
  port,
  secret,
  setting,
  textValue,
  url,
  usdAmount,
} from "./setting-kinds.ts";

const settings = {
  port: setting("API_PORT", port, 3001, "port"),
  level: setting("LEVEL", oneOf(["info", "debug"]), "info", "level"),
  debug: setting("DEBUG", booleanText, false, "debug"),
  database: optionalSetting("DATABASE_URL", secret(url("postgres")), "database"),
  rpc: setting("RPC_URL", commaSeparated(url("http", "https")), [], "nodes"),
  price: setting("PRICE", usdAmount, "0.01", "price"),
  depth: setting("DEPTH", integer(1, 10), 5, "depth"),
  schema: setting("SCHEMA", matchingText(/^[a-z]+$/, "lower case"), "main", "schema"),
  host: setting("HOST", textValue, "127.0.0.1", "host"),
};

const messageOf = (environment: Record<string, string>): string => {
  try {
    readConfig(environment, settings);
  } catch (error) {
    if (error instanceof Fault && error.code === "CONFIG_INVALID") return error.message;
  }
  throw new Error("the configuration was accepted");
};

describe("readConfig", () => {
  it("returns fallbacks and typed values in a frozen object", () => {
    const config = readConfig({ API_PORT: "0", DEBUG: "true", RPC_URL: "http://a, https://b/k" }, settings);
    expect(config).toMatchObject({
      port: 0,
      level: "info",
      debug: true,
      database: null,
      depth: 5,
      price: "0.01",
    });
    expect(config.rpc).toEqual(["http://a", "https://b/k"]);
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.rpc)).toBe(true);
  });

  it.each([
    ["API_PORT", "65536", "API_PORT must be a port number from 0 to 65535, or not be set at all."],
    ["API_PORT", "3001x", "API_PORT must be a port number from 0 to 65535, or not be set at all."],
    ["API_PORT", "-1", "API_PORT must be a port number from 0 to 65535, or not be set at all."],
    ["LEVEL", "loud", "LEVEL must be one of info, debug, or not be set at all."],
    ["DEBUG", "yes", "DEBUG must be true or false, or not be set at all."],
    ["DEPTH", "11", "DEPTH must be an integer from 1 to 10, or not be set at all."],
    ["HOST", "  ", "HOST must be text, or not be set at all."],
    ["SCHEMA", "A", "SCHEMA must be lower case, or not be set at all."],
    ["PRICE", "0", "PRICE must be US dollars above 0, at most 6 decimals, or not be set at all."],
    ["PRICE", "0.0000001", "PRICE must be US dollars above 0, at most 6 decimals, or not be set at all."],
    [
      "RPC_URL",
      "http://a,ftp://b",
      "RPC_URL must be comma-separated, each a URL starting with http:// or https://, or not be set at all.",
    ],
  ])("rejects %s=%s, naming the variable and the allowed values", (name, value, message) => {
    expect(messageOf({ [name]: value })).toBe(message);
  });

  it("reports every problem at once", () => {
    expect(messageOf({ API_PORT: "x", DEBUG: "x" }).split("\n")).toHaveLength(2);
  });

  it("never shows a secret, valid or rejected", () => {
    const config = readConfig({ DATABASE_URL: "postgres://user:hunter2@db/x" }, settings);
    expect(config.database?.reveal()).toContain("hunter2");
    for (const shown of [inspect(config), JSON.stringify(config), `${config.database}`]) {
      expect(shown).toContain("[secret]");
      expect(shown).not.toContain("hunter2");
    }
    expect(messageOf({ DATABASE_URL: "mysql://user:hunter2@db/x" })).not.toContain("hunter2");
    expect(inspect(new Secret({ key: "hunter2" }), { showHidden: true, depth: 9 })).not.toContain("hunter2");
  });
});

describe("rejectUnknownVariables", () => {
  const rules = {
    prefixes: ["SEXTANT_", "RPC_URL_"],
    known: ["SEXTANT_DATA", "RPC_URL_8453"],
  };

  it("accepts known variables and those without our prefix", () => {
    rejectUnknownVariables({ SEXTANT_DATA: "x", RPC_URL_8453: "x", HOME: "/", PATH: "x" }, rules);
  });

  it("rejects a typo and suggests the nearest variable", () => {
    expect(() => rejectUnknownVariables({ SEXTANT_DATTA: "x" }, rules)).toThrow(
      "SEXTANT_DATTA is not a variable of Sextant; did you mean SEXTANT_DATA?",
    );
    expect(() => rejectUnknownVariables({ RPC_URL_BASE: "x" }, rules)).toThrow(
      /RPC_URL_BASE is not a variable/,
    );
  });
});
