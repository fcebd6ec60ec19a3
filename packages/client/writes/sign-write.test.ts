// The signature of a write is the one of the documented test vector.
import { privateKeyToAccount } from "viem/accounts";
import { afterEach, expect, it, vi } from "vitest";
import { canonicalJson } from "./canonical-json.ts";

// Versions only grow within a process, and other files may have signed in this one: a module of its own has signed nothing.
const MODULE = "./sign-write.ts?signed-nothing";

afterEach(() => vi.useRealTimers());

it("signs the vector of docs/writing.md", async () => {
  const { signWrite } = (await import(/* @vite-ignore */ MODULE)) as typeof import("./sign-write.ts");
  vi.useFakeTimers({ now: 1_767_225_600_000 });
  const account = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
  const writer = { account, chainId: 84_532, intentBook: `0x${"11".repeat(20)}` } as const;
  const headers = await signWrite(writer, {
    operation: "putIntentMetadata",
    parameters: { id: 7n },
    value: { execution_data: "0xdeadbeef" },
    body: '{"execution_data":"0xdeadbeef"}',
    audience: "https://api.example.com/",
  });
  expect(headers).toEqual({
    "x-write-signature":
      "0x9e87a579ab0223d33bb8fb945c47533d01c92cbc70c0aa26767ddd3700f69fe741b85a3da8201c85eac24d6cf2d77a980066a6a257b927c707fb9203b5ad948a1b",
    "x-write-version": "1767225600000",
    "x-write-deadline": "1767225900",
  });
});

it("writes JSON as RFC 8785 does", () => {
  const value = {
    "€": 1,
    "\r": 2,
    "1": { f: [56, { d: true }], a: undefined },
    a: [1e21, 4.5, 0.002, 1e-27, "€$\n"],
  };
  expect(canonicalJson(value)).toBe(
    '{"\\r":2,"1":{"f":[56,{"d":true}]},"a":[1e+21,4.5,0.002,1e-27,"€$\\n"],"€":1}',
  );
});
