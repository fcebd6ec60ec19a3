// COPY of raw logs in binary and in text, and its framing: `npx vitest bench --run src/store/fast/copy-encoder`.
import { once } from "node:events";
import { finished } from "node:stream/promises";
import { from as copyFrom } from "pg-copy-streams";
import { afterAll, bench, describe } from "vitest";
import {
  openMicrobenchDatabase,
  SERVER_BENCH_OPTIONS,
} from "../../../tests/support/database/bench-database.ts";
import type { Hex } from "../../lib/hex.ts";
import { type CopyBinaryType, encodeCopyBinary, encodeCopyLine, encodeCopyLines } from "./copy-encoder.ts";
import { runPipeline } from "./pipeline.ts";

const LOGS = 20_000;
const TYPES: readonly CopyBinaryType[] = ["int8", "int4", "bytea", "bytea", "bytea", "bytea"];
const word = (n: number): Hex => `0x${n.toString(16).padStart(64, "0")}`;
const logs = Array.from({ length: LOGS }, (_, n) => ({
  block: n,
  index: n % 7,
  hash: word(n),
  address: word(n % 5).slice(0, 42) as Hex,
  topics: `${word(1)}${word(n).slice(2)}${word(n).slice(2)}` as Hex,
  data: `0x${word(n).slice(2).repeat(6)}` as Hex,
}));

const bytea = (hex: Hex) => `\\x${hex.slice(2)}`;
const binary = () =>
  encodeCopyBinary(
    TYPES,
    logs.map((log) => [log.block, log.index, log.hash, log.address, log.topics, log.data]),
  );
const lines = () =>
  logs.map((log) =>
    encodeCopyLine([
      String(log.block),
      String(log.index),
      bytea(log.hash),
      bytea(log.address),
      bytea(log.topics),
      bytea(log.data),
    ]),
  );

const database = await openMicrobenchDatabase();
await database.query(
  "CREATE UNLOGGED TABLE logs (block bigint, index integer, hash bytea, address bytea, topics bytea, data bytea)",
);
const client = await database.connect("bench");
afterAll(() => client.end());

async function write(messages: readonly Buffer[], format: string): Promise<void> {
  await client.query("TRUNCATE logs");
  await runPipeline(client, [{ copy: `COPY logs FROM STDIN ${format}`, messages }], 60_000);
}

describe(`encoding and writing ${LOGS} logs`, () => {
  bench("binary", () => write(binary(), "(FORMAT binary)"), SERVER_BENCH_OPTIONS);
  bench("text", () => write(encodeCopyLines(lines()), ""), SERVER_BENCH_OPTIONS);
  bench(
    "text through pg-copy-streams",
    async () => {
      await client.query("TRUNCATE logs");
      const stream = client.query(copyFrom("COPY logs FROM STDIN"));
      for (const line of lines()) if (!stream.write(line)) await once(stream, "drain");
      stream.end();
      await finished(stream);
    },
    SERVER_BENCH_OPTIONS,
  );
});
