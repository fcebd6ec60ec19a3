// Every command of `sextant`: what help and refusals say of it, and the way to what runs it.
import type { Command } from "./command.ts";

// A door is loaded when it is entered: help and refusals should not wait for databases and chains to be parsed.
export const COMMANDS: readonly Command[] = [
  {
    name: "local",
    summary: "run everything here, with a chain and an economy of its own (npm start)",
    description:
      "Starts embedded chains with the protocol and a market on them, an embedded PostgreSQL, an economy that keeps them\n" +
      "busy, the indexer, the API and the portfolio service. Needs no key, no account and no network; everything is gone\n" +
      "when it stops. Where everything is stands in local.json in the data folder while it runs.",
    options: {
      seed: {
        type: "string",
        valueName: "N",
        description: "which economy is played; the same seed plays the same one (default 1)",
      },
      still: { type: "boolean", description: "stop the economy once there is something to look at" },
      data: {
        type: "string",
        valueName: "DIR",
        description:
          "keep the database in DIR when it stops; the next start there begins anew, as the chains do",
      },
    },
    load: async () => (await import("./commands/local.ts")).localCommand,
  },
  {
    name: "serve",
    summary: "index a deployment and serve it, in one command",
    description:
      "Runs the indexer and the API, and the portfolio service where it is configured (RPC_URL_<chain id> and PAY_TO),\n" +
      "on the embedded database in the data folder or the one in DATABASE_URL. Waits for a node that is down. A second\n" +
      "`sextant api` or `sextant indexer` on the same data folder joins it.",
    options: {
      network: {
        type: "string",
        valueName: "NAME",
        description:
          "a deployment that is shipped, such as base-sepolia, or a deployment file (instead of NETWORK)",
      },
      rpc: {
        type: "string",
        valueName: "URL",
        description: "nodes of its chain, separated by commas (instead of RPC_URL)",
      },
      data: {
        type: "string",
        valueName: "DIR",
        description: "folder of the embedded database (instead of SEXTANT_DATA)",
      },
    },
    load: async () => (await import("./commands/serve.ts")).serveCommand,
  },
  {
    name: "indexer",
    summary: "follow the chain and write the rows",
    description:
      "Indexes the deployment that NETWORK names from the nodes in RPC_URL into the database, and keeps following\n" +
      "the chain. Start as many as you like: one writes, the others stand by and take over within seconds.\n" +
      "Serves /health, /ready and /metrics on INDEXER_PORT.",
    options: {},
    load: async () => (await import("./commands/indexer.ts")).indexerCommand,
  },
  {
    name: "api",
    summary: "serve the indexing API over the database",
    description:
      "Serves the indexing API. It keeps no state of its own: run as many as you like over one PostgreSQL.\n" +
      "NETWORK and RPC_URL are the indexer's; WRITE_AUTH says who may write, PUBLIC_BASE_URL where clients reach it.",
    options: {},
    load: async () => (await import("./commands/api.ts")).apiCommand,
  },
  {
    name: "portfolio",
    summary: "serve the wallet snapshot service",
    description:
      "Sells wallet snapshots on PORTFOLIO_PORT: balances, prices, positions and activity of the chains that nodes are\n" +
      "configured for (RPC_URL_8453, RPC_URL_1, …), paid per request by x402 to PAY_TO. Run as many as you like over one\n" +
      "PostgreSQL, with one `sextant facilitator` between them.",
    options: {},
    load: async () => (await import("./commands/portfolio.ts")).portfolioCommand,
  },
  {
    name: "facilitator",
    summary: "check payments and carry them out on chain",
    description:
      "Verifies x402 payments and settles them with the key in FACILITATOR_PRIVATE_KEY, which pays the gas.\n" +
      "Run one per key: it hands out the account's nonces. What it has sent is in the database, so that a payment settled\n" +
      "again after a restart gets the same transaction. FACILITATOR_GAS_PRICE_MAX and the like bound what gas may cost.",
    options: {},
    load: async () => (await import("./commands/facilitator.ts")).facilitatorCommand,
  },
  {
    name: "rebuild",
    summary: "make the rows again from the stored logs, without a node",
    description:
      "Folds the logs in the database again into fresh tables and swaps them in at the end; readers notice nothing.\n" +
      "Stop the indexer first. Reads NETWORK, DATABASE_URL and DATABASE_SCHEMA, and RPC_URL for --reread.",
    options: {
      reread: {
        type: "string",
        valueName: "N[-M]",
        description: "first read the logs of these final blocks again, where an audit has found a difference",
      },
    },
    load: async () => (await import("./commands/rebuild.ts")).rebuildCommand,
  },
  {
    name: "move",
    summary: "copy everything to another PostgreSQL, and compare",
    description:
      "Copies what cannot be made again (logs, documents, metadata, payments) from the embedded database, or the one in\n" +
      "DATABASE_URL, into an empty schema of another PostgreSQL in one transaction, compares both, and makes the rows\n" +
      "again from the logs. Stop the services first. The old database is not changed.",
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
      "Compares every row with what the contracts answer at a block, with the event it comes from, and counters with\n" +
      "what they count; prints a table of differences. Exit code 0: none, 1: some. The indexer may go on meanwhile.\n" +
      "A block that is not recent needs an archive node in RPC_URL. Reads NETWORK, RPC_URL, DATABASE_URL, DATABASE_SCHEMA.",
    options: {
      block: {
        type: "string",
        valueName: "N",
        description: "the block to compare at; the newest final one by default",
      },
      sample: {
        type: "string",
        valueName: "n",
        description:
          "compare at most n rows of each table, spread evenly; counters and versions are always checked",
      },
    },
    load: async () => (await import("./commands/audit.ts")).auditCommand,
  },
];
