// Every file in the folder deployments can be read by the indexer.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LOCAL_CONTRACTS, PROTOCOL_CONTRACTS } from "./deployment.ts";

const folder = join(import.meta.dirname, "..", "..", "deployments");
const files = readdirSync(folder);
const read = (file: string) => JSON.parse(readFileSync(join(folder, file), "utf8"));

describe("deployment files", () => {
  it("the deployment files include the live network", () => {
    expect(files).toContain("base-sepolia.json");
    const live = read("base-sepolia.json");
    expect(live.chainId).toBe(84_532);
    expect(live.startBlock).toBe(42_033_933);
  });

  it.each(files)("the deployment file %s is complete and well-formed", (file) => {
    expect(file).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*\.json$/);
    const { network, chainId, startBlock, contracts, local = {}, ...others } = read(file);
    const { explorerUrl = "https://none.example", tokens = {}, ...unknown } = others;
    expect(unknown).toEqual({});
    expect(`${network}.json`).toBe(file);
    expect(Number.isSafeInteger(chainId) && chainId > 0).toBe(true);
    expect(Number.isSafeInteger(startBlock) && startBlock >= 0).toBe(true);
    expect(Object.keys(contracts).sort()).toEqual([...PROTOCOL_CONTRACTS].sort());
    for (const name of Object.keys(local)) expect(LOCAL_CONTRACTS).toContain(name);
    const addresses = [...Object.values(contracts), ...Object.values(local)];
    expect(new Set(addresses).size).toBe(addresses.length);
    expect(explorerUrl).toMatch(/^https:\/\/[a-z0-9.-]+$/);
    for (const { symbol, decimals } of Object.values<{ symbol: string; decimals: number }>(tokens)) {
      expect(symbol).toMatch(/^[A-Za-z]+$/);
      expect(Number.isSafeInteger(decimals) && decimals >= 0).toBe(true);
    }
    for (const address of [...addresses, ...Object.keys(tokens)])
      expect(address).toMatch(/^0x(?!0{40})[0-9a-f]{40}$/);
  });
});
