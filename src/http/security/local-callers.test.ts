// A local run serves this machine: no page of the web writes to it, and none reads it under a name of its own.
import { describe, expect, it } from "vitest";
import { createLocalCallers } from "./request-guard.ts";

const find = createLocalCallers({ publicUrl: "https://sextant.example/api" });
const pass = (host: string, origin?: string, method = "POST") =>
  find({ method, headers: { host, ...(origin === undefined ? {} : { origin }) } });

describe("a local service", () => {
  it.each([
    ["127.0.0.1:3001", undefined],
    ["localhost:3001", "http://localhost:5173"],
    ["[::1]:3001", "http://[::1]:3001"],
    ["127.0.0.1:3001", "http://app.localhost:5173"],
    ["192.168.1.5:3001", "http://192.168.1.5:3002"],
    ["sextant:3001", "http://sextant:3002"],
    ["sextant.example", "https://sextant.example"],
    ["127.0.0.1:8545", "chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn"],
    ["127.0.0.1:8545", "moz-extension://2c127fa4-62c7-7e4f-90e5-472b45eecfdc"],
  ])("serves a write for Host %s with Origin %s", (host, origin) => {
    expect(pass(host, origin)).toBeNull();
  });

  it.each([
    ...["https://evil.example", "null", "http://203.0.113.7", "http://localhost.evil.example", "garbage"],
    ...["http://127.0.0.1.evil.example", "http://evil.example#@localhost", "file://", "http://xlocalhost"],
    ...["data:text/html,x", "https://sextant.example.evil.example"],
  ])("rejects a write of a page of %s, and lets it read", (origin) => {
    expect(pass("127.0.0.1:3001", origin)).toContain("may not write on a local chain");
    expect(pass("127.0.0.1:3001", origin, "GET")).toBeNull();
  });

  it.each(["evil.example:3001", "127.0.0.1.evil.example", "localhost.evil.example", "a b", "evil.example."])(
    "rejects everything under the name %s",
    (host) => {
      for (const method of ["GET", "POST"])
        expect(pass(host, undefined, method)).toContain("is not a name of this machine");
    },
  );
});
