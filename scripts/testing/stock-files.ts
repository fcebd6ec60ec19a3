// Tests that run again on a stock PostgreSQL, each with what can differ there from the embedded server.
export const ON_A_STOCK_SERVER: Readonly<Record<string, string>> = {};

/** Many or large statements, with the latency to another data centre added to each round trip. */
export const AT_A_DISTANCE: Readonly<Record<string, string>> = {
  "src/store/fast/pipelined-reader.test.ts": "many statements in flight on one connection",
};
