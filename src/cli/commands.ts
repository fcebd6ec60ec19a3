// The commands of `sextant`: their help texts, options and modules.
import type { Command, CommandOption } from "./command.ts";

const network: CommandOption = {
  type: "string",
  valueName: "NAME",
  variable: "NETWORK",
  description: "a shipped deployment, such as base-sepolia, or a deployment file",
};

// Commands load lazily: --help must not parse database and chain code.
export const COMMANDS: readonly Command[] = [
  {
    name: "local",
    summary: "run everything on this machine, with local chains and simulated traffic (npm start)",
    description:
      "Starts embedded chains with the protocol and two markets, an embedded PostgreSQL, a simulator that creates\n" +
      "traffic, the indexer, the API, the facilitator and the portfolio service. Needs no key, account or network, and\n" +
      "deletes everything when it stops. While it runs, local.json in the data folder lists all URLs, addresses and keys.",
    options: {
      seed: {
        type: "string",
        valueName: "N",
        description: "seed of the simulator; the same seed creates the same traffic (default 1)",
      },
      "no-traffic": {
        type: "boolean",
        alias: "still",
        description: "stop the simulator once the initial data exists",
      },
      data: {
        type: "string",
        valueName: "DIR",
        description:
          "keep the database in DIR after the run; the next run there starts fresh, like the chains",
      },
      payee: {
        type: "string",
        repeatable: true,
        valueName: "ADDRESS",
        description: "settle payments to this address too, for a paid server of your own",
      },
    },
    load: async () => (await import("./commands/local.ts")).localCommand,
  },
  {
    name: "serve",
    summary: "index a deployment and serve it, in one process",
    description:
      "Runs the indexer and the API, and the portfolio service if it is configured (RPC_URL_<chain id> and PAY_TO), on\n" +
      "the embedded database in the data folder or the one in DATABASE_URL. Waits for a node that is down. Another\n" +
      "`sextant api` or `sextant indexer` with the same data folder joins it.",
    options: {
      network,
      rpc: {
        type: "string",
        valueName: "URL",
        variable: "RPC_URL",
        description: "nodes of its chain, separated by commas",
      },
      data: {
        type: "string",
        valueName: "DIR",
        variable: "SEXTANT_DATA",
        description: "folder of the embedded database",
      },
    },
    load: async () => (await import("./commands/serve.ts")).serveCommand,
  },
  {
    name: "indexer",
    summary: "follow the chain and write the rows",
    description:
      "Indexes the deployment in NETWORK from the nodes in RPC_URL into the database and follows the chain. Run as many\n" +
      "as you like: one writes, the others stand by and take over within seconds. Serves /health, /ready and /metrics\n" +
      "on INDEXER_PORT.",
    options: { network },
    load: async () => (await import("./commands/indexer.ts")).indexerCommand,
  },
  {
    name: "api",
    summary: "serve the indexing API from the database",
    description:
      "Serves the indexing API on API_PORT. It is stateless: run as many as you like on one PostgreSQL. Reads NETWORK\n" +
      "and RPC_URL like the indexer; WRITE_AUTH selects open or signed writes, PUBLIC_BASE_URL is the URL for clients.",
    options: { network },
    load: async () => (await import("./commands/api.ts")).apiCommand,
  },
  {
    name: "portfolio",
    summary: "serve paid wallet snapshots",
    description:
      "Sells wallet snapshots on PORTFOLIO_PORT: balances, prices, positions and activity on every chain with configured\n" +
      "nodes (RPC_URL_8453, RPC_URL_1, …), paid per request with x402 to PAY_TO. Run as many as you like on one\n" +
      "PostgreSQL, with one shared `sextant facilitator`.",
    options: {},
    load: async () => (await import("./commands/portfolio.ts")).portfolioCommand,
  },
  {
    name: "facilitator",
    summary: "verify x402 payments and settle them on chain",
    description:
      "Verifies x402 payments and settles them with the key in FACILITATOR_PRIVATE_KEY, which pays the gas. Run one per\n" +
      "key: it assigns the account's nonces. The database records every transaction sent, so a payment that is settled\n" +
      "again after a restart gets the same one. FACILITATOR_GAS_PRICE_MAX and similar settings limit the gas costs.",
    options: {},
    load: async () => (await import("./commands/facilitator.ts")).facilitatorCommand,
  },
  {
    name: "rebuild",
    summary: "rebuild the rows from the stored logs, without a node",
    description:
      "Folds the stored logs into fresh tables and swaps them in at the end; readers are not interrupted. Stop the\n" +
      "indexer first. Reads NETWORK, DATABASE_URL and DATABASE_SCHEMA, and RPC_URL with --reread.",
    options: {
      network,
      reread: {
        type: "string",
        valueName: "N[-M]",
        description: "first read the logs of these final blocks again, after an audit has found a difference",
      },
    },
    load: async () => (await import("./commands/rebuild.ts")).rebuildCommand,
  },
  {
    name: "move",
    summary: "copy everything to another PostgreSQL and verify the copy",
    description:
      "Copies the source data (logs, documents, metadata, payments) from the embedded database, or the one in\n" +
      "DATABASE_URL, into an empty schema of another PostgreSQL in one transaction, compares both, and rebuilds the rows\n" +
      "from the logs. Stop the services first. The old database stays unchanged.",
    options: {
      to: {
        type: "string",
        valueName: "URL",
        description: "the new database: postgres://user:password@host/database",
      },
    },
    load: async () => (await import("./commands/move.ts")).moveCommand,
  },
  {
    name: "audit",
    summary: "compare the rows with the contracts",
    description:
      "Compares every row with the contract state at a block and with its event, recounts the counters, and prints a\n" +
      "table of differences. Exit code 0: no difference, 1: some. The indexer may keep running. A block that is not\n" +
      "recent needs an archive node in RPC_URL. Reads NETWORK, RPC_URL, DATABASE_URL and DATABASE_SCHEMA.",
    options: {
      network,
      block: {
        type: "string",
        valueName: "N",
        description: "the block to compare at (default: the latest final block)",
      },
      sample: {
        type: "string",
        valueName: "N",
        description:
          "compare at most N rows per table, evenly spread; counters and versions are always checked",
      },
    },
    load: async () => (await import("./commands/audit.ts")).auditCommand,
  },
];
