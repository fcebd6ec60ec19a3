// Writes the Aave v2 and v3 markets as data files, from the address book that Aave's governance maintains.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as book from "@aave-dao/aave-address-book";

const FOLDER = "src/portfolio/positions";

type Market = {
  readonly POOL: string;
  readonly ORACLE: string;
  readonly ASSETS: Readonly<
    Record<string, { readonly UNDERLYING: string; readonly A_TOKEN: string; readonly V_TOKEN: string }>
  >;
};

type MarketFile = readonly [file: string, constant: string, name: string, market: Market];

const V3_MARKETS: readonly MarketFile[] = [
  ["ethereum", "aaveEthereum", "Ethereum", book.AaveV3Ethereum],
  ["ethereum-lido", "aaveEthereumLido", "Ethereum Lido", book.AaveV3EthereumLido],
  ["ethereum-ether-fi", "aaveEthereumEtherFi", "Ethereum EtherFi", book.AaveV3EthereumEtherFi],
  ["ethereum-horizon", "aaveEthereumHorizon", "Ethereum Horizon", book.AaveV3EthereumHorizon],
  ["optimism", "aaveOptimism", "Optimism", book.AaveV3Optimism],
  ["polygon", "aavePolygon", "Polygon", book.AaveV3Polygon],
  ["base", "aaveBase", "Base", book.AaveV3Base],
  ["arbitrum", "aaveArbitrum", "Arbitrum", book.AaveV3Arbitrum],
];

/** Their oracles count in ether; the feeds in the book say so by their names. */
const V2_MARKETS: readonly MarketFile[] = [
  ["ethereum", "aaveV2Ethereum", "Ethereum", book.AaveV2Ethereum],
  ["ethereum-amm", "aaveV2EthereumAmm", "Ethereum AMM", book.AaveV2EthereumAMM],
  ["polygon", "aaveV2Polygon", "Polygon", book.AaveV2Polygon],
];

const BOOK = "@aave-dao/aave-address-book";
const { version } = JSON.parse(await readFile(`node_modules/${BOOK}/package.json`, "utf8"));

for (const [file, constant, name, market] of V3_MARKETS) {
  await writeFile(join(FOLDER, "aave-v3/markets", `${file}.ts`), source("v3", constant, name, market));
}
for (const [file, constant, name, market] of V2_MARKETS) {
  await writeFile(join(FOLDER, "aave-v2/markets", `${file}.ts`), source("v2", constant, name, market));
}
process.stdout.write(`${V3_MARKETS.length + V2_MARKETS.length} files in ${FOLDER} are written.\n`);

function source(aave: "v2" | "v3", constant: string, name: string, market: Market): string {
  const { POOL, ORACLE, ASSETS } = market;
  const rows = Object.entries(ASSETS).map(([symbol, { UNDERLYING, A_TOKEN, V_TOKEN }]) => {
    const [underlying, aToken, debtToken] = [UNDERLYING, A_TOKEN, V_TOKEN].map(text);
    return `    { underlying: ${underlying}, aToken: ${aToken}, debtToken: ${debtToken} }, // ${symbol}`;
  });
  const weth = ASSETS.WETH?.UNDERLYING ?? "";
  const quote = aave === "v2" ? `\n  quote: ${text(weth)},` : "";
  const folder = aave === "v2" ? "../../aave-v3/market.ts" : "../market.ts";
  return `// Aave ${aave} ${name}, written by scripts/aave-reserves.ts from ${BOOK} ${version}.
import type { AaveMarket } from "${folder}";

export const ${constant}: AaveMarket = {
  name: "Aave ${aave} ${name}",
  pool: ${text(POOL)},
  oracle: ${text(ORACLE)},${quote}
  // biome-ignore format: one reserve a line keeps the largest market a page long
  reserves: [
${rows.join("\n")}
  ],
};
`;
}

function text(address: string): string {
  return `"${address.toLowerCase()}"`;
}
