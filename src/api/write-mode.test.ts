// Open writes are a choice that only a local chain makes for you.
import { describe, expect, it } from "vitest";
import { readConfig } from "../config/read-config.ts";
import { writeSettings } from "../config/settings.ts";
import { resolveWriteMode } from "./write-mode.ts";

const mode = (environment: Record<string, string>, chainId: number) =>
  resolveWriteMode(readConfig(environment, writeSettings), chainId);

describe("writes", () => {
  it("are open on a local chain and signed elsewhere, unless told", () => {
    expect(mode({}, 31_337)).toBe("open");
    expect(mode({}, 84_532)).toBe("signed");
    expect(mode({ WRITE_AUTH: "signed" }, 31_337)).toBe("signed");
    expect(mode({ ALLOW_OPEN_WRITES: "true" }, 84_532)).toBe("signed");
  });

  it("are opened elsewhere only by saying so twice", () => {
    expect(() => mode({ WRITE_AUTH: "open" }, 84_532)).toThrow(/ALLOW_OPEN_WRITES=true/);
    expect(mode({ WRITE_AUTH: "open", ALLOW_OPEN_WRITES: "true" }, 84_532)).toBe("open");
  });
});

describe("PUBLIC_BASE_URL", () => {
  const read = (value: string) => readConfig({ PUBLIC_BASE_URL: value }, writeSettings).publicBaseUrl;

  it.each([
    ["https://api.example.com", "https://api.example.com"],
    ["https://API.example.com:443/", "https://api.example.com"],
    ["http://10.0.0.1:3001/index//", "http://10.0.0.1:3001/index"],
  ])("%s means %s", (given, meant) => {
    expect(read(given)).toBe(meant);
  });

  it.each(["api.example.com", "ftp://a", "https://u:p@a", "https://a/?b", "https://a/#", "https://a?"])(
    "refuses %s",
    (given) => {
      expect(() => read(given)).toThrow(/^PUBLIC_BASE_URL must be an http/);
    },
  );
});
