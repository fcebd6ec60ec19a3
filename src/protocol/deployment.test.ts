// Parsing a deployment file: complete, or rejected with the reason.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PROTOCOL_CONTRACTS } from "@sextant/contracts/deploy/deployment";
import { describe, expect, it } from "vitest";
import { MEMORY_DEPLOYMENT } from "../../tests/support/index/memory-index.ts";
import { Fault } from "../lib/fault.ts";
import { CONTRACT_NAMES, parseDeployment } from "./deployment.ts";

const good = {
  network: "somewhere",
  chainId: 84_532,
  startBlock: 0,
  contracts: { ...MEMORY_DEPLOYMENT.contracts },
};
const parse = (change: Record<string, unknown>) => parseDeployment({ ...good, ...change }, "file.json");
const withContracts = (change: Record<string, unknown>) => ({ contracts: { ...good.contracts, ...change } });

describe("a deployment", () => {
  it("parses a deployment with lower-case addresses, and freezes it", () => {
    const upper = `0x${good.contracts.IntentBook.slice(2).toUpperCase()}`;
    const deployment = parse(withContracts({ IntentBook: upper }));
    expect(deployment).toEqual(good);
    expect(Object.isFrozen(deployment) && Object.isFrozen(deployment.contracts)).toBe(true);
  });

  it("accepts more keys in a deployment: a local one names its tokens", () => {
    expect(parse({ local: { UsdCoin: "0x12" } })).toEqual(good);
  });

  it("a deployment may name an explorer of the chain, and tokens by their address", () => {
    const address = `0x${"AB".repeat(20)}`;
    const named = parse({
      explorerUrl: "https://scan.example",
      tokens: { [address]: { symbol: "USDC", decimals: 6 } },
    });
    expect(named).toEqual({
      ...good,
      explorerUrl: "https://scan.example",
      tokens: { [address.toLowerCase()]: { symbol: "USDC", decimals: 6 } },
    });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["a script as explorer", { explorerUrl: "javascript:alert(1)" }, "explorerUrl must be an https address"],
    ["an explorer with a path", { explorerUrl: "https://scan.example/tx" }, "explorerUrl must be"],
    ["a list of tokens", { tokens: [] }, "tokens must be a JSON object"],
    ["a token at no address", { tokens: { x: { symbol: "A", decimals: 1 } } }, "tokens.x must be an address"],
    [
      "a token without a symbol",
      { tokens: { [`0x${"12".repeat(20)}`]: { decimals: 6 } } },
      "symbol must be a short name",
    ],
    [
      "a token with too many decimals",
      { tokens: { [`0x${"12".repeat(20)}`]: { symbol: "A", decimals: 256 } } },
      "decimals must be at most 255",
    ],
  ])("rejects a deployment with %s", (_, change, reason) => {
    expect(() => parse(change)).toThrow(reason);
  });

  it("names the contracts that the protocol's own workspace deploys", () => {
    expect(CONTRACT_NAMES).toEqual(PROTOCOL_CONTRACTS);
  });

  it("every shipped deployment file is valid", () => {
    const files = readdirSync("deployments").filter((name) => name.endsWith(".json"));
    expect(files).not.toEqual([]);
    for (const name of files) {
      const deployment = parseDeployment(JSON.parse(readFileSync(join("deployments", name), "utf8")), name);
      expect(Object.keys(deployment.contracts).sort()).toEqual([...CONTRACT_NAMES].sort());
    }
  });

  it.each<[string, unknown]>([
    ["null", null],
    ["a list", []],
    ["text", "{}"],
    ["nothing", undefined],
  ])("rejects %s as a deployment", (_, json) => {
    expect(() => parseDeployment(json, "file.json")).toThrow(
      "file.json is invalid: the file must be a JSON object",
    );
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["without contracts", { contracts: undefined }, "contracts must be a JSON object"],
    ["with a list of contracts", { contracts: [] }, "contracts must be a JSON object"],
    ["without a name", { network: "" }, "network must be a name"],
    ["with a number as its name", { network: 7 }, "network must be a name"],
    ["of chain 0", { chainId: 0 }, "chainId must be a whole number from 1"],
    ["of a chain in text", { chainId: "84532" }, "chainId must be a whole number from 1"],
    ["of half a chain", { chainId: 1.5 }, "chainId must be a whole number from 1"],
    ["of a chain beyond exact numbers", { chainId: 2 ** 53 }, "chainId must be a whole number from 1"],
    ["that starts before the chain", { startBlock: -1 }, "startBlock must be a whole number from 0"],
    ["that never starts", { startBlock: undefined }, "startBlock must be a whole number from 0"],
    [
      "with a contract too many",
      withContracts({ Casino: good.contracts.IntentBook }),
      "contracts names Casino",
    ],
    [
      "with two contracts at one address",
      withContracts({ IntentBook: good.contracts.AgentRegistry }),
      "two contracts share an address",
    ],
    [
      "with a contract too few",
      withContracts({ IntentBook: undefined }),
      "contracts.IntentBook must be an address",
    ],
    [
      "with half an address",
      withContracts({ IntentBook: "0x1234" }),
      "contracts.IntentBook must be an address",
    ],
  ])("rejects a deployment %s", (_, change, reason) => {
    expect(() => parse(change)).toThrow(reason);
    expect(() => parse(change)).toThrow("file.json");
    expect(() => parse(change)).toThrow(Fault);
  });
});
