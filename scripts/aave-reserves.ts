// Writes the Aave v2 and v3 markets of each chain, from the address book that Aave's governance maintains.
import { readFile } from "node:fs/promises";
import * as book from "@aave-dao/aave-address-book";
import { writeGroup } from "./chain-data/data-files.ts";

type Market = {
  readonly POOL: string;
  readonly ORACLE: string;
  readonly ASSETS: Readonly<
    Record<string, { readonly UNDERLYING: string; readonly A_TOKEN: string; readonly V_TOKEN: string }>
  >;
};

/** Markets by slug of the chain; the main market comes first. */
const V3_MARKETS: Readonly<Record<string, Readonly<Record<string, Market>>>> = {
  ethereum: {
    Ethereum: book.AaveV3Ethereum,
    "Ethereum Lido": book.AaveV3EthereumLido,
    "Ethereum EtherFi": book.AaveV3EthereumEtherFi,
    "Ethereum Horizon": book.AaveV3EthereumHorizon,
  },
  optimism: { Optimism: book.AaveV3Optimism },
  polygon: { Polygon: book.AaveV3Polygon },
  base: { Base: book.AaveV3Base },
  arbitrum: { Arbitrum: book.AaveV3Arbitrum },
};

/** Their oracles count in ether; the feeds in the book say so by their names. */
const V2_MARKETS: typeof V3_MARKETS = {
  ethereum: { Ethereum: book.AaveV2Ethereum, "Ethereum AMM": book.AaveV2EthereumAMM },
  polygon: { Polygon: book.AaveV2Polygon },
};

const BOOK = "@aave-dao/aave-address-book";
const { version } = JSON.parse(await readFile(`node_modules/${BOOK}/package.json`, "utf8"));
const date = new Date().toISOString().slice(0, 10);

for (const [aave, chains] of [["v3", V3_MARKETS] as const, ["v2", V2_MARKETS] as const]) {
  for (const [slug, markets] of Object.entries(chains)) {
    const data = Object.entries(markets).map(([name, market]) => describeMarket(aave, name, market));
    writeGroup(slug, "lending", `aave-${aave}`, { sources: [`${BOOK} ${version}`], date, data });
  }
}

function describeMarket(aave: "v2" | "v3", name: string, { POOL, ORACLE, ASSETS }: Market) {
  const weth = ASSETS.WETH?.UNDERLYING ?? "";
  return {
    name: `Aave ${aave} ${name}`,
    pool: POOL.toLowerCase(),
    oracle: ORACLE.toLowerCase(),
    ...(aave === "v2" && { quote: weth.toLowerCase() }),
    reserves: Object.entries(ASSETS).map(([symbol, { UNDERLYING, A_TOKEN, V_TOKEN }]) => ({
      symbol,
      underlying: UNDERLYING.toLowerCase(),
      aToken: A_TOKEN.toLowerCase(),
      debtToken: V_TOKEN.toLowerCase(),
    })),
  };
}
