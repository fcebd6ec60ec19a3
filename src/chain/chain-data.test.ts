// The files of chain-data: each is known, dated and formatted, and a mistake in one is named.
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { formatDataFile } from "../../scripts/chain-data/data-files.ts";
import { shape } from "../lib/json-shape.ts";
import { CHAIN_DATA_GROUPS, checkDataFiles, readChainData } from "./chain-data.ts";
import { CHAINS } from "./chains/chains.ts";
import { listDataFiles, readDataFile } from "./data-file.ts";

const paths = readdirSync("chain-data", { recursive: true, encoding: "utf8" }).filter((path) =>
  path.endsWith(".json"),
);

describe("a file of chain-data", () => {
  it("belongs to a known chain and kind, unless the same is true on all chains", () => {
    const kinds = Object.keys(CHAIN_DATA_GROUPS);
    const known = CHAINS.flatMap(({ slug }) => kinds.map((kind) => `${slug}/${kind}.json`));
    expect(paths.filter((path) => !known.includes(path)).sort()).toEqual([
      "accounts.json",
      "chains.json",
      "message-contracts.json",
    ]);
    expect(paths.length).toBeGreaterThan(30);
  });

  it.each(paths)("has one entry a line: %s", (path) => {
    const text = readFileSync(`chain-data/${path}`, "utf8");
    expect(text).toBe(formatDataFile(JSON.parse(text)));
  });

  it("states at least one source of each group", () => {
    const groups = paths
      .filter((path) => path !== "chains.json")
      .flatMap((path) => Object.values(JSON.parse(readFileSync(`chain-data/${path}`, "utf8"))));
    for (const group of groups) expect((group as { sources: unknown[] }).sources.length).toBeGreaterThan(0);
  });

  it("has no group that no module reads", () => {
    const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
      .map((path) => readFileSync(`src/${path}`, "utf8"))
      .join("\n");
    const read = [...sources.matchAll(/readChainData\(\s*"([\w-]+)",\s*"([\w-]+)"/g)];
    const declared = Object.entries(CHAIN_DATA_GROUPS).flatMap(([kind, groups]) =>
      groups.map((group) => `${kind} ${group}`),
    );
    expect(read.map(([, kind, group]) => `${kind} ${group}`).sort()).toEqual(declared.sort());
  });
});

describe("checkDataFiles", () => {
  const chains = [{ slug: "atlantis", dataFiles: ["lending", "tokens"] }];
  const present = ["atlantis/lending.json", "atlantis/tokens.json"];

  it("accepts the files that chains.json lists, and those that are shipped", () => {
    expect(() => checkDataFiles(chains, present)).not.toThrow();
    expect(() => checkDataFiles(CHAINS, listDataFiles())).not.toThrow();
  });

  it("names a listed file that is missing", () => {
    expect(() => checkDataFiles(chains, present.slice(1))).toThrow(
      "chain-data/atlantis/lending.json is missing, but chain-data/chains.json lists it",
    );
  });

  it.each(["atlantis/vaults.json", "lemuria/tokens.json"])("names a file that no chain lists: %s", (path) => {
    expect(() => checkDataFiles(chains, [...present, path])).toThrow(
      `chain-data/${path} is not listed in chain-data/chains.json`,
    );
  });
});

describe("readDataFile", () => {
  it("names a file that is missing", () => {
    expect(() => readDataFile("atlantis/tokens.json")).toThrow("chain-data/atlantis/tokens.json is missing");
  });
});

describe("readChainData", () => {
  const address = shape.object({ token: shape.address });
  const token = `0x${"a".repeat(40)}`;
  const group = { sources: ["a/b"], date: "2026-08-19", data: { token } };
  const readPlanted = (file: unknown) =>
    readChainData("staking", "lido", address, (path) => (path === "ethereum/staking.json" ? file : {}));

  it("returns the data of each chain that has the group, by chain id", () => {
    expect(readPlanted({ lido: group })).toEqual(new Map([[1, { token }]]));
    expect(readPlanted({})).toEqual(new Map());
  });

  it.each<[string, unknown, string]>([
    [
      "a group that is not known",
      { lidoo: group },
      "ethereum/staking.json must have groups among aave-staking",
    ],
    ["a list of groups", [], "ethereum/staking.json must have groups among"],
    [
      "a group without a date",
      { lido: { ...group, date: undefined } },
      "staking.json: lido.date must be a date",
    ],
    [
      "a mistyped address",
      { lido: { ...group, data: { token: `${token}0` } } },
      "chain-data/ethereum/staking.json: lido.data.token must be an address in lower case.",
    ],
  ])("rejects %s and names the file and the path", (_, file, message) => {
    expect(() => readPlanted(file)).toThrow(message);
  });
});
