// A client for tests: quick limits, a clock that does not wait, and a log that can be read back.
import { Writable } from "node:stream";
import { pino } from "pino";
import { createRpc } from "../../../src/chain/rpc/client.ts";
import type { ObservedCall, Rpc, RpcLimits } from "../../../src/chain/rpc/types.ts";
import type { Log } from "../../../src/lib/log.ts";
import { Secret } from "../../../src/lib/secret.ts";
import { createFastClock, type FastClock } from "../fast-clock.ts";
import { seededRandom } from "../seeded-random.ts";

type TestRpc = {
  readonly rpc: Rpc;
  readonly clock: FastClock;
  readonly calls: readonly ObservedCall[];
  readonly log: Log;
  readonly logged: () => string;
};

export function createTestRpc(
  urls: readonly string[],
  options: { limits?: Partial<RpcLimits>; chainId?: number; seed?: number } = {},
): TestRpc {
  const clock = createFastClock();
  const calls: ObservedCall[] = [];
  const { log, logged } = createTestLog();
  const rpc = createRpc({
    urls: urls.map((url) => new Secret(url)),
    log,
    clock,
    random: seededRandom(options.seed ?? 1),
    limits: { requestTimeoutMs: 5_000, ...options.limits },
    onCall: (call) => calls.push(call),
    ...(options.chainId === undefined ? {} : { chainId: options.chainId }),
  });
  return { rpc, clock, calls, log, logged };
}

export function createTestLog(): { log: Log; logged: () => string } {
  let text = "";
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString("utf8");
      done();
    },
  });
  return { log: pino({ level: "trace" }, sink), logged: () => text };
}
