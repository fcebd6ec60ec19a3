// Writes are open by default on a local chain only.
import { describe, expect, it } from "vitest";
import { writeSettings } from "../config/indexing-settings.ts";
import { readConfig } from "../config/read-config.ts";
import { resolveWriteMode } from "./write-service.ts";

const mode = (environment: Record<string, string>, chainId: number) =>
  resolveWriteMode(readConfig(environment, writeSettings), chainId);

describe("resolveWriteMode", () => {
  it("defaults to open on a local chain and to signed elsewhere", () => {
    expect(mode({}, 31_337)).toBe("open");
    expect(mode({}, 84_532)).toBe("signed");
    expect(mode({ WRITE_AUTH: "signed" }, 31_337)).toBe("signed");
    expect(mode({ ALLOW_OPEN_WRITES: "true" }, 84_532)).toBe("signed");
  });

  it("requires ALLOW_OPEN_WRITES for open writes on another chain", () => {
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
  ])("normalizes %s to %s", (given, normalized) => {
    expect(read(given)).toBe(normalized);
  });

  it.each(["api.example.com", "ftp://a", "https://u:p@a", "https://a/?b", "https://a/#", "https://a?"])(
    "rejects %s",
    (given) => {
      expect(() => read(given)).toThrow(/^PUBLIC_BASE_URL must be an http/);
    },
  );
});
