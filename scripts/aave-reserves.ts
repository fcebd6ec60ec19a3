// Writes the Aave v3 markets as data files, from the address book that Aave's governance maintains.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as book from "@aave-dao/aave-address-book";

const FOLDER = "src/portfolio/positions/aave-v3/markets";

type Market = {
  readonly POOL: string;
  readonly ORACLE: string;
  readonly ASSETS: Readonly<
    Record<string, { readonly UNDERLYING: string; readonly A_TOKEN: string; readonly V_TOKEN: string }>
  >;
};

const MARKETS: readonly (readonly [file: string, constant: string, name: string, market: Market])[] = [
  ["ethereum", "aaveEthereum", "Ethereum", book.AaveV3Ethereum],
  ["ethereum-lido", "aaveEthereumLido", "Ethereum Lido", book.AaveV3EthereumLido],
  ["ethereum-ether-fi", "aaveEthereumEtherFi", "Ethereum EtherFi", book.AaveV3EthereumEtherFi],
  ["ethereum-horizon", "aaveEthereumHorizon", "Ethereum Horizon", book.AaveV3EthereumHorizon],
  ["optimism", "aaveOptimism", "Optimism", book.AaveV3Optimism],
  ["polygon", "aavePolygon", "Polygon", book.AaveV3Polygon],
  ["base", "aaveBase", "Base", book.AaveV3Base],
  ["arbitrum", "aaveArbitrum", "Arbitrum", book.AaveV3Arbitrum],
];

for (const [file, constant, name, market] of MARKETS) {
  await writeFile(join(FOLDER, `${file}.ts`), source(constant, name, market));
}
process.stdout.write(`${MARKETS.length} files in ${FOLDER} are written.\n`);

function source(constant: string, name: string, { POOL, ORACLE, ASSETS }: Market): string {
  const rows = Object.entries(ASSETS).map(([symbol, { UNDERLYING, A_TOKEN, V_TOKEN }]) => {
    const [underlying, aToken, debtToken] = [UNDERLYING, A_TOKEN, V_TOKEN].map(text);
    return `    { underlying: ${underlying}, aToken: ${aToken}, debtToken: ${debtToken} }, // ${symbol}`;
  });
  return `// Aave v3 ${name}: its pool, oracle and reserves, written by scripts/aave-reserves.ts from the Aave address book.
import type { AaveMarket } from "../market.ts";

export const ${constant}: AaveMarket = {
  name: "Aave v3 ${name}",
  pool: ${text(POOL)},
  oracle: ${text(ORACLE)},
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
