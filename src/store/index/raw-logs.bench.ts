// Encoding raw logs for COPY: `npx vitest bench --run src/store/index/raw-logs`.
// A packed log of a replayed history takes 2.9 µs of processor time on two shared cores, 3.8 before the hex of each log
// was decoded in one call. Join texts no more when a call of the decoder costs less than a hundred digits.
import { bench } from "vitest";
import type { Hex } from "../../lib/hex.ts";
import type { LogWithDetails } from "../../schema/chain-log.ts";
import { encodeLogs } from "./raw-logs.ts";

const word = (n: number) => n.toString(16).padStart(64, "0");
const hash = (n: number): Hex => `0x${word(n + 1).replaceAll("0", "a")}`;

// Three logs in each transaction, of few contracts.
const logs = Array.from(
  { length: 2_000 },
  (_, n): LogWithDetails => ({
    log: {
      address: `0x${hash(n % 5).slice(26)}`,
      topics: [hash(n % 7), `0x${word(n)}`, `0x${"0".repeat(24)}${hash(n % 90).slice(26)}`],
      data: `0x${word(10 ** 9 + n)}${hash(n % 90).slice(2)}${word(1)}${word(0)}`,
      blockNumber: 1_000 + Math.floor(n / 6),
      blockHash: hash(Math.floor(n / 6)),
      blockTimestamp: 1_700_000_000,
      transactionHash: hash(Math.floor(n / 3)),
      transactionIndex: Math.floor(n / 3) % 2,
      logIndex: n % 6,
    },
    details: n % 9 === 0 ? `0x00a1b2c3d4${word(n)}${word(5)}` : null,
  }),
);

bench("packed", () => void encodeLogs(logs, "packed"));
bench("plain", () => void encodeLogs(logs, "plain"));
