// Loading token lists: shipped ones, files and URLs of the operator, and errors for invalid ones.
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { CHAINS, localChain } from "../../chain/chains/chains.ts";
import type { Hex } from "../../lib/hex.ts";
import { createChainConfig } from "../chain-nodes.ts";
import { loadTokenLists } from "./load-token-lists.ts";

const TOKEN: Hex = `0x${"12".repeat(20)}`;
const list = { tokens: [{ chainId: 31337, address: TOKEN, symbol: "OWN", name: "Own", decimals: 6 }] };

const folder = await mkdtemp(join(tmpdir(), "sextant-lists-"));
const file = join(folder, "own.json");
await writeFile(file, JSON.stringify(list));
const pages: Record<string, string> = {
  "/own.json?key=sesame": JSON.stringify(list),
  "/page": "<html></html>",
};
const server = createServer((request, response) => {
  const url = request.url ?? "";
  if (url === "/endless") {
    const spaces = " ".repeat(1024 * 1024);
    const more = () => void (response.writable && response.write(spaces, () => setImmediate(more)));
    return more();
  }
  response.statusCode = url in pages ? 200 : 404;
  response.end(pages[url] ?? "");
}).listen(0, "127.0.0.1");
await once(server, "listening");
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

const read = (...sources: string[]) => loadTokenLists({ sources, chains: [localChain] });

describe("the operator's lists", () => {
  it("reads an operator's list from a file and from a URL", async () => {
    for (const source of [file, `${origin}/own.json?key=sesame`]) {
      const config = createChainConfig(localChain, {
        lists: await read(source),
        stablecoinsOf: () => new Set(),
      });
      expect([...config.tokens.values()]).toEqual([
        { contract: TOKEN, symbol: "OWN", name: "Own", decimals: 6, logo: null },
      ]);
    }
  });

  it.each([
    ["a missing file", join(folder, "none.json"), /none\.json cannot be used: it cannot be read/],
    ["a folder", folder, /cannot be read/],
    ["an endless file", "/dev/zero", /\/dev\/zero cannot be used: it is larger than 16 MiB/],
    ["a missing URL", `${origin}/none?key=sesame`, /at 127\.0\.0\.1:\d+ cannot be used: .+404/],
    ["a web page", `${origin}/page`, /it is not JSON/],
    ["an endless response", `${origin}/endless`, /larger than 16 MiB/],
    ["an unreachable host", "http://127.0.0.1:1/?key=sesame", /it cannot be read/],
    ["another scheme", "ftp://example.org/sesame", /http\(s\) URL; ftp:\/\/ is neither/],
    ["a file URL", `file://${file}`, /file:\/\/ is neither/],
  ])(
    "rejects %s as a list with an error that names the source without secrets",
    async (_, source, message) => {
      const failure = await read(file, source).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "CONFIG_INVALID", message: expect.stringMatching(message) });
      expect(String(failure)).not.toContain("sesame");
    },
  );
});

describe("the shipped lists", () => {
  it("the shipped lists cover the five chains, and an operator's list takes precedence", async () => {
    const chains = CHAINS.filter(({ mainnet }) => mainnet);
    const usdc: Hex = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
    await writeFile(
      file,
      JSON.stringify({
        tokens: [{ chainId: 8453, address: usdc, symbol: "MINE", name: "Mine", decimals: 6 }],
      }),
    );
    const stablecoinsOf = (chainId: number) => new Set(chainId === 8453 ? [usdc] : []);
    const [shipped, corrected] = await Promise.all(
      [[], [file]].map(async (sources) => {
        const lists = await loadTokenLists({ sources, chains });
        return new Map(chains.map((info) => [info.slug, createChainConfig(info, { lists, stablecoinsOf })]));
      }),
    );
    expect([...(shipped?.keys() ?? [])].sort()).toEqual([
      "arbitrum",
      "base",
      "ethereum",
      "optimism",
      "polygon",
    ]);
    for (const config of shipped?.values() ?? []) expect(config.tokens.size).toBeGreaterThan(60);
    expect(shipped?.get("base")?.tokens.get(usdc)).toMatchObject({ symbol: "USDC", decimals: 6 });
    expect(shipped?.get("base")?.stablecoins).toEqual(new Set([usdc]));
    expect(shipped?.get("polygon")).toMatchObject({
      chainId: 137,
      name: "Polygon",
      native: { symbol: "POL" },
    });
    expect(corrected?.get("base")?.tokens.get(usdc)?.symbol).toBe("MINE");
    expect(corrected?.get("base")?.tokens.size).toBe(shipped?.get("base")?.tokens.size);
  });
});
